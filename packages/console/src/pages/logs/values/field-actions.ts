import { oneLine, visibleText } from '../../../log-view/rows/record-text.ts';
import { toggleName } from '../../../state/field-names.ts';
import type { LogsView } from '../../../state/view.ts';

/** What can be done with a value of a field, wherever it is shown. */
export interface FieldAction {
  kind: 'include' | 'exclude' | 'column';
  /** As a button shows it where there is little room. */
  sign: string;
  /** `Only records with shard = 13`. */
  label: string;
  isPressed?: boolean;
  run: () => void;
}

interface ActionDeps {
  view: LogsView;
  change: (change: Partial<LogsView>) => void;
}

const LABEL_CHARACTERS = 60;

/** The actions for one value. */
export function valueActions(field: string, _value: string, deps: ActionDeps): FieldAction[] {
  return fieldActions(field, deps);
}

/** The actions for a field, whatever its value. */
export function fieldActions(field: string, { view, change }: ActionDeps): FieldAction[] {
  const isColumn = view.columns.includes(field);
  return [
    {
      kind: 'column',
      sign: '▥',
      label: isColumn ? `Remove column ${shown(field)}` : `Show ${shown(field)} as column`,
      isPressed: isColumn,
      run: () => change({ columns: toggleName(view.columns, field) }),
    },
  ];
}

function shown(text: string): string {
  const line = oneLine(visibleText(text.slice(0, LABEL_CHARACTERS)));
  return text.length > LABEL_CHARACTERS ? `${line}…` : line;
}
