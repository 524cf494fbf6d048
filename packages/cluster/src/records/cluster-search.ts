import type { ClusterItem, SearchOptions } from '@porthole/contract';
import { type ClusterParts, limitsOf } from './cluster-parts.ts';
import { mergeByTime } from './merge-by-time.ts';
import { throwIfRefused } from './refusals.ts';
import { endOf } from './search-end.ts';
import { type ClusterSearch, membersToAsk, placeOf } from './search-members.ts';

/**
 * Searches all selected members and tells their records merged by time, in batches as they are known: an empty one first,
 * as soon as a member has taken the question, the `end` as the last item of the last. A member that fails is in the
 * report of the end. Throws the signal's reason when it fires, and what is wrong with the question when no member takes
 * it.
 */
export async function* searchCluster(
  parts: ClusterParts,
  request: ClusterSearch,
  options: SearchOptions = {},
): AsyncGenerator<ClusterItem[], void, undefined> {
  const startedMs = performance.now();
  const { signal } = options;
  const limits = limitsOf(parts);
  const began = placeOf(request);
  const { asked, reports } = membersToAsk(parts, request, { began, budgetMs: options.budgetMs });
  const lanes = asked.map(({ lane }) => lane);
  let { reachedMs } = began;
  const { maxParallel } = limits;
  for await (const records of mergeByTime(lanes, { limit: request.limit, maxParallel, ...(signal && { signal }) })) {
    if (records.length === 0) throwIfRefused(lanes, { isFirst: reports.length === 0 });
    // A time out of order would bring those who join to where others have been.
    for (const { atMs } of records) reachedMs = atMs ?? reachedMs;
    yield records;
  }
  throwIfRefused(lanes, { isFirst: reports.length === 0 });
  const { reachedMs: beganMs } = began;
  yield [await endOf(parts, { request, asked, reports, reachedMs, beganMs, startedMs, ...(signal && { signal }) })];
}
