import { PortholeError } from '@porthole/client';
import { formatQuery } from '@porthole/contract';
import type { QueryNode } from '@porthole/logs/query';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { PickedValues } from '../../log-view/rows/record-row.tsx';
import { oneLine, visibleText } from '../../log-view/rows/record-text.ts';
import { toggleName } from '../../state/field-names.ts';
import { navigation } from '../../state/navigation.ts';
import { copyText, showNotice } from '../../state/notice.ts';
import { preferences } from '../../state/preferences.ts';
import { withTerm } from '../../state/query-view.ts';
import type { Problem } from '../../state/to-problem.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { IconButton, LinkButton } from '../../ui/controls.tsx';
import { useLeaving, useStore } from '../../ui/hooks.ts';
import type { IconName } from '../../ui/icon.tsx';
import { MenuItem } from '../../ui/menu.tsx';
import { FailureNote } from '../../ui/notes.tsx';
import { rowsFailure } from './use-log-workspace.ts';

/** What can be done with a value of a field, wherever it is shown. */
interface FieldAction {
  kind: 'include' | 'exclude' | 'everything' | 'count' | 'column' | 'pin';
  /** As a button shows it where there is little room. */
  icon: IconName;
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

export function valueActions(field: string, value: string, deps: ActionDeps): FieldAction[] {
  const actions = fieldActions(field, deps);
  if (value.length > MAX_VALUE_CHARACTERS) return actions;
  const term = `${shown(field)} = ${value === '' ? '""' : shown(value)}`;
  const labels = { include: `Only records with ${term}`, exclude: `Without ${term}` };
  const node = { kind: 'field', field, operator: '=', value } as const;
  const everything = () => navigation.go({ ...ALL_LOGS, query: formatQuery(node), isLive: false });
  return [
    ...termActions(node, labels, deps),
    { kind: 'everything', icon: 'spread', label: `Everything with ${term}, on all nodes`, run: everything },
    ...actions,
  ];
}

export function missingActions(field: string, deps: ActionDeps): FieldAction[] {
  const labels = { include: `Only records without ${shown(field)}`, exclude: `Only records with ${shown(field)}` };
  return termActions({ kind: 'not', node: { kind: 'exists', field } }, labels, deps);
}

export function fieldActions(field: string, { view, change }: ActionDeps): FieldAction[] {
  const isColumn = view.columns.includes(field);
  const pinned = preferences.pinned.value;
  const isPinned = pinned.includes(field);
  const countedBy = view.countedBy.includes(field) ? view.countedBy : toggleName(view.countedBy, field);
  return [
    {
      kind: 'count',
      icon: 'count',
      label: `Count by ${shown(field)}`,
      run: () => change({ hasFields: true, countedBy }),
    },
    {
      kind: 'column',
      icon: 'columns',
      label: isColumn ? `Remove column ${shown(field)}` : `Show ${shown(field)} as column`,
      isPressed: isColumn,
      run: () => change({ columns: toggleName(view.columns, field) }),
    },
    {
      kind: 'pin',
      icon: 'pin',
      label: isPinned ? `Unpin ${shown(field)}` : `Pin ${shown(field)} to the facets`,
      isPressed: isPinned,
      run: () => preferences.pinned.set(toggleName(pinned, field)),
    },
  ];
}

function termActions(node: QueryNode, labels: { include: string; exclude: string }, deps: ActionDeps): FieldAction[] {
  return [
    { kind: 'include', icon: 'include', label: labels.include, run: () => addToQuery(node, 'include', deps) },
    { kind: 'exclude', icon: 'exclude', label: labels.exclude, run: () => addToQuery(node, 'exclude', deps) },
  ];
}

/** Includes or excludes what matches, besides all other conditions. */
export function addToQuery(node: QueryNode, mode: 'include' | 'exclude', { view, change }: ActionDeps): void {
  try {
    change(withTerm(view, node, mode));
  } catch (error) {
    if (!(error instanceof PortholeError)) throw error;
    // The query is invalid, or has no room for another condition.
    showNotice(error.message);
  }
}

function shown(text: string): string {
  const line = oneLine(visibleText(text.slice(0, LABEL_CHARACTERS)));
  return text.length > LABEL_CHARACTERS ? `${line}…` : line;
}

/** Distance to the edges of the window. */
const MARGIN_PX = 8;

interface ValueMenuProps {
  picked: PickedValues;
  view: LogsView;
  change: (change: Partial<LogsView>) => void;
  /** The user went on elsewhere. */
  onLeave: () => void;
  /** The focus goes back to the rows. */
  onClose: () => void;
}

/** What can be done with a clicked value, beside it. */
export function ValueMenu({ picked, view, change, onLeave, onClose }: ValueMenuProps) {
  const box = useRef<HTMLElement>(null);
  usePlacing(box, picked);
  useLeaving(box, onLeave, { others: 'wheel' });
  const { field, values } = picked;
  const run = (act: () => void) => () => {
    onClose();
    act();
  };
  const ofField = fieldActions(field, { view, change });
  return (
    <section
      ref={box}
      class="menu-body value-menu"
      aria-label={`Values of ${visibleText(field)}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      {values.map((value, index) => (
        <div key={index} class="line value-group">
          <p title={visibleText(value)}>
            <span class="dim">{visibleText(field)}</span> {oneLine(visibleText(value.slice(0, 200)))}
          </p>
          {valueActions(field, value, { view, change })
            .filter(({ kind }) => kind === 'include' || kind === 'exclude' || kind === 'everything')
            .map(({ kind, label, run: act }) => (
              <MenuItem key={kind} onClick={run(act)}>
                {label}
              </MenuItem>
            ))}
          <MenuItem onClick={run(() => void copyText(value, 'Value'))}>Copy value</MenuItem>
        </div>
      ))}
      {ofField.map(({ kind, label, run: act }) => (
        <MenuItem key={kind} onClick={run(act)}>
          {label}
        </MenuItem>
      ))}
    </section>
  );
}

/** Below what was clicked, or above it where there is more room; within the window. */
function usePlacing(box: { current: HTMLElement | null }, { at }: PickedValues): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { width, height } = element.getBoundingClientRect();
    const left = Math.max(MARGIN_PX, Math.min(at.x, innerWidth - width - MARGIN_PX));
    const top = Math.max(MARGIN_PX, Math.min(at.y, innerHeight - height - MARGIN_PX));
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
    element.querySelector('button')?.focus();
  }, [at]);
}

/** Actions as small buttons with their names as labels. */
export function ActionButtons({
  actions,
  children,
}: {
  actions: readonly FieldAction[];
  children?: ComponentChildren;
}) {
  return (
    <span class="fixed value-actions">
      {actions.map(({ kind, icon, label, isPressed, run }) => (
        <IconButton key={kind} label={label} icon={icon} aria-pressed={isPressed} onClick={run} />
      ))}
      {children}
    </span>
  );
}

/** Why something was not counted, and a way out. What is said of the rows already is not repeated. */
export function CountFailure({ what, failure, onRetry }: { what: string; failure: Problem; onRetry: () => void }) {
  const isSaid = useStore(rowsFailure) === failure.detail;
  if (failure.status === null || failure.status === 401)
    return <FailureNote what={what} title={`${what} not counted.`} failure={failure} onRetry={onRetry} />;
  return (
    <p class="small facet-status dim wraps" role="status">
      {what} not counted{isSaid ? '' : `: ${failure.detail}`} · <LinkButton onClick={onRetry}>retry</LinkButton>
    </p>
  );
}
