import {
  type CallOptions,
  type NodeDescription,
  type NodeState,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type {
  FollowItem,
  FollowQuery,
  FoundRecord,
  LogFileDetails,
  SearchEnd,
  SearchItem,
  SearchQuery,
} from '@porthole/logs/types';
import { type RecordBatch, toBatches } from '@porthole/records';

export interface FakeNodeOptions {
  /** Oldest first. */
  records?: readonly FoundRecord[];
  batchRecords?: number;
  /** Clock offset. */
  clockOffsetMs?: number;
  /** Overrides a search: throws, waits, or emits something else. */
  search?(query: SearchQuery, options: SearchOptions): AsyncIterable<SearchItem[]>;
  follow?(query: FollowQuery, options: CallOptions): AsyncIterable<FollowItem[]>;
  describe?(options: CallOptions): Promise<NodeDescription>;
}

/** An in-process member that serves records of one file and counts its open streams. */
export class FakeNode implements NodeState {
  openStreams = 0;
  readonly searches: SearchQuery[] = [];
  readonly follows: FollowQuery[] = [];
  readonly #options: FakeNodeOptions;

  constructor(options: FakeNodeOptions = {}) {
    this.#options = options;
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    if (this.#options.describe) return this.#options.describe(options);
    return { clockMs: Date.now() + (this.#options.clockOffsetMs ?? 0) } as NodeDescription;
  }

  search(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    return toBatches<FoundRecord, SearchEnd>(this.#emitted(query, options));
  }

  async *#emitted(query: SearchQuery, options: SearchOptions): AsyncGenerator<SearchItem[], void, undefined> {
    this.searches.push(query);
    this.openStreams++;
    try {
      yield* this.#options.search?.(query, options) ?? this.respond(query);
    } finally {
      this.openStreams--;
    }
  }

  /** Responds like a node. */
  async *respond(query: SearchQuery): AsyncGenerator<SearchItem[], void, undefined> {
    const { records = [], batchRecords = 3 } = this.#options;
    const { fromMs = -Infinity, toMs = Infinity, order, limit } = query;
    const isIn = ({ timeMs }: FoundRecord) =>
      timeMs === undefined ? query.fromMs === undefined && query.toMs === undefined : timeMs >= fromMs && timeMs < toMs;
    const inOrder = order === 'newest' ? [...records].reverse() : records;
    const rest = inOrder.slice(startIndex(inOrder, query)).filter(isIn);
    const returned = rest.slice(0, limit);
    yield [];
    for (let at = 0; at < returned.length; at += batchRecords) yield returned.slice(at, at + batchRecords);
    const cursor = rest.length > returned.length ? (returned.at(-1)?.cursor ?? null) : null;
    yield [endItem({ records: returned.length, cursor, ...toCoverage(records.filter(isIn), returned) })];
  }

  async *followLogs(query: FollowQuery, options: CallOptions = {}): AsyncGenerator<FollowItem[], void, undefined> {
    this.follows.push(query);
    this.openStreams++;
    try {
      yield* this.#options.follow?.(query, options) ?? refuse();
    } finally {
      this.openStreams--;
    }
  }

  async logFiles(): Promise<LogFileDetails[]> {
    return [];
  }

  config = refused;
  settings = refused;
  listLogs = refused;
  viewLog = refused;
  openLog = refused;
  logHistogram = refused;
  logDigest = refused;
  logFields = refused;
  logTop = refused;
  events: NodeState['events'] = refuse;
  followEvents: NodeState['followEvents'] = refuse;
  configHistory = refused;
  configVersion = refused;
}

async function refused(): Promise<never> {
  throw notSupported();
}

// biome-ignore lint/correctness/useYield: it yields nothing
async function* refuse(): AsyncGenerator<never, void, undefined> {
  throw notSupported();
}

export function notSupported(): PortholeError {
  return new PortholeError('NOT_SUPPORTED', 'the node has no /api/v1/log/search');
}

/** Index of the first record of the response. */
function startIndex(inOrder: readonly FoundRecord[], { start, order }: SearchQuery): number {
  if (start === undefined) return 0;
  if ('cursor' in start) return inOrder.findIndex(({ cursor }) => cursor === start.cursor) + 1;
  if ('record' in start) return inOrder.findIndex(({ cursor }) => cursor === start.record);
  if (!('timeMs' in start)) return 0;
  const { timeMs: startMs } = start;
  const isReached = ({ timeMs = 0 }: FoundRecord) => (order === 'newest' ? timeMs < startMs : timeMs >= startMs);
  const begin = inOrder.findIndex(isReached);
  return begin < 0 ? inOrder.length : begin;
}

/** Coverage of sorted records: what lies between those not emitted. */
function toCoverage(records: readonly FoundRecord[], returned: readonly FoundRecord[]): Partial<SearchEnd> {
  const times = (some: readonly FoundRecord[]) => some.flatMap(({ timeMs }) => timeMs ?? []);
  const own = new Set(returned);
  const first = records.findIndex((candidate) => own.has(candidate));
  if (first < 0) return {};
  const before = times(records.slice(0, first));
  const behind = times(records.slice(first + returned.length));
  const fromMs = before.length > 0 ? Math.max(...before) + 1 : Math.min(...times(records));
  const toMs = behind.length > 0 ? Math.min(...behind) - 1 : Math.max(...times(records));
  return fromMs <= toMs ? { coveredFromMs: fromMs, coveredToMs: toMs } : {};
}

export function endItem(facts: Partial<SearchEnd> = {}): SearchEnd {
  const { cursor = null } = facts;
  return {
    type: 'end',
    reason: cursor === null ? 'exhausted' : 'limit',
    records: 0,
    scannedBytes: 10,
    skippedBytes: 0,
    scannedFiles: 1,
    coveredFromMs: null,
    coveredToMs: null,
    problems: [],
    elapsedMs: 0,
    ...facts,
    cursor,
  };
}

/** A record of one file; `NaN` for no timestamp. */
export function record(message: string, timeMs: number, index = 0): FoundRecord {
  const time = Number.isNaN(timeMs) ? {} : { timeMs };
  return { type: 'record', file: 'a.log', offset: index * 10, bytes: 10, cursor: `c${index}`, message, ...time };
}

/** Records at these times by the clock of the member, oldest first. */
export function recordsAt(name: string, times: readonly number[]): FoundRecord[] {
  return times.map((timeMs, index) => record(`${name}${index}`, timeMs, index));
}

/** Never emits anything and ends only when the signal aborts; with `deaf`, not even then. */
export async function* silence(signal?: AbortSignal): AsyncGenerator<never, void, undefined> {
  await new Promise<void>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
