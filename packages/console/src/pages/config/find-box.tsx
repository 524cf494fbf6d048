import { useRef } from 'preact/hooks';
import { formatCount } from '../../ui/format.ts';
import { useSlashKey } from './use-slash-key.ts';

interface FindBoxProps {
  label: string;
  text: string;
  onText: (text: string) => void;
  /** Where there are places to step through. */
  steps?: {
    count: number;
    isMore: boolean;
    /** -1 before the first step. */
    current: number;
    onStep: (step: 1 | -1) => void;
  };
}

/** A field that finds as one writes; `/` goes to it, Enter and Shift+Enter step, Escape empties it. */
export function FindBox({ label, text, onText, steps }: FindBoxProps) {
  const field = useRef<HTMLInputElement>(null);
  useSlashKey(field);
  const take = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && steps) steps.onStep(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && text !== '') onText('');
    else return;
    event.preventDefault();
  };
  return (
    <search class="config-find">
      <input
        ref={field}
        class="config-field"
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={`/ ${label.toLowerCase()}`}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={take}
      />
      {steps && text !== '' && <Steps {...steps} />}
    </search>
  );
}

function Steps({ count, isMore, current, onStep }: NonNullable<FindBoxProps['steps']>) {
  const total = `${formatCount(count)}${isMore ? '+' : ''}`;
  return (
    <>
      <span class="config-count" role="status">
        {count === 0 ? 'not found' : `${formatCount(current + 1)} of ${total}`}
      </span>
      <button
        type="button"
        class="button config-step"
        aria-label="Previous"
        disabled={count === 0}
        onClick={() => onStep(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        class="button config-step"
        aria-label="Next"
        disabled={count === 0}
        onClick={() => onStep(1)}
      >
        ↓
      </button>
    </>
  );
}
