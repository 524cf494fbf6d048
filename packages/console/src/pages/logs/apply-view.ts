import type { LogSource, Place, RowFilter } from '../../log-view/log-source.ts';
import { rangeOf } from '../../log-view/range-of.ts';
import type { FindQuery, Workspace } from '../../log-view/workspace-state.ts';
import type { LogsView } from '../../state/view.ts';

/* From what the address says to what the workspace does. */

/** Which records are shown. Text only filters where only matches are wanted. */
export function filterOf(view: LogsView, nowMs: number): RowFilter {
  const isByText = view.isOnlyMatches && view.text !== '';
  return {
    ...rangeOf(view.range, nowMs),
    ...(view.minLevel !== null && { minLevel: view.minLevel }),
    ...(isByText && !view.isRegex && { terms: [view.text] }),
    ...(isByText && view.isRegex && { regex: view.text }),
    ...(view.excluded.length > 0 && { excluded: view.excluded }),
    ...(view.isCaseSensitive && { caseSensitive: true }),
    ...(view.callSite !== null && { source: view.callSite }),
    ...(view.component !== null && { component: view.component }),
  };
}

export function findOf({ text, isRegex, isCaseSensitive }: LogsView): FindQuery | null {
  return text === '' ? null : { text, isRegex, isCaseSensitive };
}

export function startOf({ at, timeMs }: LogsView): Place {
  if (at) return { at };
  return timeMs === null ? 'end' : { timeMs };
}

/** Makes the workspace show what the view says, with as little as has to be done anew. `before`: what it shows now. */
export function applyView(
  { workspace, source, nowMs }: { workspace: Workspace; source: LogSource; nowMs: number },
  before: LogsView | null,
  view: LogsView,
): void {
  if (!before || !isSame(before.sources, view.sources)) {
    const { isLive } = view;
    workspace.open({ source, filter: filterOf(view, nowMs), find: findOf(view), start: startOf(view), isLive });
    return;
  }
  if (!view.isLive && before.isLive && workspace.state.follow.state === 'live') workspace.pause();
  const isElsewhere = !isSame(before.at, view.at) || before.timeMs !== view.timeMs;
  const place = isElsewhere && (view.at || view.timeMs !== null) ? startOf(view) : undefined;
  // Together: the rows of the old filter may hold the record, and are about to be replaced.
  if (!isSame(filterOf(before, 0), filterOf(view, 0))) workspace.setFilter(filterOf(view, nowMs), place);
  else if (place !== undefined) workspace.jump(place);
  if (!isSame(findOf(before), findOf(view))) workspace.setFind(findOf(view));
  if (view.isLive && !before.isLive) workspace.resume();
}

/** Whether another view needs other counts. */
export function countKey(view: LogsView): string {
  return JSON.stringify([view.sources, filterOf(view, 0)]);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
