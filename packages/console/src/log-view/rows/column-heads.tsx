import { moveName, toggleName } from '../../state/field-names.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { visibleText } from './record-text.ts';

export interface ColumnHeadsProps {
  columns: readonly string[];
  withNode: boolean;
  onChange: (columns: readonly string[]) => void;
}

/** Each of the chosen ones opens a menu to move or remove its column. */
export function ColumnHeads({ columns, withNode, onChange }: ColumnHeadsProps) {
  return (
    <div class="row row-heads" role="toolbar" aria-label="Columns">
      <div class="row-time">Time</div>
      <div class="row-level">Level</div>
      {withNode ? <div class="row-node">Node</div> : null}
      {columns.map((name) => (
        <ColumnHead key={name} {...{ name, columns, onChange }} />
      ))}
      <div class="row-message">Message</div>
    </div>
  );
}

function ColumnHead({ name, columns, onChange }: { name: string } & Omit<ColumnHeadsProps, 'withNode'>) {
  const shown = visibleText(name);
  const index = columns.indexOf(name);
  const button = (
    <>
      <span class="cut">{shown}</span>
      <Icon name="open" />
    </>
  );
  return (
    <Menu class="column-head" buttonClass="link-button" side="left" label={`Column ${shown}`} button={button}>
      {(close) => {
        const choice = (text: string, next: readonly string[], disabled = false) => (
          <MenuItem
            disabled={disabled}
            onClick={() => {
              close();
              onChange(next);
            }}
          >
            {text}
          </MenuItem>
        );
        return (
          <>
            {choice('Move left', moveName(columns, name, -1), index === 0)}
            {choice('Move right', moveName(columns, name, 1), index === columns.length - 1)}
            {choice('Remove column', toggleName(columns, name))}
          </>
        );
      }}
    </Menu>
  );
}
