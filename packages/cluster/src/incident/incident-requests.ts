import {
  type ClusterDigest,
  type ClusterEnd,
  type ClusterHistogram,
  type ClusterRecord,
  type ClusterState,
  type ConfigPeriod,
  type Coverage,
  coverageOf,
  type IncidentRequest,
  isEventKind,
  type MemberReport,
  type MemberSelection,
  type Missing,
  type NodeEvent,
  type SearchOptions,
  toEvent,
} from '@porthole/contract';
import type { RecordFilter, SearchQuery } from '@porthole/logs/types';
import { type RecordBatch, toItems } from '@porthole/records';

/** What a report needs of a cluster; one node is a cluster with one selected member. */
export type IncidentSource = Pick<
  ClusterState,
  'logHistogram' | 'logDigest' | 'logTop' | 'search' | 'events' | 'configHistory'
>;

export interface IncidentOptions extends SearchOptions {
  /** Whether values of settings may be shown: for the role `config`. */
  withValues?: boolean;
}

/** For all requests together, unless the request allows less. */
const BUDGET_MS = 20_000;

/** Events of a day of a large cluster; of more, the newest. */
const MAX_EVENTS = 2000;

/** Enough to see which nodes had a pattern first, and what its records have in common. */
const FIRST_RECORDS = 200;

const MAX_GROUPS = 500;
const MAX_VALUES = 20;

/** An event and the node that wrote it, by the clock of the responding node. */
export interface ClusterEvent extends Omit<NodeEvent, 'cursor' | 'level'> {
  node: string;
  /** `null`: nobody wrote it. */
  record: ClusterRecord | null;
}

interface ReportedResponse {
  members: MemberReport[];
  coverage?: Coverage;
}

interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** Asks what a report is made of, within one time budget, and keeps what the responses lack. */
export class IncidentRequests {
  asked = 0;
  readonly #source: IncidentSource;
  readonly #selection: MemberSelection;
  readonly #filter: Pick<RecordFilter, 'query'>;
  readonly #options: IncidentOptions;
  readonly #endsMs: number;
  readonly #missing = new Map<string, Missing>();
  readonly #members = new Map<string, MemberReport>();

  constructor(source: IncidentSource, request: IncidentRequest, options: IncidentOptions) {
    const { fromMs: _from, toMs: _to, query, ...selection } = request;
    this.#source = source;
    this.#selection = selection;
    this.#filter = query ? { query } : {};
    this.#options = options;
    this.#endsMs = performance.now() + Math.min(options.budgetMs ?? Infinity, BUDGET_MS);
  }

  /** Whether there is time for another request; if not, what it was about is missing. */
  mayAsk(about: string): boolean {
    if (this.#endsMs - performance.now() > 50) return true;
    this.#lacks({ node: null, reason: 'time budget', detail: `${about} not read`, asOfMs: null, isExpected: false });
    return false;
  }

  /** The worst report of each member. */
  get members(): MemberReport[] {
    return [...this.#members.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  get missing(): Missing[] {
    return [...this.#missing.values()];
  }

  async histogram(range: TimeRange, bucketMs: number, filter: RecordFilter = {}): Promise<ClusterHistogram> {
    const { query } = filter;
    const request = { ...this.#conditions(range), ...filter, bucketMs, buckets: 1, ...(query && this.#and(query)) };
    return this.#keep(await this.#source.logHistogram(request, this.#limits()), range);
  }

  async digest(range: TimeRange, minLevel?: 'WARN'): Promise<ClusterDigest> {
    const request = { ...this.#conditions(range), limit: MAX_GROUPS, ...(minLevel && { minLevel }) };
    return this.#keep(await this.#source.logDigest(request, this.#limits()), range);
  }

  /** The same with what is new; how much of the past was read is in its baseline. */
  async newGroups(range: TimeRange): Promise<ClusterDigest> {
    const limits = { limit: MAX_GROUPS, minLevel: 'WARN', newSinceMs: range.fromMs } as const;
    return this.#source.logDigest({ ...this.#conditions(range), ...limits }, this.#limits());
  }

  async top(range: TimeRange, by: string, more: { minLevel?: 'ERROR' | 'WARN'; values?: readonly string[] } = {}) {
    const request = { ...this.#conditions(range), by, limit: MAX_VALUES, ...more };
    return this.#keep(await this.#source.logTop(request, this.#limits()), range);
  }

  /** The first records that match, with their fields. */
  async first(range: TimeRange, filter: Partial<RecordFilter>): Promise<ClusterRecord[]> {
    const { query } = filter;
    const request: SearchQuery = {
      ...this.#conditions(range),
      ...filter,
      ...(query && this.#and(query)),
      ...{ order: 'oldest', limit: FIRST_RECORDS, before: 0, after: 0, fields: ['*'] },
    };
    return this.#records(this.#source.search({ ...request, ...this.#selection }, this.#limits()), range);
  }

  /** Oldest first. */
  async events(range: TimeRange): Promise<ClusterEvent[]> {
    const request: SearchQuery = { ...range, order: 'newest', limit: MAX_EVENTS, before: 0, after: 0 };
    const found = this.#source.events({ ...request, ...this.#selection }, this.#limits());
    const records = await this.#records(found, range, 'events');
    return records
      .flatMap((record) => {
        const event = toEvent(record);
        if (!event) return [];
        // What a node says of its own end is more than what others have seen of it.
        const { reported } = event.fields;
        const kind = isEventKind(reported) ? reported : event.kind;
        return [{ ...event, kind, timeMs: record.atMs ?? event.timeMs, node: record.node, record }];
      })
      .sort((a, b) => a.timeMs - b.timeMs);
  }

  /** What the configurations of a node became, newest first; only for clients that may read them. */
  async configHistory(): Promise<Map<string, readonly ConfigPeriod[]>> {
    if (!this.#options.withValues) return new Map();
    this.asked++;
    const { nodes } = await this.#source.configHistory({ limit: 50, ...this.#selection }, this.#call());
    return new Map(nodes.flatMap(({ id, history }) => (history ? [[id, history.periods]] : [])));
  }

  async #records(
    found: AsyncIterable<RecordBatch | ClusterEnd>,
    range: TimeRange,
    what?: 'events',
  ): Promise<ClusterRecord[]> {
    const records: ClusterRecord[] = [];
    for await (const items of toItems<ClusterRecord, ClusterEnd>(found))
      for (const item of items) {
        if (item.type === 'record') records.push(item);
        // Only the first records of a pattern are asked for.
        else if (what === 'events' || item.reason !== 'limit') this.#keep(item, range, what);
      }
    return records;
  }

  #conditions({ fromMs, toMs }: TimeRange) {
    return { fromMs, toMs, ...this.#filter, ...this.#selection };
  }

  #and(query: NonNullable<RecordFilter['query']>): Pick<RecordFilter, 'query'> {
    const given = this.#filter.query;
    return { query: given ? { kind: 'and', nodes: [given, query] } : query };
  }

  #call(): SearchOptions {
    const { signal, client } = this.#options;
    return { ...(signal && { signal }), client };
  }

  #limits(): SearchOptions {
    this.asked++;
    return { ...this.#call(), budgetMs: Math.max(1, Math.round(this.#endsMs - performance.now())) };
  }

  #lacks(part: Missing): void {
    // A member that does not respond is one problem, whatever it is asked for.
    const key = `${part.node} ${part.reason} ${isSilence(part) ? '' : part.detail}`;
    if (!this.#missing.has(key)) this.#missing.set(key, part);
  }

  #keep<T extends ReportedResponse>(response: T, range: TimeRange, what?: 'events'): T {
    const { missing } = coverageOf(response, range);
    for (const part of missing) {
      const isOfEvents = what !== undefined && !isSilence(part);
      this.#lacks(isOfEvents ? { ...part, detail: `events: ${part.detail ?? part.reason}` } : part);
    }
    // A node without events is not one without logs.
    for (const report of what ? [] : response.members) {
      const known = this.#members.get(report.id);
      const isWorse = known?.outcome === 'ok' && (report.outcome !== 'ok' || (report.isPartial && !known.isPartial));
      if (!known || isWorse) this.#members.set(report.id, report);
    }
    return response;
  }
}

/** Whether it is a member as a whole, not a part of what it has. */
function isSilence({ node, reason }: Missing): boolean {
  return node !== null && reason !== 'part' && reason !== 'unreadable' && reason !== 'not supported';
}
