import type { QueryNode } from '@porthole/logs/query';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { isMatch, unionMatcher } from '../../log-view/model/fold-rows.ts';
import type { Row, TextMatcher } from '../../log-view/model/workspace-state.ts';
import { type Extent, fractionAt } from '../../log-view/source/log-source.ts';
import { queryNode } from '../../state/query-view.ts';
import type { LogsView } from '../../state/view.ts';

/** More ticks would merge into a solid bar. */
const MAX_TICKS = 300;

/** Positions of the loaded matches in the whole log. Each record is matched once. */
export function loadedMatches(rows: readonly Row[], matcher: TextMatcher | null, extent: Extent | null): number[] {
  if (!matcher || !extent) return [];
  const fractions = new Set<number>();
  for (const row of rows) {
    if (row.kind !== 'record' || !isMatch(row.record, matcher)) continue;
    const fraction = fractionAt(row.record, extent);
    if (fraction !== undefined) fractions.add(Math.round(fraction * 1000) / 1000);
    if (fractions.size >= MAX_TICKS) break;
  }
  return [...fractions];
}

/** Highlights the search text and what the query of a view asks for; of that nothing until it is ready, or if it is invalid. */
export function useRowMatcher(
  find: TextMatcher | null,
  { query, isCaseSensitive }: Pick<LogsView, 'query' | 'isCaseSensitive'>,
): TextMatcher | null {
  const [asked, setAsked] = useState<TextMatcher | null>(null);
  useEffect(() => {
    let isOver = false;
    const take = (made: TextMatcher | null) => isOver || setAsked(() => made);
    const node = queryNode(query);
    const make = async (wanted: QueryNode) => {
      const { queryMatcher } = await import('../../log-view/workspace/text-matcher.ts');
      return queryMatcher(wanted, { isCaseSensitive });
    };
    if (node === undefined) take(null);
    // The query box says what is wrong with it.
    else make(node).then(take, () => take(null));
    return () => {
      isOver = true;
    };
  }, [query, isCaseSensitive]);
  return useMemo(() => (find && asked ? unionMatcher([find, asked]) : (find ?? asked)), [find, asked]);
}
