import type { FindQuery, Workspace } from '../../../log-view/model/workspace-state.ts';
import type { LogSource, PagePosition, RowFilter } from '../../../log-view/source/log-source.ts';
import { type LogsView, resolveRange } from '../../../state/view.ts';

/* Applies the URL to the workspace. */

/** Which records are shown. The text filters only in "only matches" mode. */
export function toFilter(view: LogsView, nowMs: number): RowFilter {
  const isByText = view.isOnlyMatches && view.text !== '';
  return {
    ...resolveRange(view.range, nowMs),
    ...(view.minLevel !== null && { minLevel: view.minLevel }),
    ...(view.query.trim() !== '' && { query: view.query }),
    ...(isByText && !view.isRegex && { terms: [view.text] }),
    ...(isByText && view.isRegex && { regex: view.text }),
    ...(view.excluded.length > 0 && { excluded: view.excluded }),
    ...(view.isCaseSensitive && { caseSensitive: true }),
    ...(view.callSite !== null && { source: view.callSite }),
    ...(view.component !== null && { component: view.component }),
  };
}

export function toFindQuery({ text, isRegex, isCaseSensitive }: LogsView): FindQuery | null {
  return text === '' ? null : { text, isRegex, isCaseSensitive };
}

export function toStart({ at, timeMs }: LogsView): PagePosition {
  if (at) return { at };
  return timeMs === null ? 'end' : { timeMs };
}

/** Makes the workspace show a view, with as few operations as possible. `before`: the view it shows now. */
export function applyView(
  { workspace, source, nowMs }: { workspace: Workspace; source: LogSource; nowMs: number },
  before: LogsView | null,
  view: LogsView,
): void {
  if (!before || sourceKey(before) !== sourceKey(view)) {
    const { isLive } = view;
    workspace.open({ source, filter: toFilter(view, nowMs), find: toFindQuery(view), start: toStart(view), isLive });
    return;
  }
  if (!view.isLive && before.isLive && workspace.state.follow.state === 'live') workspace.pause();
  const isElsewhere = !isSame(before.at, view.at) || before.timeMs !== view.timeMs;
  const position = isElsewhere && (view.at || view.timeMs !== null) ? toStart(view) : undefined;
  // In one call: the rows of the old filter may contain the record and are about to be replaced.
  if (!isSame(toFilter(before, 0), toFilter(view, 0))) workspace.setFilter(toFilter(view, nowMs), position);
  else if (position !== undefined) workspace.jump(position);
  if (!isSame(toFindQuery(before), toFindQuery(view))) workspace.setFind(toFindQuery(view));
  if (view.isLive && !before.isLive) workspace.resume();
}

/** Whether a view needs new counts. */
export function countKey(view: LogsView): string {
  return JSON.stringify([sourceKey(view), toFilter(view, 0)]);
}

/** Whether a view needs another source. */
export function sourceKey({ sources, labels }: LogsView): string {
  return JSON.stringify([sources, labels]);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
