import { PortholeError } from '@porthole/client';
import type { QueryNode } from '@porthole/logs/query';
import { oneLine, visibleText } from '../../../log-view/rows/record-text.ts';
import { toggleName } from '../../../state/field-names.ts';
import { showNotice } from '../../../state/notice.ts';
import { withTerm } from '../../../state/query-view.ts';
import type { LogsView } from '../../../state/view.ts';

/** What can be done with a value of a field, wherever it is shown. */
export interface FieldAction {
  kind: 'include' | 'exclude' | 'count' | 'column';
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

/** Longer values are texts, not something records have in common; and a query has a maximum length. */
const MAX_VALUE_CHARACTERS = 500;

const LABEL_CHARACTERS = 60;

/** The actions for one value. */
export function valueActions(field: string, value: string, deps: ActionDeps): FieldAction[] {
  const actions = fieldActions(field, deps);
  if (value.length > MAX_VALUE_CHARACTERS) return actions;
  const term = `${shown(field)} = ${value === '' ? '""' : shown(value)}`;
  const labels = { include: `Only records with ${term}`, exclude: `Without ${term}` };
  return [...termActions({ kind: 'field', field, operator: '=', value }, labels, deps), ...actions];
}

/** The actions for records without a field. */
export function missingActions(field: string, deps: ActionDeps): FieldAction[] {
  const labels = { include: `Only records without ${shown(field)}`, exclude: `Only records with ${shown(field)}` };
  return termActions({ kind: 'not', node: { kind: 'exists', field } }, labels, deps);
}

/** The actions for a field, whatever its value. */
export function fieldActions(field: string, { view, change }: ActionDeps): FieldAction[] {
  const isColumn = view.columns.includes(field);
  const countedBy = view.countedBy.includes(field) ? view.countedBy : toggleName(view.countedBy, field);
  return [
    { kind: 'count', sign: 'Σ', label: `Count by ${shown(field)}`, run: () => change({ hasFields: true, countedBy }) },
    {
      kind: 'column',
      sign: '▥',
      label: isColumn ? `Remove column ${shown(field)}` : `Show ${shown(field)} as column`,
      isPressed: isColumn,
      run: () => change({ columns: toggleName(view.columns, field) }),
    },
  ];
}

function termActions(
  node: QueryNode,
  labels: { include: string; exclude: string },
  { view, change }: ActionDeps,
): FieldAction[] {
  const add = (mode: 'include' | 'exclude') => () => {
    try {
      change(withTerm(view, node, mode));
    } catch (error) {
      if (!(error instanceof PortholeError)) throw error;
      // The query is invalid, or has no room for another condition.
      showNotice(error.message);
    }
  };
  return [
    { kind: 'include', sign: '+', label: labels.include, run: add('include') },
    { kind: 'exclude', sign: '−', label: labels.exclude, run: add('exclude') },
  ];
}

function shown(text: string): string {
  const line = oneLine(visibleText(text.slice(0, LABEL_CHARACTERS)));
  return text.length > LABEL_CHARACTERS ? `${line}…` : line;
}
