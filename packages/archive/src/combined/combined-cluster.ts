import {
  type ArchivePart,
  type AroundRequest,
  type CallOptions,
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterRecord,
  type ClusterState,
  type ClusterTop,
  type ConfigHistoryRequest,
  clusterItems,
  errorMessage,
  type FollowOptions,
  type ForgetOptions,
  LogSources,
  type MemberReport,
  type MemberSelection,
  pastRequest,
  readPast,
  type SearchOptions,
  withCoverage,
  withSearchCoverage,
} from '@porthole/contract';
import { isCursorOf, mergeGroups } from '@porthole/logs';
import { unneeded } from '@porthole/logs/shared';
import type {
  DigestQuery,
  FieldsQuery,
  FollowQuery,
  HistogramQuery,
  SearchQuery,
  TopQuery,
} from '@porthole/logs/types';
import { isBatch, type RecordBatch, toBatches } from '@porthole/records';
import type { ArchiveState } from '../query/archive-state.ts';
import type { ArchivedNode } from '../query/archived-nodes.ts';
import {
  type Counted,
  type CountKind,
  type CountRequest,
  commonWidth,
  countBoth,
  digestKind,
  fieldsKind,
  HISTOGRAM,
  MAX_GROUPS,
  topKind,
} from './combined-counts.ts';
import {
  archivePart,
  blameArchive,
  clipCoverage,
  failedPart,
  isGone,
  reportsOfUnasked,
  settleArchive,
  withArchive,
  withProblem,
  withUnshipped,
} from './combined-reports.ts';
import { type CombinedPosition, type MovedPosition, moveCuts, resumedPosition, searchBoth } from './combined-search.ts';
import {
  type ClusterFacts,
  fetchFacts,
  planSources,
  Remembered,
  type SourcePlan,
  withoutArchived,
} from './plan-sources.ts';

/** Where a search goes on. */
interface Resumed {
  resumed: CombinedPosition | undefined;
  gaps: MovedPosition['gaps'];
}

/** What a request reads, decided. */
type Decision =
  | { kind: 'nodes'; problem?: string }
  | { kind: 'archive' }
  | ({ kind: 'both'; plan: SourcePlan; facts: ClusterFacts } & Resumed);

/**
 * The cluster with a past: what living members have is read from them, and everything older, or of nodes that no longer
 * exist, from the archive. Operations that read no records are those of the cluster.
 */
export class CombinedCluster implements ClusterState {
  readonly #cluster: ClusterState;
  readonly #archive: ArchiveState;
  readonly #facts: Remembered<ClusterFacts>;
  readonly #archived: Remembered<readonly ArchivedNode[]>;

  constructor(cluster: ClusterState, archive: ArchiveState) {
    this.#cluster = cluster;
    this.#archive = archive;
    this.#facts = new Remembered(() => fetchFacts(cluster));
    this.#archived = new Remembered(() => archive.nodes());
  }

  /** Why the archive could not be read when it was last queried, and since when. Queries it again in the background, every few seconds. */
  checkArchive(): string | undefined {
    void unneeded(this.#archived.get()); // a failure is what the next check returns
    const { failure } = this.#archived;
    return failure && `${errorMessage(failure.error)} (since ${new Date(failure.sinceMs).toISOString()})`;
  }

  nodes(options?: CallOptions) {
    return this.#cluster.nodes(options);
  }

  config(request: MemberSelection, options?: CallOptions) {
    return this.#cluster.config(request, options);
  }

  configDiff(request: MemberSelection, options?: CallOptions) {
    return this.#cluster.configDiff(request, options);
  }

  logFiles(request: MemberSelection, options?: CallOptions) {
    return this.#cluster.logFiles(request, options);
  }

  events(request: SearchQuery & MemberSelection, options?: SearchOptions) {
    return this.#cluster.events(request, options);
  }

  followEvents(request: FollowQuery & MemberSelection, options?: FollowOptions) {
    return this.#cluster.followEvents(request, options);
  }

  configHistory(request: ConfigHistoryRequest & MemberSelection, options?: CallOptions) {
    return this.#cluster.configHistory(request, options);
  }

  followLogs(request: FollowQuery & MemberSelection, options?: FollowOptions) {
    return this.#cluster.followLogs(request, options);
  }

  member(id: string) {
    return this.#cluster.member(id);
  }

  forget(id: string, options?: ForgetOptions) {
    return this.#cluster.forget(id, options);
  }

  async *search(
    request: SearchQuery & MemberSelection,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    const decided = await this.#decide(request, options, resumedPosition(request));
    if (decided.kind === 'nodes' && decided.problem === undefined)
      return yield* this.#cluster.search({ ...request, store: 'nodes' }, options);
    const found = this.#searchArchive(decided, request, options);
    for await (const item of found) yield isBatch(item) ? item : withCoverage(item, request);
  }

  #searchArchive(
    decided: Decision,
    request: SearchQuery & MemberSelection,
    options: SearchOptions,
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    if (decided.kind === 'both')
      return searchBoth({ cluster: this.#cluster, archive: this.#archive, ...decided }, request, options);
    const found =
      decided.kind === 'archive'
        ? this.#ofArchive(this.#archive.searchLogs(request, options), request, options)
        : withProblem(clusterItems(this.#cluster, { ...request, store: 'nodes' }, options), decided.problem);
    return toBatches<ClusterRecord, ClusterEnd>(found);
  }

  around(request: AroundRequest, options: CallOptions = {}): AsyncIterable<ClusterItem[]> {
    return withSearchCoverage(this.#around(request, options), {});
  }

  async *#around(request: AroundRequest, options: CallOptions): AsyncGenerator<ClusterItem[], void, undefined> {
    if (request.store === 'nodes') yield* this.#cluster.around(request, options);
    else if (request.store === 'archive')
      yield* this.#ofArchive(this.#archive.around(request, options), aroundRange(request), options);
    else {
      const archived = await settleArchive(this.#archived.get(options), options.signal);
      if ('problem' in archived || archived.value.length === 0) {
        const problem = 'problem' in archived ? archived.problem : undefined;
        yield* withProblem(this.#cluster.around({ ...request, store: 'nodes' }, options), problem);
        return;
      }
      const facts = await this.#facts.get(options);
      const deps = { cluster: this.#cluster, archive: this.#archive, facts, archived: archived.value };
      yield* aroundBoth(deps, request, options);
    }
  }

  async logHistogram(
    request: HistogramQuery & MemberSelection,
    options: SearchOptions = {},
  ): Promise<ClusterHistogram> {
    const decided = await this.#decide(request, options);
    const grid = decided.kind === 'both' ? { ...request, bucketMs: commonWidth(request, decided) } : request;
    return this.#count(decided, { request: grid, options, kind: HISTOGRAM });
  }

  async logDigest(request: DigestQuery & MemberSelection, options: SearchOptions = {}): Promise<ClusterDigest> {
    const { newSinceMs, onlyNew, ...query } = request;
    const decided = await this.#decide(query, options);
    if (decided.kind === 'archive') {
      // It knows all of the past: what is new is decided there.
      const kind: CountKind<DigestQuery & MemberSelection, ClusterDigest> = {
        count: (source, query, call) => source.logDigest(query, call),
        merge: () => ({}),
      };
      return this.#count(decided, { request, options, kind });
    }
    if (newSinceMs === undefined) return this.#count(decided, { request: query, options, kind: digestKind(query) });
    const pastQuery = pastRequest({ ...query, newSinceMs }, MAX_GROUPS);
    const pastDecided = await this.#decide(pastQuery, options);
    if (isOfNodes(decided) && isOfNodes(pastDecided))
      return this.#cluster.logDigest({ ...request, store: 'nodes' }, options);
    // What is new on one side may be old on the other: all groups of both are compared with all of the past of both.
    const wide = { ...query, limit: MAX_GROUPS };
    const [counted, old] = await Promise.all([
      this.#count(decided, { request: wide, options, kind: digestKind(wide) }),
      this.#count(pastDecided, { request: pastQuery, options, kind: digestKind(pastQuery) }),
    ]);
    const { past, baseline } = readPast(old, newSinceMs);
    return { ...counted, ...mergeGroups([counted], { limit: query.limit, onlyNew, past }), baseline };
  }

  async logFields(request: FieldsQuery & MemberSelection, options: SearchOptions = {}): Promise<ClusterFields> {
    const decided = await this.#decide(request, options);
    return this.#count(decided, { request, options, kind: fieldsKind(request) });
  }

  async logTop(request: TopQuery & MemberSelection, options: SearchOptions = {}): Promise<ClusterTop> {
    const decided = await this.#decide(request, options);
    const { buckets, bucketMs, ...query } = request;
    const isOverTime = buckets !== undefined || bucketMs !== undefined;
    if (decided.kind !== 'both' || !isOverTime)
      return this.#count(decided, { request, options, kind: topKind(request) });
    // Which values are the most frequent is known only from both sides: their counts over time are asked for by name.
    const first = await this.#count(decided, { request: query, options, kind: topKind(query) });
    const width = commonWidth({ ...request, buckets: buckets ?? 1 }, decided);
    const values = first.values.flatMap(({ value }) => (value === '' ? [] : [value])).slice(0, MAX_NAMED_VALUES);
    if (values.length === 0) return { ...first, bucketMs: width };
    const named = { ...query, values, limit: values.length, bucketMs: width };
    const second = await this.#count(decided, { request: named, options, kind: topKind(named) });
    const overTime = new Map(second.values.map((value) => [value.value, value.buckets ?? []]));
    const counted = first.values.map((value) => ({ ...value, buckets: overTime.get(value.value) ?? [] }));
    return { ...first, values: counted, bucketMs: second.bucketMs ?? width };
  }

  /** One kind of count, of what was decided. */
  async #count<R extends CountRequest, Result extends Counted>(
    decided: Decision,
    counting: { request: R; options: SearchOptions; kind: CountKind<R, Result> },
  ): Promise<Result> {
    const counted = await this.#countParts(decided, counting);
    return withCoverage(counted, counting.request, decided.kind === 'both' ? decided.facts.membership : undefined);
  }

  async #countParts<R extends CountRequest, Result extends Counted>(
    decided: Decision,
    { request, options, kind }: { request: R; options: SearchOptions; kind: CountKind<R, Result> },
  ): Promise<Result> {
    const [cluster, archive] = [this.#cluster, this.#archive];
    if (decided.kind === 'both') return countBoth({ cluster, archive, ...decided, options }, request, kind);
    if (decided.kind === 'archive') {
      const { store: _store, ...query } = request;
      const complete = await this.#unshipped(request, options);
      const counted = await kind.count(archive, query as R, options);
      const members = complete(counted.members);
      return { ...counted, ...kind.merge([counted]), members, archive: allArchived(members) };
    }
    const counted = await kind.count(cluster, { ...request, store: 'nodes' }, options).catch((error: unknown) => {
      throw blameArchive(error, decided.problem);
    });
    const merged = { ...counted, ...kind.merge([counted]) };
    return decided.problem === undefined ? merged : { ...merged, archive: failedPart(decided.problem) };
  }

  /** Where the records of a request are read. */
  async #decide(
    request: CountRequest & Pick<Partial<SearchQuery>, 'start'>,
    options: CallOptions,
    position?: CombinedPosition,
  ): Promise<Decision> {
    const { store = 'auto', start } = request;
    const cursor = start && 'cursor' in start ? start.cursor : undefined;
    if (store === 'archive') return { kind: 'archive' };
    // The archive has no files, only logs. A cursor continues what it is of.
    if (cursor !== undefined && isCursorOf('archive', cursor)) return { kind: 'archive' };
    const isOfMembers = cursor !== undefined && !isCursorOf('combined', cursor);
    const hasFiles = new LogSources(request.src).list.some(({ kind }) => kind === 'file');
    if (store === 'nodes' || hasFiles || isOfMembers) return { kind: 'nodes' };
    const read = await settleArchive(this.#archived.get(options), options.signal);
    if ('problem' in read) {
      if (cursor !== undefined) throw read.failure; // nothing else has the rest
      return { kind: 'nodes', problem: read.problem };
    }
    const archived = read.value;
    if (archived.length === 0) return { kind: 'nodes' };
    const facts = await this.#facts.get(options);
    const known = { facts: facts.members, archived };
    const moved = position && moveCuts(position, known, request);
    const plan = planSources(request, known, moved?.position.cuts);
    if (plan.archive === null && !plan.hasGaps && cursor === undefined) return { kind: 'nodes' };
    return { kind: 'both', plan, facts, resumed: moved?.position, gaps: moved?.gaps ?? [] };
  }

  /** Says of each node what it has shipped, and what it has not. */
  async *#ofArchive(
    found: AsyncIterable<ClusterItem[]>,
    request: CountRequest,
    options: CallOptions,
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    const complete = await this.#unshipped(request, options);
    for await (const items of found) {
      const end = items.at(-1);
      if (end?.type !== 'end') {
        yield items;
        continue;
      }
      const members = complete(end.members);
      yield [...items.slice(0, -1), { ...end, ...clipCoverage(end, members), members, archive: allArchived(members) }];
    }
  }

  /** Known before the archive is searched: if it cannot be read, nothing is sent but the error. */
  async #unshipped(request: CountRequest, options: CallOptions) {
    const [archived, facts] = await Promise.all([this.#archived.get(options), this.#facts.get(options)]);
    return (reports: readonly MemberReport[]) => withUnshipped(reports, { archived, facts: facts.members, request });
  }
}

function isOfNodes(decided: Decision): boolean {
  return decided.kind === 'nodes' && decided.problem === undefined;
}

/** Maximum values that a node counts by name. */
const MAX_NAMED_VALUES = 1000;

/** Everything came from the archive. */
function allArchived(members: readonly MemberReport[]): ArchivePart {
  return { records: members.reduce((sum, { count }) => sum + count, 0), beforeMs: null, problem: null };
}

function aroundRange({ at, beforeMs, afterMs, ...selection }: AroundRequest): CountRequest {
  return 'timeMs' in at ? { ...selection, fromMs: at.timeMs - beforeMs, toMs: at.timeMs + afterMs + 1 } : selection;
}

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
async function* aroundBoth(
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
