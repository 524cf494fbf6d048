import {
  type AroundRequest,
  type AskedRange,
  type CallOptions,
  type ClusterConfig,
  type ClusterConfigHistory,
  type ClusterCounts,
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterState,
  type ClusterTop,
  type ConfigHistoryRequest,
  type CountQueries,
  type FollowOptions,
  type MemberReport,
  type MemberSelection,
  type MembershipState,
  type NodeState,
  ONLY_ARCHIVED,
  PortholeError,
  type SearchOptions,
  withCoverage,
  withoutSelection,
} from '@porthole/contract';
import type { FollowItem, FollowQuery, FoundRecord, Histogram, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { isBatch, type RecordBatch, toItems } from '@porthole/records';
import { ClusterBatchWriter } from '../records/merge/cluster-batch.ts';
import { collectRecords, contentOf, recordsAround, recordTime } from '../records/search/records-around.ts';
import { toClusterRecord } from '../records/to-cluster-record.ts';
import { unreadPart } from '../requests/member-failure.ts';

type RecordOperations = keyof ClusterCounts | 'logFiles' | 'search' | 'followLogs';
type NodeOperations = 'config' | 'configHistory' | 'events' | 'followEvents';

/** What a node must have for it. */
export type NodeLogs = Pick<NodeState, RecordOperations>;

/** The logs of one node as those of a cluster of it alone, read at once. */
export class LogsAlone implements Pick<ClusterState, RecordOperations | 'around'> {
  readonly #state: NodeLogs;
  readonly #id: string;
  /** A record that goes to many followers is one object for all of them: it is encoded once. */
  readonly #records = new WeakMap<FoundRecord, ClusterFollowItem>();

  constructor(state: NodeLogs, id: string) {
    this.#state = state;
    this.#id = id;
  }

  async logFiles({ src }: MemberSelection, options: CallOptions = {}): Promise<ClusterLogFiles> {
    const startedMs = performance.now();
    const found = await this.#state.logFiles(src === undefined ? options : { ...options, src });
    const members = [this.report({ elapsedMs: performance.now() - startedMs, count: found.length })];
    return withCoverage({ files: found.map((each) => ({ ...each, node: this.#id })), members }, {});
  }

  async *search(
    request: SearchQuery & MemberSelection,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    yield* this.found(this.#state.search(withoutSelection(request), options), request, options);
  }

  async *followLogs(
    request: FollowQuery & MemberSelection,
    options?: FollowOptions,
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    yield* this.named(this.#state.followLogs(withoutSelection(request), options));
  }

  async *around(request: AroundRequest, options: CallOptions = {}): AsyncGenerator<ClusterItem[], void, undefined> {
    const { at, beforeMs, afterMs, limit } = request;
    if ('node' in at && at.node !== this.#id)
      throw new PortholeError('MEMBER_NOT_FOUND', `no member of the cluster is named ${JSON.stringify(at.node)}`);
    const find = (query: SearchQuery) => collectRecords(this.#state.search(query, options), query.limit);
    const atMs = 'timeMs' in at ? at.timeMs : await recordTime(at, find);
    const asked = { id: this.#id, filter: contentOf(request), atMs, beforeMs, afterMs, limit, floors: undefined };
    yield* toItems(this.found(recordsAround(this.#state, asked, options), {}, options));
  }

  async logHistogram(
    request: CountQueries['logHistogram'] & MemberSelection,
    options?: SearchOptions,
  ): Promise<ClusterHistogram> {
    const { buckets, ...rest } = await this.#state.logHistogram(withoutSelection(request), options);
    const named = buckets.map((bucket) => ({
      ...bucket,
      nodes: { [this.#id]: Object.values(bucket.counts).reduce((sum, count) => sum + count, 0) },
    }));
    return this.#counted({ ...rest, buckets: named }, request);
  }

  async logDigest(
    request: CountQueries['logDigest'] & MemberSelection,
    options?: SearchOptions,
  ): Promise<ClusterDigest> {
    const { groups, ...rest } = await this.#state.logDigest(withoutSelection(request), options);
    const named = groups.map((group) => ({
      ...group,
      sample: this.#record(group.sample),
      nodes: { [this.#id]: group.count },
    }));
    const { counted: _counted, ...digest } = this.#counted({ ...rest, groups: named }, request);
    return digest;
  }

  async logFields(
    request: CountQueries['logFields'] & MemberSelection,
    options?: SearchOptions,
  ): Promise<ClusterFields> {
    const { fields, ...rest } = await this.#state.logFields(withoutSelection(request), options);
    const named = fields.map((field) => ({ ...field, nodes: { [this.#id]: field.records } }));
    return this.#counted({ ...rest, fields: named }, request);
  }

  async logTop(request: CountQueries['logTop'] & MemberSelection, options?: SearchOptions): Promise<ClusterTop> {
    const { values, ...rest } = await this.#state.logTop(withoutSelection(request), options);
    const named = values.map((value) => ({ ...value, nodes: { [this.#id]: value.count } }));
    return this.#counted({ ...rest, values: named }, request);
  }

  /** The items of a follow of the node, with its name. */
  async *named(followed: AsyncIterable<FollowItem[]>): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    for await (const items of followed) yield items.map((item) => this.#followed(item));
  }

  /** The records with their node, and the end with its coverage. */
  protected async *found(
    found: AsyncIterable<RecordBatch | SearchEnd>,
    asked: AskedRange,
    { reusesMemory }: SearchOptions,
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    const writer = new ClusterBatchWriter({ reusesMemory });
    for await (const item of found) {
      if (!isBatch(item)) yield this.#end(item, asked);
      else if (item.ends.length === 0) yield item;
      else yield writer.writeAll(item, this.#id);
    }
  }

  #end({ problems, duplicates, ...end }: SearchEnd, { fromMs, toMs }: AskedRange): ClusterEnd {
    const ofNode = { node: this.#id };
    const report = this.report({ elapsedMs: end.elapsedMs, count: end.records });
    const { coveredFromMs, coveredToMs } = end;
    const response: ClusterEnd = {
      ...end,
      problems: problems.map((problem) => ({ ...problem, ...ofNode })),
      ...(duplicates && { duplicates: duplicates.map((duplicate) => ({ ...duplicate, ...ofNode })) }),
      members: [{ ...report, coveredFromMs, coveredToMs }],
      membership: aloneMembership(),
    };
    return withCoverage(response, range(fromMs, toMs));
  }

  #followed(item: FollowItem): ClusterFollowItem {
    if (item.type === 'end') return item;
    if (item.type !== 'record') return { ...item, node: this.#id };
    const known = this.#records.get(item);
    if (known) return known;
    const named = this.#record(item);
    this.#records.set(item, named);
    return named;
  }

  #record(record: FoundRecord) {
    return toClusterRecord(record, { node: this.#id, atMs: record.timeMs, isUnsure: false });
  }

  #counted<Count extends { end: Histogram['end'] }>(
    count: Count,
    { fromMs, toMs }: { fromMs?: number; toMs?: number },
  ) {
    const { end } = count;
    const isCut = end.reason !== 'exhausted' || end.limits !== undefined;
    const counted = isCut
      ? { fromMs: end.coveredFromMs ?? 0, toMs: Math.max(end.coveredFromMs ?? 0, end.coveredToMs ?? 0) }
      : null;
    const report = this.report({ elapsedMs: end.elapsedMs, count: end.records });
    const unread = end.reason === 'exhausted' ? unreadPart(end) : `scan stopped: ${end.reason}`;
    const detail = [report.detail, unread].filter((text) => text !== null).join('; ');
    const part = unread === null ? report : { ...report, detail, isPartial: true as const };
    const { coveredFromMs, coveredToMs } = end;
    const members = [isCut ? { ...part, coveredFromMs, coveredToMs } : part];
    // Files that could not be read are in the report.
    const problems = end.problems.filter(({ code }) => code === ONLY_ARCHIVED);
    const { coverage } = withCoverage({ members, problems }, range(fromMs, toMs));
    return { ...count, counted, members, coverage };
  }

  protected report({ elapsedMs, count }: Pick<MemberReport, 'elapsedMs' | 'count'>): MemberReport {
    const standing = { outcome: 'ok', detail: null, asOfMs: null, state: 'up', sinceMs: null } as const;
    return { id: this.#id, ...standing, elapsedMs: Math.round(elapsedMs), count };
  }
}

/** What one node answers for itself: what a cluster of it alone does. */
export class NodeAlone extends LogsAlone implements Pick<ClusterState, RecordOperations | NodeOperations> {
  readonly #state: NodeState;
  readonly #id: string;

  constructor(state: NodeState, id: string) {
    super(state, id);
    this.#state = state;
    this.#id = id;
  }

  async config(_request: MemberSelection, options: CallOptions = {}): Promise<ClusterConfig> {
    const startedMs = performance.now();
    const [config, settings, { role }] = await Promise.all([
      this.#state.config(options),
      this.#state.settings(options),
      this.#state.describe(options),
    ]);
    const report = this.report({ elapsedMs: performance.now() - startedMs, count: 1 });
    return { configs: [{ id: this.#id, role, config, settings, report }] };
  }

  async configHistory(
    request: ConfigHistoryRequest & MemberSelection,
    options: CallOptions = {},
  ): Promise<ClusterConfigHistory> {
    const startedMs = performance.now();
    const history = await this.#state.configHistory(withoutSelection(request), options);
    const report = this.report({ elapsedMs: performance.now() - startedMs, count: history.periods.length });
    return { nodes: [{ id: this.#id, history }], members: [report] };
  }

  async *events(
    request: SearchQuery & MemberSelection,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    yield* this.found(this.#state.events(withoutSelection(request), options), request, options);
  }

  async *followEvents(
    request: FollowQuery & MemberSelection,
    options?: FollowOptions,
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    yield* this.named(this.#state.followEvents(withoutSelection(request), options));
  }
}

function range(fromMs: number | undefined, toMs: number | undefined) {
  return { fromMs, toMs, isAlone: true };
}

/** How the members of a node that answers alone are known. */
function aloneMembership(): MembershipState {
  return { kind: 'alone', state: 'ok', detail: null, asOfMs: Date.now() }; // clock: time ranges of questions
}
