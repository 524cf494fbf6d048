import { useEffect, useRef } from 'preact/hooks';
import { preferences } from '../../state/preferences.ts';
import { formatDate, formatSecond, MASK, type ShownValue } from '../../ui/format.ts';
import { isTextField, useNow, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';

/** Formats the time of a change: `Today 03:10:11`, `12 Nov 09:14:02`. */
export function useWhen(): (timeMs: number) => string {
  const zone = useStore(preferences.zone);
  const today = formatDate(useNow(60_000), zone);
  return (timeMs) => {
    const date = formatDate(timeMs, zone);
    const day = date === today ? 'Today' : date.slice(-4) === today.slice(-4) ? date.slice(0, -5) : date;
    return `${day} ${formatSecond(timeMs, zone)}`;
  };
}

interface FindBoxProps {
  label: string;
  text: string;
  onText: (text: string) => void;
  /** To the next or the previous match. */
  onStep?: (by: 1 | -1) => void;
}

/** A search field; `/` focuses it, Enter and Shift+Enter step, Escape clears it. */
export function FindBox({ label, text, onText, onStep }: FindBoxProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // `/` focuses the field, unless the user is typing or a dialog is open.
    const take = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || !preferences.hasKeys.value) return;
      if (isTextField(event.target) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('keydown', take);
    return () => document.removeEventListener('keydown', take);
  }, []);
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && onStep) onStep(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && text !== '') onText('');
    else return;
    event.preventDefault();
  };
  return (
    <search class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder="Key or value"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={press}
      />
    </search>
  );
}

/** Enough to distinguish two fingerprints; the title has all of it. */
const SHORT_FINGERPRINT = 4;

/** A value in a cell; descriptions and secrets have their own style. */
export function ValueText({ shown: { text, kind, fingerprint } }: { shown: ShownValue }) {
  if (kind === 'value') return <code class="value">{text}</code>;
  if (kind !== 'secret') return <em class="dim">{text}</em>;
  return (
    <code
      class="toml-mask"
      title={fingerprint === null ? 'A secret; its value never leaves the node' : `Fingerprint ${fingerprint}`}
    >
      {text.replaceAll(MASK, '••••••')} {fingerprint?.slice(0, SHORT_FINGERPRINT)}
    </code>
  );
}
