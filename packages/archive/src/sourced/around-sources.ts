import {
  type AroundRequest,
  type CallOptions,
  type ClusterEnd,
  type ClusterItem,
  type ClusterRecord,
  type ClusterState,
  codeOf,
  errorMessage,
} from '@porthole/contract';
import type { ArchivedNode } from '../ask/archived-nodes.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { withoutArchived } from './cuts.ts';
import type { ClusterFacts } from './member-facts.ts';
import { planSources, type SourcePlan } from './plan-sources.ts';
import { archivePart, reportsOfUnasked, withArchive } from './sourced-reports.ts';
import { isGone, unlessUnread } from './unread-archive.ts';

export interface AroundDeps {
  cluster: Pick<ClusterState, 'around'>;
  archive: Pick<ArchiveReader, 'around'>;
  facts(): Promise<ClusterFacts>;
  archived(): Promise<readonly ArchivedNode[]>;
}

/**
 * What was logged around a record or time, of members and archive. A time is looked up on both sides; a record is looked for
 * where it still may be, and its time decides.
 */
export async function* aroundSources(
  deps: AroundDeps,
  request: AroundRequest,
  options: CallOptions,
): AsyncGenerator<ClusterItem[], void, undefined> {
  const archived = await fetchArchived(deps);
  if (archived.problem !== null || archived.nodes.length === 0) {
    yield* membersOnly(deps, request, { options, problem: archived.problem });
    return;
  }
  const { at } = request;
  const facts = await deps.facts();
  if ('timeMs' in at) {
    yield* aroundTime(deps, { ...request, at }, { options, facts, archived: archived.nodes });
    return;
  }
  const timeMs = await findTime(deps, { ...request, at }, options);
  if (timeMs === undefined) yield* membersOnly(deps, request, { options, problem: null });
  else yield* aroundTime(deps, { ...request, at: { timeMs } }, { options, facts, archived: archived.nodes });
}

async function fetchArchived({
  archived,
}: AroundDeps): Promise<{ nodes: readonly ArchivedNode[]; problem: string | null }> {
  try {
    return { nodes: await archived(), problem: null };
  } catch (error) {
    if (codeOf(error) !== 'ARCHIVE_UNAVAILABLE') throw error;
    return { nodes: [], problem: errorMessage(error) };
  }
}

async function* membersOnly(
  { cluster }: AroundDeps,
  request: AroundRequest,
  { options, problem }: { options: CallOptions; problem: string | null },
): AsyncGenerator<ClusterItem[], void, undefined> {
  const found = cluster.around({ ...request, store: 'nodes' }, options);
  for await (const items of unlessUnread(found, problem ?? undefined)) {
    if (problem === null) yield items;
    else
      yield items.map((item) =>
        item.type === 'end' ? { ...item, archive: { records: 0, beforeMs: null, problem } } : item,
      );
  }
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

interface AroundFacts {
  options: CallOptions;
  facts: ClusterFacts;
  archived: readonly ArchivedNode[];
}

async function* aroundTime(
  deps: AroundDeps,
  request: AroundRequest & { at: { timeMs: number } },
  { options, facts, archived }: AroundFacts,
): AsyncGenerator<ClusterItem[], void, undefined> {
  const { at, beforeMs, afterMs, limit } = request;
  const range = { fromMs: at.timeMs - beforeMs, toMs: at.timeMs + afterMs + 1 };
  const plan = planSources({ ...request, ...range }, { facts: facts.members, archived });
  if (!plan.archive && !plan.hasGaps) {
    yield* membersOnly(deps, request, { options, problem: null });
    return;
  }
  const members = plan.asksMembers
    ? await collect(
        withoutArchived(deps.cluster.around({ ...request, ...plan.members, store: 'nodes' }, options), plan),
      )
    : undefined;
  yield [];
  const { past, problem } = await collectArchive(deps, request, { plan, options });
  if (problem !== null) {
    // Members have more than what was asked of them.
    yield* membersOnly(deps, request, { options, problem });
    return;
  }
  const chosen = nearest([...(past?.records ?? []), ...(members?.records ?? [])], at.timeMs, limit);
  const archive = new Set(past?.records);
  const counts = countByNode(chosen.filter((record) => archive.has(record)));
  const share = { plan, facts: facts.members, counts, problem, range };
  const fromMembers = countByNode(chosen.filter((record) => !archive.has(record)));
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

async function collectArchive(
  { archive }: AroundDeps,
  request: AroundRequest,
  { plan, options }: { plan: SourcePlan; options: CallOptions },
): Promise<{ past?: Collected; problem: string | null }> {
  if (!plan.archive) return { problem: null };
  try {
    return { past: await collect(archive.around(request, { ...options, ...plan.archive })), problem: null };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (codeOf(error) !== 'ARCHIVE_UNAVAILABLE') throw error;
    return { problem: errorMessage(error) };
  }
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

/** Of each node those closest to the time, half of the limit before it; oldest first. */
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
