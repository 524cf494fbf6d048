import type { ExchangeRequest, ExchangeResponse, MemberEntry, MemberOutcome, MemberSample } from '@porthole/contract';
import type { Beat, Digest, ReadExchange } from './read-exchange.ts';

/** Samples in one response, about a megabyte; the rest comes with the next. */
const MAX_ENTRIES = 3000;

/** Failures in one response. */
const MAX_FAILING = 256;

/** A sign of life is out of date after this many times the time it counts. */
const EXPIRED = 2;

/** How this node last failed to contact a member. */
export interface MemberFailure {
  atMs: number;
  outcome: MemberOutcome;
  detail: string | null;
}

/** A sample of a member: true at `atMs` or later. */
export interface KnownSample {
  run: number;
  seq: number;
  atMs: number;
  value: MemberSample;
}

/**
 * What this node knows of a member: it was alive between `aliveMs` and `aliveMs + slackMs`. All times are by the
 * monotonic clock of this node.
 */
export interface MemberRow {
  readonly id: string;
  /** The run of the member and its last sign of life in that run; a larger pair is newer. */
  run: number;
  beat: number;
  aliveMs: number;
  slackMs: number;
  /** What its clock showed then; 0 if that is not known. */
  clockMs: number;
  /** It does not take part: another member looks at it. */
  isSampled: boolean;
  sample: KnownSample | undefined;
  /** Why this node could not contact it, until it responds to this node. */
  failure: MemberFailure | undefined;
  /** When other members last failed to contact it. */
  reportedMs: number;
}

/**
 * `fresh`: there is a recent sign of life, and no later failure. `failed`: this node could not contact it a moment ago.
 * `unverified`: neither; only the member itself can say.
 */
export type RowState = 'fresh' | 'failed' | 'unverified';

export interface MemberTableOptions {
  selfId: string;
  /** Of this run of this node: larger than those before it. */
  run: number;
  /** A sign of life counts for this long: news travels more slowly among thousands of members. */
  freshMs(): number;
  /** A failure counts for this long. */
  failedMs: number;
}

export interface HeardMember {
  /** When the request was sent: the member was alive then or later. */
  atMs: number;
  /** How long the response took. */
  slackMs: number;
  clockMs?: number;
  sample?: MemberSample;
  /** The member does not take part, and this node looks at it for the others. */
  isSampler?: boolean;
}

export interface MergeOptions {
  /** The member that responded. */
  from: string;
  sentMs: number;
  nowMs: number;
}

/**
 * What is known of every registered member, merged from what members say. A newer sign of life replaces an older one,
 * never the reverse, and no age is ever too young: each hop adds the whole time of its request. The caller passes the time.
 */
export class MemberTable {
  readonly #options: MemberTableOptions;
  #rows = new Map<string, MemberRow>();
  #firstBeatMs = Infinity;
  #duplicateMs = -Infinity;

  constructor(options: MemberTableOptions) {
    this.#options = options;
    this.setMembers([]);
    this.#own.run = options.run;
  }

  /** The registered members: rows of others are dropped, and nothing is accepted about them. This node is always one. */
  setMembers(ids: readonly string[]): void {
    const rows = new Map<string, MemberRow>();
    for (const id of [...ids, this.#options.selfId]) rows.set(id, this.#rows.get(id) ?? newRow(id));
    this.#rows = rows;
  }

  get(id: string): Readonly<MemberRow> | undefined {
    return this.#rows.get(id);
  }

  rows(): Iterable<Readonly<MemberRow>> {
    return this.#rows.values();
  }

  /** When another node was last seen under the id of this one; -Infinity: never. */
  get duplicateMs(): number {
    return this.#duplicateMs;
  }

  stateOf(id: string, nowMs: number): RowState {
    const row = this.#rows.get(id);
    if (row === undefined) return 'unverified';
    const { failure, aliveMs, reportedMs, sample } = row;
    const { failedMs, freshMs } = this.#options;
    // Once it did not respond to this node, only its response counts: others may lie, or see another network.
    if (failure) return aliveMs <= failure.atMs && nowMs - failure.atMs <= failedMs ? 'failed' : 'unverified';
    if (reportedMs > aliveMs || sample === undefined) return 'unverified';
    return nowMs - aliveMs <= freshMs() ? 'fresh' : 'unverified';
  }

  /** The next sign of life of this node. */
  beat({ nowMs, clockMs }: { nowMs: number; clockMs: number }): void {
    this.#firstBeatMs = Math.min(this.#firstBeatMs, nowMs);
    const own = this.#own;
    Object.assign(own, { beat: own.beat + 1, aliveMs: nowMs, slackMs: 0, clockMs });
  }

  /** A new sample of this node. */
  publish(value: MemberSample, atMs: number): void {
    const own = this.#own;
    own.sample = { run: own.run, seq: (own.sample?.seq ?? 0) + 1, atMs, value };
  }

  /** A member responded to this node. */
  heard(id: string, { atMs, slackMs, clockMs, sample: value, isSampler = false }: HeardMember): void {
    const row = this.#rows.get(id);
    if (!row) return;
    row.failure = undefined;
    // Without its clock it says less than what is known, unless that is older.
    const isNews = clockMs === undefined ? atMs > row.aliveMs + row.slackMs : atMs >= row.aliveMs;
    if (isNews) Object.assign(row, { aliveMs: atMs, slackMs, clockMs: clockMs ?? 0 });
    if (isSampler) Object.assign(row, { isSampled: true, beat: row.beat + 1 });
    if (value === undefined || atMs < (row.sample?.atMs ?? -Infinity)) return;
    const seq = row.sample?.run === row.run ? row.sample.seq : 0;
    row.sample = { run: row.run, seq: isSampler ? seq + 1 : seq, atMs, value };
  }

  /** This node could not contact a member. */
  failed(id: string, failure: MemberFailure): void {
    const row = this.#rows.get(id);
    if (row && id !== this.#options.selfId) row.failure = failure;
  }

  digest(): ExchangeRequest {
    const have: ExchangeRequest['have'] = [];
    for (const { id, run, beat, sample } of this.#rows.values())
      if (beat > 0) have.push(id, run, beat, sample?.run === run ? sample.seq : -1);
    return { have };
  }

  /** What the sender of a digest lacks. */
  respond(have: Digest, nowMs: number): ExchangeResponse {
    const response: ExchangeResponse = { beats: [], entries: [], failing: [] };
    for (const row of this.#rows.values()) {
      if (row.beat > 0) this.#addNews(response, { row, have, nowMs });
      const failedMs = Math.max(row.failure?.atMs ?? -Infinity, row.reportedMs);
      const isFailing = failedMs > row.aliveMs && nowMs - failedMs <= this.#options.freshMs();
      if (isFailing && response.failing.length < 2 * MAX_FAILING)
        response.failing.push(row.id, Math.ceil(nowMs - failedMs));
    }
    return response;
  }

  /** Takes over the response of a member; returns the ids of those with a new sign of life. */
  merge({ beats, entries, failing }: ReadExchange, options: MergeOptions): string[] {
    const renewed: string[] = [];
    for (const beat of beats) if (this.#mergeBeat(beat, options)) renewed.push(beat.id);
    for (const entry of entries) this.#mergeEntry(entry, options);
    for (const { id, ageMs } of failing) {
      const row = this.#rows.get(id);
      if (row && id !== this.#options.selfId) row.reportedMs = Math.max(row.reportedMs, options.sentMs - ageMs);
    }
    return renewed;
  }

  #addNews(
    { beats, entries }: ExchangeResponse,
    { row, have, nowMs }: { row: MemberRow; have: Digest; nowMs: number },
  ): void {
    const { id, run, beat, aliveMs, slackMs, clockMs, isSampled, sample } = row;
    const theirs = have.get(id);
    // What they have of this node may be made up, so it is always sent.
    const isNews = id === this.#options.selfId || theirs === undefined || theirs.run !== run;
    if (isNews || beat > theirs.beat)
      beats.push(id, run, beat, Math.ceil(nowMs - aliveMs), Math.ceil(slackMs) + 1, clockMs, isSampled ? 1 : 0);
    const isNewSample = sample?.run === run && (isNews ? sample.seq !== theirs?.seq : sample.seq > theirs.seq);
    if (isNewSample && entries.length < MAX_ENTRIES)
      entries.push({ id, run, seq: sample.seq, ageMs: Math.ceil(nowMs - sample.atMs), sample: sample.value });
  }

  #mergeBeat(beat: Beat, { from, sentMs, nowMs }: MergeOptions): boolean {
    const { id, run, ageMs, isSampled, clockMs } = beat;
    const row = this.#rows.get(id);
    if (!row) return false;
    const aliveMs = sentMs - ageMs;
    if (id === this.#options.selfId) {
      // Of another run, since this one began: another node has the same id.
      if (run !== row.run && aliveMs > this.#firstBeatMs) this.#duplicateMs = nowMs;
      return false;
    }
    const slackMs = beat.slackMs + nowMs - sentMs;
    const isNewer = run > row.run || (run === row.run && beat.beat > row.beat);
    // A run can have a smaller number than the one before it if a clock was set back, and numbers can be made up. What
    // is certainly later counts if the member itself says it, or if nothing else was heard of it for long; what is
    // certainly earlier never does.
    const isEarlier = aliveMs + slackMs < row.aliveMs;
    const isLater = aliveMs > row.aliveMs + row.slackMs;
    const isOutdated = nowMs - row.aliveMs > EXPIRED * this.#options.freshMs();
    const isTrusted = id === from || isOutdated;
    if (!(isNewer && !isEarlier) && !(isLater && isTrusted)) return false;
    row.run = run;
    row.beat = beat.beat;
    row.isSampled = isSampled;
    if (aliveMs < row.aliveMs) return false;
    row.aliveMs = aliveMs;
    row.slackMs = slackMs;
    row.clockMs = clockMs;
    return true;
  }

  /** Only of the run that is known to be the last. */
  #mergeEntry({ id, run, seq, ageMs, sample: value }: MemberEntry, { from, sentMs }: MergeOptions): void {
    const row = this.#rows.get(id);
    if (!row || id === this.#options.selfId || run !== row.run) return;
    const isNewer = row.sample?.run !== run || seq > row.sample.seq;
    const isLater = id === from && sentMs - ageMs > (row.sample?.atMs ?? -Infinity);
    if (isNewer || isLater) row.sample = { run, seq, atMs: sentMs - ageMs, value };
  }

  get #own(): MemberRow {
    return this.#rows.get(this.#options.selfId) as MemberRow;
  }
}

function newRow(id: string): MemberRow {
  const nothing = { run: 0, beat: 0, aliveMs: -Infinity, slackMs: 0, clockMs: 0, reportedMs: -Infinity };
  return { id, ...nothing, isSampled: false, sample: undefined, failure: undefined };
}
