import type { ClusterEnd, ClusterState, MemberSelection } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs';
import { isBatch, TextRenderer } from '@porthole/records';

export interface MergedLogOptions {
  /** Time range of the records, by this node's clock. */
  range: { fromMs: number; toMs: number };
  selection: MemberSelection;
  /** Records per search. */
  pageRecords: number;
  /** Time budget of one search. */
  budgetMs: number;
  signal: AbortSignal;
  /** Problems of what was written; each is reported once. */
  report(problem: string): void;
}

/**
 * The records of all members, oldest first, by corrected time: as columns, in UTC. The memory of a
 * chunk is used again when the next one is requested.
 */
export async function* mergedLog(
  cluster: Pick<ClusterState, 'search'>,
  options: MergedLogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { range, selection, pageRecords, budgetMs, signal, report } = options;
  const query: SearchQuery & MemberSelection = {
    ...selection,
    ...range,
    order: 'oldest',
    limit: pageRecords,
    before: 0,
    after: 0,
  };
  const reported = new Set<string>();
  const renderer = new TextRenderer('columns');
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = cursor === undefined ? query : { ...query, start: { cursor } };
    let end: ClusterEnd | undefined;
    for await (const item of cluster.search(page, { signal, budgetMs, reusesMemory: true })) {
      if (isBatch(item)) for (const { bytes } of renderer.render(item)) yield bytes;
      else end = item;
    }
    signal.throwIfAborted();
    for (const problem of memberProblems(end)) {
      if (!reported.has(problem)) report(problem);
      reported.add(problem);
    }
    if (end?.records === 0 && end.cursor === cursor) throw new Error('the search makes no progress');
    cursor = end?.cursor ?? null;
  }
}

function memberProblems(end: ClusterEnd | undefined): string[] {
  const failed = (end?.members ?? []).filter(({ outcome }) => outcome !== 'ok' && outcome !== 'left');
  return failed.map(({ id, outcome, detail, asOfMs }) => {
    const snapshot =
      asOfMs === null ? '' : `; its records are those of its snapshot of ${new Date(asOfMs).toISOString()}`;
    return `${id}: ${outcome}${detail === null ? '' : `: ${detail}`}${snapshot}`;
  });
}
