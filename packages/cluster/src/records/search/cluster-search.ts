import type { ClusterItem, SearchOptions } from '@porthole/contract';
import { type ClusterDeps, getClock, getLimits } from '../cluster-deps.ts';
import { mergeByTime, type PreviousRecord } from '../merge/merge-by-time.ts';
import { throwIfRejected } from '../refusals.ts';
import { buildSearchEnd } from './search-end.ts';
import { type ClusterSearch, membersToQuery, parseStartPosition, type StartPosition } from './search-members.ts';

/**
 * Searches all selected members and emits their records merged by time, in batches as they become known: an empty one first,
 * as soon as a member has accepted the query, the `end` as the last item of the last. A failed member is in the reports of the
 * end. Throws the reason of the signal, and the error of the members if all of them reject the query.
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
  const { queried, reports } = membersToQuery(deps, request, { began, budgetMs: options.budgetMs });
  const lanes = queried.map(({ lane }) => lane);
  let { reachedMs, lastNode } = began;
  const { maxParallel } = limits;
  const merging = { limit: request.limit, maxParallel, after: previousRecord(deps, began), ...(signal && { signal }) };
  for await (const records of mergeByTime(lanes, merging)) {
    if (records.length === 0) throwIfRejected(lanes, { isFirst: reports.length === 0 });
    // An out-of-order time would make new members repeat what others have emitted.
    for (const { atMs } of records) reachedMs = atMs ?? reachedMs;
    lastNode = records.at(-1)?.node ?? lastNode;
    yield records;
  }
  throwIfRejected(lanes, { isFirst: reports.length === 0 });
  const { reachedMs: beganMs } = began;
  yield [
    await buildSearchEnd(deps, {
      request,
      queried,
      reports,
      reachedMs,
      lastNode,
      beganMs,
      startedMs,
      ...(signal && { signal }),
    }),
  ];
}

/** The last record of the previous page, if its cursor has it. */
function previousRecord(deps: ClusterDeps, { lastNode, reachedMs, order }: StartPosition): PreviousRecord | undefined {
  if (lastNode === undefined || reachedMs === null) return undefined;
  const { uncertaintyMs } = getClock(deps.clocks, lastNode);
  return { id: lastNode, key: order === 'newest' ? -reachedMs : reachedMs, uncertaintyMs };
}
