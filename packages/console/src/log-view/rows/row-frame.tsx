import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { moveName } from '../../state/field-names.ts';
import { visibleText } from './record-text.ts';

interface RowFrameProps extends ColumnHeadsProps {
  /** The rows. */
  children: ComponentChildren;
}

interface ColumnHeadsProps {
  columns: readonly string[];
  /** Records of several nodes are shown. */
  withNode: boolean;
  onChange: (columns: readonly string[]) => void;
}

/** The rows and, if columns were chosen, their names above them: one grid. */
export function RowFrame({ children, ...heads }: RowFrameProps) {
  const { columns, withNode } = heads;
  // Set by property, which the content security policy allows.
  const style = columns.length === 0 ? {} : { '--columns': `repeat(${columns.length}, var(--column))` };
  return (
    <div class={`rows-frame ${withNode ? 'with-node' : ''} ${columns.length > 0 ? 'has-columns' : ''}`} style={style}>
      {columns.length > 0 ? <ColumnHeads {...heads} /> : null}
      {children}
    </div>
  );
}

/** Each of the chosen ones opens a menu to move or remove its column. */
function ColumnHeads({ columns, withNode, onChange }: ColumnHeadsProps) {
  return (
    <div class="row row-heads" role="toolbar" aria-label="Columns">
      <div class="row-time">Time</div>
      <div class="row-level" />
      {withNode ? <div class="row-node">Node</div> : null}
      <div class="row-source">Source</div>
      <div class="row-tags">Tags</div>
      {columns.map((name) => (
        <ColumnHead key={name} {...{ name, columns, onChange }} />
      ))}
      <div class="row-message">Message</div>
    </div>
  );
}

function ColumnHead({ name, columns, onChange }: { name: string } & Omit<ColumnHeadsProps, 'withNode'>) {
  const menu = useRef<HTMLDetailsElement>(null);
  const shown = visibleText(name);
  const index = columns.indexOf(name);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  const choose = (next: readonly string[]) => {
    close();
    onChange(next);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return;
    event.stopPropagation();
    close();
    menu.current.querySelector('summary')?.focus();
  };
  const leave = ({ relatedTarget }: FocusEvent) => {
    if (!(relatedTarget instanceof Node && menu.current?.contains(relatedTarget))) close();
  };
  return (
    <details ref={menu} class="menu column-head" onKeyDown={press} onFocusOut={leave}>
      <summary aria-label={`Column ${shown}`} title={shown}>
        <span class="column-name">{shown}</span> <i aria-hidden="true">▾</i>
      </summary>
      <div class="menu-body">
        <button type="button" disabled={index === 0} onClick={() => choose(moveName(columns, name, -1))}>
          Move left
        </button>
        <button
          type="button"
          disabled={index === columns.length - 1}
          onClick={() => choose(moveName(columns, name, 1))}
        >
          Move right
        </button>
        <button type="button" onClick={() => choose(columns.filter((other) => other !== name))}>
          Remove column
        </button>
      </div>
    </details>
  );
}
