import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface OptionListProps {
  id: string;
  label: string;
  class?: string;
  options: readonly ComponentChildren[];
  /** The chosen option; -1: none. */
  index: number;
  onChoose: (index: number) => void;
}

export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/** What can be chosen below a field, which keeps the focus and handles the keys. */
export function OptionList({ id, label, class: kind = '', options, index, onChoose }: OptionListProps) {
  useEffect(() => document.getElementById(optionId(id, index))?.scrollIntoView({ block: 'nearest' }), [id, index]);
  return (
    <div id={id} role="listbox" class={`options ${kind}`.trim()} aria-label={label}>
      {options.map((option, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys of all options
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        <div
          key={at}
          id={optionId(id, at)}
          role="option"
          class="flex menu-item"
          aria-selected={at === index}
          // Otherwise the field would lose the focus, and its list would be closed before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(at)}
        >
          {option}
        </div>
      ))}
    </div>
  );
}
