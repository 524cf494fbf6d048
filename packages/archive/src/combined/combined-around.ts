import type {
  AroundRequest,
  CallOptions,
  ClusterEnd,
  ClusterItem,
  ClusterRecord,
  ClusterState,
} from '@porthole/contract';
import type { ArchiveState } from '../query/archive-state.ts';
import type { ArchivedNode } from '../query/archived-nodes.ts';
import { archivePart, isGone, reportsOfUnasked, settleArchive, withArchive, withProblem } from './combined-reports.ts';
import type { ClusterFacts } from './known-sources.ts';
import { planSources, withoutArchived } from './plan-sources.ts';

interface AroundDeps {
  cluster: Pick<ClusterState, 'around'>;
  archive: Pick<ArchiveState, 'around'>;
  facts: ClusterFacts;
  archived: readonly ArchivedNode[];
}

/**
 * What was logged around a record or time, of members and archive. A time is looked up on both sides; a record is looked for
 * where it still may be, and its time decides.
 */
export async function* aroundBoth(
  deps: AroundDeps,
  request: AroundRequest,
  options: CallOptions,
): AsyncGenerator<ClusterItem[], void, undefined> {
  const { at } = request;
  const timeMs = 'timeMs' in at ? at.timeMs : await findTime(deps, { ...request, at }, options);
  if (timeMs === undefined) yield* deps.cluster.around({ ...request, store: 'nodes' }, options);
  else yield* aroundTime(deps, { ...request, at: { timeMs } }, options);
}

/** The time of a record: on its node, else in the archive. `undefined`: the members report why not. */
async function findTime(
  { cluster, archive }: AroundDeps,
  request: AroundRequest & { at: { node: string; cursor: string } },
  options: CallOptions,
): Promise<number | undefined> {
  const { at } = request;
  const narrow = { at, nodes: [at.node], beforeMs: 0, afterMs: 0, limit: 1000 };
  const isIt = (item: ClusterItem): item is ClusterRecord => item.type === 'record' && item.cursor === at.cursor;
  // An archive that cannot be read is the error: it may have the record.
  for (const find of [
    () => cluster.around({ ...narrow, store: 'nodes' }, options),
    () => archive.around(narrow, options),
  ]) {
    try {
      for await (const items of find()) {
        const record = items.find(isIt);
        if (record?.atMs !== undefined) return record.atMs;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isGone(error)) throw error;
    }
  }
  return undefined;
}

async function* aroundTime(
  { cluster, archive, facts, archived }: AroundDeps,
  request: AroundRequest & { at: { timeMs: number } },
  options: CallOptions,
): AsyncGenerator<ClusterItem[], void, undefined> {
  const { at, beforeMs, afterMs, limit } = request;
  const range = { fromMs: at.timeMs - beforeMs, toMs: at.timeMs + afterMs + 1 };
  const plan = planSources({ ...request, ...range }, { facts: facts.members, archived });
  const ofMembers = (floors: object) => cluster.around({ ...request, ...floors, store: 'nodes' }, options);
  if (!plan.archive && !plan.hasGaps) {
    yield* ofMembers({});
    return;
  }
  const members = plan.asksMembers ? await collect(withoutArchived(ofMembers(plan.members), plan)) : undefined;
  yield [];
  const read =
    plan.archive &&
    (await settleArchive(collect(archive.around(request, { ...options, ...plan.archive })), options.signal));
  if (read && 'problem' in read) {
    // Members have more than what was asked of them.
    yield* withProblem(ofMembers({}), read.problem);
    return;
  }
  const past = read?.value;
  const chosen = nearest([...(past?.records ?? []), ...(members?.records ?? [])], at.timeMs, limit);
  const isPast = new Set(past?.records);
  const counts = countByNode(chosen.filter((record) => isPast.has(record)));
  const share = { plan, facts: facts.members, counts, problem: null, range };
  const fromMembers = countByNode(chosen.filter((record) => !isPast.has(record)));
  const base = members?.end ?? past?.end;
  if (!base) throw new Error('neither members nor archive were asked');
  const reports = (members?.end.members ?? reportsOfUnasked(facts.members, request)).map((report) => ({
    ...report,
    count: fromMembers.get(report.id) ?? 0,
  }));
  yield [
    ...chosen,
    {
      ...base,
      records: chosen.length,
      reason: [members?.end.reason, past?.end.reason].find((reason) => reason && reason !== 'exhausted') ?? 'exhausted',
      members: withArchive(reports, share),
      membership: members?.end.membership ?? facts.membership,
      archive: archivePart(share),
    },
  ];
}

interface Collected {
  records: ClusterRecord[];
  end: ClusterEnd;
}

/** At most the limit of each node: a few thousand records. */
async function collect(found: AsyncIterable<ClusterItem[]>): Promise<Collected> {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  for await (const items of found)
    for (const item of items) {
      if (item.type === 'end') end = item;
      else records.push(item);
    }
  if (!end) throw new Error('a search ended without its end');
  return { records, end };
}

/** The records of each node that are closest to the time, half of the limit before it; oldest first. */
function nearest(records: readonly ClusterRecord[], timeMs: number, limit: number): ClusterRecord[] {
  const sorted = records.toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0));
  const before = new Map<string, number>();
  const after = new Map<string, number>();
  const takes = (counts: Map<string, number>, node: string, most: number) => {
    const count = (counts.get(node) ?? 0) + 1;
    counts.set(node, count);
    return count <= most;
  };
  const earlier = sorted
    .filter(({ atMs = 0 }) => atMs < timeMs)
    .toReversed()
    .filter(({ node }) => takes(before, node, Math.floor(limit / 2)))
    .toReversed();
  const later = sorted
    .filter(({ atMs = 0 }) => atMs >= timeMs)
    .filter(({ node }) => takes(after, node, limit - Math.floor(limit / 2)));
  return [...earlier, ...later];
}

function countByNode(records: readonly ClusterRecord[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { node } of records) counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}
