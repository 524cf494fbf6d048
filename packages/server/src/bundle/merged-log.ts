import type { ClusterEnd, ClusterRecord, ClusterState, MemberSelection } from '@porthole/contract';
import { contextJson } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs';

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

/** The records of all members, oldest first, by corrected time: in the line format of the contract, in UTC. */
export async function* mergedLog(
  cluster: Pick<ClusterState, 'searchLogs'>,
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
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = cursor === undefined ? query : { ...query, start: { cursor } };
    let end: ClusterEnd | undefined;
    for await (const items of cluster.searchLogs(page, { signal, budgetMs })) {
      let lines = '';
      for (const item of items) {
        if (item.type === 'record') lines += recordLines(item);
        else end = item;
      }
      if (lines !== '') yield Buffer.from(lines);
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

/** Missing columns are left out, as readers of the format allow; node and file come before the record's own tags. */
function recordLines(record: ClusterRecord): string {
  const { node, file, atMs, level, source, tags = [], message, cut } = record;
  const time = atMs === undefined ? undefined : new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
  const labels = [node, file, ...tags].map((label) => `[${label.replace(/[\p{Cc}[\]]/gu, '_')}]`).join(' ');
  const [firstLine = '', ...lines] = message.split('\n');
  const columns = [time, level, source, `${labels}: ${firstLine}`, contextJson(record)];
  const first = columns.filter((column) => column !== undefined).join('\t');
  return `${[first, ...lines].join('\n')}${cut ? ' ...' : ''}\n`;
}
