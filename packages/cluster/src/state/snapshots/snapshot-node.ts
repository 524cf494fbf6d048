import {
  type CallOptions,
  type ConfigHistory,
  type ConfigOptions,
  type ConfigVersion,
  type NodeConfig,
  type NodeDescription,
  type NodeSettings,
  type NodeState,
  PortholeError,
} from '@porthole/contract';
import { bucketWidth, mergeShapes, messageShape } from '@porthole/logs';
import type {
  ByteStream,
  Digest,
  DigestGroup,
  DigestQuery,
  Fields,
  FieldsQuery,
  FollowItem,
  FoundRecord,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  LogSelection,
  OpenLog,
  RecordFilter,
  SearchEnd,
  SearchQuery,
  Top,
  TopQuery,
} from '@porthole/logs/types';
import { isBatch, type RecordBatch } from '@porthole/records';
import { DelegatedNode } from '../../contract-only/delegated-node.ts';
import type { MatchRegex } from '../../fan-out/peers.ts';
import type { MemberSnapshot } from '../../membership/snapshots/member-snapshot.ts';
import { countFields, countTop } from './count-snapshot.ts';
import { searchSnapshot, snapshotEnd, snapshotFilter } from './search-snapshot.ts';

/**
 * The snapshot of a member with the interface of a node, for members that do not respond. Times are by the clock of the member.
 * What the snapshot lacks is UNREACHABLE.
 */
export class SnapshotNode implements NodeState {
  readonly #snapshot: MemberSnapshot;
  readonly #matchRegex: MatchRegex | undefined;
  readonly #limits: Pick<SearchEnd, 'limits'>;

  /**
   * Without `matchRegex`, patterns are tested in this thread. `isAlone`: no report of the member says that this is its
   * snapshot, so the ends of responses do.
   */
  constructor(snapshot: MemberSnapshot, matchRegex?: MatchRegex, { isAlone = false }: { isAlone?: boolean } = {}) {
    this.#snapshot = snapshot;
    this.#matchRegex = matchRegex;
    const asOf = new Date(snapshot.asOfMs).toISOString();
    const limits = `it does not respond: only its newest ${snapshot.records.length} records as of ${asOf} are known`;
    this.#limits = isAlone ? { limits } : {};
  }

  async describe(_options?: CallOptions): Promise<NodeDescription> {
    throw this.#notInSnapshot('its description');
  }

  async config({ format }: ConfigOptions = {}): Promise<NodeConfig> {
    const { config } = this.#snapshot;
    if (format === 'source') throw this.#notInSnapshot('the source of its configuration');
    if (config === null) throw this.#notInSnapshot('its configuration');
    return config;
  }

  /** The caller reads them from the configuration. */
  async settings(_options?: CallOptions): Promise<NodeSettings> {
    throw new PortholeError('NOT_SUPPORTED', 'a snapshot has the configuration, not the settings');
  }

  async listLogs(options?: CallOptions): Promise<LogEntry[]> {
    return (await this.logFiles(options)).map(({ name, size }) => ({ name, size }));
  }

  async logFiles(_options?: CallOptions): Promise<LogFileDetails[]> {
    const { files } = this.#snapshot;
    if (files === null) throw this.#notInSnapshot('its list of files');
    return files;
  }

  async viewLog(): Promise<ByteStream> {
    throw this.#notInSnapshot('the bytes of its files');
  }

  async openLog(): Promise<OpenLog> {
    throw this.#notInSnapshot('the bytes of its files');
  }

  async *search(query: SearchQuery): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    for await (const item of searchSnapshot(this.#snapshot, query, { matchRegex: this.#matchRegex }))
      yield isBatch(item) ? item : { ...item, ...this.#limits };
  }

  async *followLogs(): AsyncGenerator<FollowItem[], void, undefined> {
    yield* [];
    throw this.#notInSnapshot('new records');
  }

  async logHistogram(query: HistogramQuery): Promise<Histogram> {
    const records = await this.#matching(query);
    const times = records.flatMap(({ timeMs }) => timeMs ?? []);
    const { fromMs = least(times), toMs = most(times) } = query;
    // There are few records: any bucket width gives few buckets.
    const {
      buckets: wished,
      bucketMs = bucketWidth({ spanMs: Math.max(0, toMs - fromMs), bucketMs: undefined, buckets: wished }),
    } = query;
    const counts = new Map<number, Histogram['buckets'][number]['counts']>();
    for (const { timeMs, level = 'NONE' } of records) {
      if (timeMs === undefined) continue;
      const bucket = Math.floor(timeMs / bucketMs);
      const known = counts.get(bucket) ?? {};
      counts.set(bucket, { ...known, [level]: (known[level] ?? 0) + 1 });
    }
    const buckets = [...counts].sort(([a], [b]) => a - b);
    return {
      bucketMs,
      buckets: buckets.map(([bucket, each]) => ({ startMs: bucket * bucketMs, counts: each })),
      untimed: records.length - times.length,
      end: { ...countEnd(records), ...this.#limits },
    };
  }

  async logDigest(query: DigestQuery): Promise<Digest> {
    const records = await this.#matching(query);
    const { newSinceMs, fromMs: _fromMs, ...timeless } = query;
    const past = newSinceMs === undefined ? [] : await this.#matching({ ...timeless, toMs: newSinceMs });
    const times = past.flatMap(({ timeMs }) => timeMs ?? []);
    const fromMs = times.length === 0 ? null : least(times);
    const baseline = { fromMs, isComplete: false, detail: 'a snapshot has only the newest records' };
    return {
      ...groupRecords(records, query, past),
      ungrouped: 0,
      ...(newSinceMs !== undefined && { baseline }),
      end: { ...countEnd(records), ...this.#limits },
    };
  }

  async logFields(query: FieldsQuery): Promise<Fields> {
    const records = await this.#matching(query);
    return { ...countFields(records, query), end: { ...countEnd(records), ...this.#limits } };
  }

  async logTop(query: TopQuery): Promise<Top> {
    const records = await this.#matching(query);
    return { ...countTop(records, query), end: { ...countEnd(records), ...this.#limits } };
  }

  // biome-ignore lint/correctness/useYield: it yields nothing
  async *events(): AsyncGenerator<never, void, undefined> {
    throw this.#notInSnapshot('its events');
  }

  // biome-ignore lint/correctness/useYield: it yields nothing
  async *followEvents(): AsyncGenerator<never, void, undefined> {
    throw this.#notInSnapshot('its events');
  }

  async configHistory(): Promise<ConfigHistory> {
    throw this.#notInSnapshot('the history of its configuration');
  }

  async configVersion(): Promise<ConfigVersion> {
    throw this.#notInSnapshot('the history of its configuration');
  }

  async #matching(query: LogSelection & RecordFilter): Promise<FoundRecord[]> {
    const filter = await snapshotFilter(this.#snapshot, query, this.#matchRegex);
    return filter(this.#snapshot.records);
  }

  #notInSnapshot(what: string): PortholeError {
    const { member, asOfMs } = this.#snapshot;
    const asOf = new Date(asOfMs).toISOString();
    const message = `member "${member.id}" does not respond, and its snapshot of ${asOf} does not contain ${what}`;
    return new PortholeError('UNREACHABLE', message);
  }
}

function countEnd(records: readonly FoundRecord[]): Omit<SearchEnd, 'type' | 'cursor'> {
  const { type: _type, cursor: _cursor, ...end } = snapshotEnd(records);
  return end;
}

function least(times: readonly number[]): number {
  return times.reduce((a, b) => Math.min(a, b), times[0] ?? 0);
}

function most(times: readonly number[]): number {
  return times.reduce((a, b) => Math.max(a, b), times[0] ?? 0);
}

/**
 * Groups records by level and source location, largest first, like a node does with its files. A group without records in
 * the past that is known may have some in the rest of it.
 */
function groupRecords(
  records: readonly FoundRecord[],
  { newSinceMs, onlyNew = false, limit }: DigestQuery,
  past: readonly FoundRecord[],
): Pick<Digest, 'groups' | 'totalGroups'> {
  const groups = new Map<string, DigestGroup>();
  const shapeOf = ({ source, message }: FoundRecord) => (source === undefined ? messageShape(message) : null);
  const merged = mergeShapes([...records, ...past].flatMap((record) => shapeOf(record) ?? []));
  const originOf = (record: FoundRecord) => {
    const { level = null, source = null } = record;
    const own = shapeOf(record);
    const shape = own === null ? null : (merged.get(own) ?? own);
    return { key: JSON.stringify([level, source, shape]), level, source, shape };
  };
  const seen = new Set(past.map((record) => originOf(record).key));
  for (const record of records) {
    const { key, ...origin } = originOf(record);
    const isUnknown = newSinceMs !== undefined && !seen.has(key);
    const known = groups.get(key) ?? { ...EMPTY, ...origin, ...(isUnknown && { isNewUnknown: true }), sample: record };
    groups.set(key, addRecord(known, record));
  }
  const all = [...groups.values()]
    .filter(({ isNewUnknown }) => !onlyNew || isNewUnknown)
    .sort((a, b) => b.count - a.count);
  return { groups: all.slice(0, limit), totalGroups: all.length };
}

const EMPTY = { count: 0, firstMs: null, lastMs: null, isNew: false };

function addRecord(group: DigestGroup, record: FoundRecord): DigestGroup {
  const { timeMs = null } = record;
  const { firstMs, lastMs } = group;
  const isNewest = timeMs !== null && (lastMs === null || timeMs > lastMs);
  return {
    ...group,
    count: group.count + 1,
    firstMs: timeMs !== null && (firstMs === null || timeMs < firstMs) ? timeMs : firstMs,
    lastMs: isNewest ? timeMs : lastMs,
    sample: isNewest ? record : group.sample,
  };
}

/** The snapshot of a member that another one keeps: it is fetched with the first request. */
export class LazySnapshotNode extends DelegatedNode implements NodeState {
  readonly #load: (options: CallOptions) => Promise<NodeState>;

  constructor(load: (options: CallOptions) => Promise<NodeState>) {
    super();
    this.#load = load;
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    return (await this.#load(options)).describe(options);
  }

  async config(options: ConfigOptions = {}): Promise<NodeConfig> {
    return (await this.#load(options)).config(options);
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    return (await this.#load(options)).listLogs(options);
  }

  async viewLog(request: Parameters<NodeState['viewLog']>[0], options: CallOptions = {}): Promise<ByteStream> {
    return (await this.#load(options)).viewLog(request, options);
  }

  protected nodeFor(_operation: unknown, { options }: { options: CallOptions }): Promise<NodeState> {
    return this.#load(options);
  }
}
