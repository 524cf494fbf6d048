import { useEffect } from 'preact/hooks';
import { visibleText } from '../../../log-view/rows/record-text.ts';

interface QueryOption {
  label: string;
  detail: string;
}

interface QueryListProps {
  id: string;
  label: string;
  options: readonly QueryOption[];
  /** The chosen option; -1: none. */
  index: number;
  onChoose: (index: number) => void;
}

/** A longer text is truncated. */
const SHOWN_CHARACTERS = 200;

export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/** The options below the query box. The focus stays in the box, which handles the keys. */
export function QueryList({ id, label, options, index, onChoose }: QueryListProps) {
  useEffect(() => document.getElementById(optionId(id, index))?.scrollIntoView({ block: 'nearest' }), [id, index]);
  return (
    <div id={id} role="listbox" class="query-list" aria-label={label}>
      {options.map((option, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the box above handles the keys of all options
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        <div
          key={`${option.label} ${at}`}
          id={optionId(id, at)}
          role="option"
          class="query-option"
          aria-selected={at === index}
          // Otherwise the box would lose the focus, and the list would be closed before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(at)}
        >
          <span class="query-option-name">{visibleText(option.label.slice(0, SHOWN_CHARACTERS))}</span>
          <span class="dim">{visibleText(option.detail)}</span>
        </div>
      ))}
    </div>
  );
}
