import { session } from '../../state/session.ts';
import { resolveRange } from '../../state/time-range.ts';
import type { LogsView } from '../../state/view.ts';
import type { LogSource, RowFilter } from './log-source.ts';
import { SelectedLogs } from './selected-logs.ts';

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

export function openSource(view: LogsView): LogSource {
  return new SelectedLogs(session.client, view);
}
