import type { ClusterItem, SearchOptions } from '@porthole/contract';
import { type ClusterDeps, getClock, getLimits } from '../cluster-deps.ts';
import { mergeByTime, type PreviousRecord } from '../merge/merge-by-time.ts';
import { throwIfRejected } from '../refusals.ts';
import { buildSearchEnd } from './search-end.ts';
import { type ClusterSearch, membersToQuery, parseStartPosition, type StartPosition } from './search-members.ts';

/**
 * Searches all selected members and tells their records merged by time, in batches as they are known: an empty one first,
 * as soon as a member has taken the question, the `end` as the last item of the last. A member that fails is in the
 * report of the end. Throws the signal's reason when it fires, and what is wrong with the question when no member takes
 * it.
 */
export async function* searchCluster(
  deps: ClusterDeps,
  request: ClusterSearch,
  options: SearchOptions = {},
): AsyncGenerator<ClusterItem[], void, undefined> {
  const startedMs = performance.now();
  const { signal } = options;
  const limits = getLimits(deps);
  const began = parseStartPosition(request);
  const { asked, reports } = membersToQuery(deps, request, { began, budgetMs: options.budgetMs });
  const lanes = asked.map(({ lane }) => lane);
  let { reachedMs, lastNode } = began;
  const { maxParallel } = limits;
  const merging = { limit: request.limit, maxParallel, after: previousRecord(deps, began), ...(signal && { signal }) };
  for await (const records of mergeByTime(lanes, merging)) {
    if (records.length === 0) throwIfRejected(lanes, { isFirst: reports.length === 0 });
    // A time out of order would bring those who join to where others have been.
    for (const { atMs } of records) reachedMs = atMs ?? reachedMs;
    lastNode = records.at(-1)?.node ?? lastNode;
    yield records;
  }
  throwIfRejected(lanes, { isFirst: reports.length === 0 });
  const { reachedMs: beganMs } = began;
  yield [
    await buildSearchEnd(deps, {
      request,
      asked,
      reports,
      reachedMs,
      lastNode,
      beganMs,
      startedMs,
      ...(signal && { signal }),
    }),
  ];
}

/** The last record of the page before, as far as its cursor says. */
function previousRecord(deps: ClusterDeps, { lastNode, reachedMs, order }: StartPosition): PreviousRecord | undefined {
  if (lastNode === undefined || reachedMs === null) return undefined;
  const { uncertaintyMs } = getClock(deps.clocks, lastNode);
  return { id: lastNode, key: order === 'newest' ? -reachedMs : reachedMs, uncertaintyMs };
}
