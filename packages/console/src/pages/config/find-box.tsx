import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { preferences } from '../../state/preferences.ts';
import { IconButton } from '../../ui/controls.tsx';
import { formatCount } from '../../ui/format.ts';
import { isTextField } from '../../ui/hooks.ts';

interface FindBoxProps {
  label: string;
  text: string;
  onText: (text: string) => void;
  /** Only with matches to step through. */
  steps?: {
    count: number;
    isMore: boolean;
    /** -1 before the first step. */
    current: number;
    onStep: (step: 1 | -1) => void;
  };
}

/** A pause in typing after which the search runs. */
const PAUSE_MS = 150;

/** Texts up to this length are searched on every key press. */
const SMALL_CHARACTERS = 100_000;

/** A search field; `/` focuses it, Enter and Shift+Enter step, Escape clears it. */
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
    <search class="flex config-find">
      <input
        ref={field}
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
      <span class="dim config-count" role="status">
        {count === 0 ? 'not found' : `${formatCount(current + 1)} of ${total}`}
      </span>
      <IconButton label="Previous" icon="up" disabled={count === 0} onClick={() => onStep(-1)} />
      <IconButton label="Next" icon="down" disabled={count === 0} onClick={() => onStep(1)} />
    </>
  );
}

/** The text to search for: at once in a small text, after a pause in a large one, so that typing never stalls. */
export function useSettledText(wanted: string, searched: string): string {
  const [settled, setSettled] = useState(wanted);
  const isSmall = searched.length <= SMALL_CHARACTERS || wanted === '';
  useEffect(() => {
    if (isSmall) return undefined;
    const timer = setTimeout(() => setSettled(wanted), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted, isSmall]);
  return isSmall ? wanted : settled;
}

/** `/` focuses the field, unless the user is typing or a dialog is open. */
function useSlashKey(field: RefObject<HTMLInputElement>): void {
  useEffect(() => {
    const take = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || !preferences.hasKeys.value) return;
      if (isTextField(event.target) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('keydown', take);
    return () => document.removeEventListener('keydown', take);
  }, [field]);
}
