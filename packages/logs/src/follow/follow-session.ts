import { Condition } from '../condition.ts';
import { decodePosition, encodePosition } from '../cursor/cursor.ts';
import { LogSources } from '../query/log-sources.ts';
import { RegexConditions } from '../scan/match/regex-conditions.ts';
import { awaitedLater } from '../shared.ts';
import type { CountedItem, FollowItem, FollowQuery, FoundRecord } from '../types.ts';
import { BehindReport } from './behind-report.ts';
import { joinRecords } from './followed-text.ts';
import { emitSince, isStrict } from './history/history.ts';
import type { Permits, Search } from './history/search-history.ts';
import { startFollow } from './history/start-follow.ts';
import type { FollowLimit } from './lazy-follow-hub.ts';
import type { RingListener } from './ring/record-ring.ts';
import { type MatchRegex, pickFilter, type SharedFilter } from './shared-filter.ts';
import { isFollowed, isNamed, type SeenMember, type TailTarget } from './tail/family-files.ts';
import type { LogTail } from './tail/log-tail.ts';
import { type TailPosition, TailReader } from './tail/tail-reader.ts';

/** Logs joined in parallel; each takes a few reads. */
const PARALLEL_JOINS = 16;

/** Opening thousands of logs, or searching what they have, takes seconds: a query is accepted after this. */
const ACCEPT_MS = 250;

/** Logs that are counted: each is kept open, and clients need the rest of `follow.max-logs`. */
const MAX_COUNTED = 200;

/** How long records are gathered for whoever can wait. While all can, logs are read at intervals: then none for who counts. */
const GATHER_MS = 250;
/** The last record of each read is held for a moment: lines may be appended to it. */
const SETTLE_MS = 50;

/** Polls of the logs, at which whoever counts their records reads them; whoever wants their text does at each of them. */
const COUNT_POLLS = 4;

/** How many of the logs that are not followed a `skipped` item names. */
const NAMES_SHOWN = 10;

/** What a follow needs from its hub. */
export interface SessionDeps {
  search: Search;
  permits: Permits;
  matchRegex: MatchRegex;
  /** The logs the query selects; rejects if there is no such log. What is written from then on can be emitted. */
  findTargets(query: FollowQuery): Promise<FoundTargets>;
  /** All logs of the directory as of the last listing, with a version that changes when they do. */
  seen(): { version: number; targets: readonly TailTarget[] };
  /**
   * `isListed`: the target comes from a listing of all logs made just now. Such a log resolves to `undefined` if the
   * limit of followed logs is reached.
   */
  acquireTail(target: TailTarget, options: AcquireOptions): Promise<LogTail | undefined>;
  limit: FollowLimit;
  releaseTail(tail: LogTail): void;
  filterFor(filter: ReturnType<typeof pickFilter>): SharedFilter;
  /** Whether all follows can wait, so that logs are read at intervals. */
  isUnhurried(): boolean;
  /** Whether any file of the log has timestamps near its start. */
  isTimed(target: TailTarget): Promise<boolean>;
  /** Whether its live file is not binary. */
  isText(target: TailTarget): Promise<boolean>;
  /** The time, from any start. */
  now(): number;
}

interface AcquireOptions {
  fromStart: boolean;
  isListed: boolean;
  /** The listing that it comes from. */
  listing?: Listing | undefined;
}

/** The files of each log. */
type Listing = ReadonlyMap<string, readonly SeenMember[]>;

interface FoundTargets {
  targets: readonly TailTarget[];
  /** Names that are selected and not there yet. */
  missing: readonly string[];
  listing: Listing;
  /** Positions in the logs that were read already. */
  positions: ReadonlyMap<LogTail, TailPosition>;
  /** The logs are being read, or no longer needed. */
  release(): void;
}

/** One follow, from its query to its end. */
export class FollowSession {
  /** Notified when there may be something to emit, or new logs, or the follow was ended. */
  readonly changed = new Condition();
  /** Whether logs that appear later may belong to it: all do, or some by their names. */
  readonly followsNew: boolean;
  readonly #logs: LogSources;
  readonly counts: boolean;
  /** It is enough to read the logs at every so many polls; 0: they are read at once. */
  readonly polls: number;
  readonly #query: FollowQuery;
  readonly #deps: SessionDeps;
  readonly #positions: boolean;
  readonly #texts: boolean;
  readonly #readers = new Map<string, TailReader>();
  /** Of logs that are not selected by name. */
  readonly #timedOnly = new Map<TailReader, TimedOnly>();
  /** Logs without timestamps that take part. */
  readonly #untimed = new WeakSet<TailReader>();
  /** Readers with entries not yet taken: of many logs, most are quiet. */
  readonly #ready = new Set<TailReader>();
  readonly #listeners = new Map<LogTail, RingListener>();
  /** Logs beyond the limit of followed logs. */
  readonly #leftOut = new Set<string>();
  #reportedLeftOut = 0;
  readonly #stop = new AbortController();
  readonly #behind: BehindReport;
  #seenVersion = -1;
  #endReason: 'cancelled' | 'stopping' | undefined;
  #endGathering: () => void = () => {};

  constructor(query: FollowQuery, deps: SessionDeps, { positions = false, counts = false, texts = false } = {}) {
    this.counts = counts;
    this.polls = counts ? COUNT_POLLS : texts ? 1 : 0;
    this.#texts = texts;
    this.#query = query;
    this.#deps = deps;
    this.#positions = positions;
    this.#behind = new BehindReport(deps.now);
    this.#logs = new LogSources(query.src);
    this.followsNew = this.#logs.only === undefined;
  }

  get isEnded(): boolean {
    return this.#endReason !== undefined;
  }

  /** Releases everything at once, even if the consumer never pulls the last item. */
  end(reason: 'cancelled' | 'stopping'): void {
    this.#endReason ??= reason;
    this.#stop.abort();
    this.#endGathering();
    for (const { tail } of this.#readers.values()) this.#leave(tail);
    this.#readers.clear();
    this.changed.notify();
  }

  async *items(): AsyncGenerator<CountedItem[], void, undefined> {
    try {
      const found = await this.#accept();
      const opening = awaitedLater(this.#openAll(found));
      // A stale cursor fails the request and not the stream: it is looked for before the first batch.
      const isEarly = this.followsNew && !isStrict(this.#query.start) && !(await isSettled(opening, ACCEPT_MS));
      if (isEarly) yield [];
      const { first, history } = await opening;
      if (!isEarly) yield [];
      yield* this.#reportLeftOut();
      if (found.missing.length > 0) yield found.missing.map((family) => ({ type: 'missing', family }));
      if (!first.done) yield this.#shown(first.value);
      yield* this.#passHistory(history);
      if (this.#positions && !this.isEnded) yield [this.#position()];
      yield* this.#live();
    } catch (error) {
      if (this.#endReason === undefined) throw error;
    }
    yield [{ type: 'end', reason: this.#endReason ?? 'cancelled' }];
  }

  /** Throws for a query that is invalid, or selects a log that does not exist. */
  async #accept(): Promise<FoundTargets> {
    const { start } = this.#query;
    if (typeof start === 'object' && 'cursor' in start) decodePosition(start.cursor);
    for (const regex of RegexConditions.of(pickFilter(this.#query))?.regexes ?? [])
      await this.#deps.matchRegex(regex, [Buffer.alloc(0)], { signal: this.#stop.signal });
    this.#seenVersion = this.#deps.seen().version;
    return this.#deps.findTargets(this.#query);
  }

  async #openAll(found: FoundTargets) {
    await this.#open(found).finally(found.release);
    const readers = [...this.#readers.values()];
    const timed = readers.filter((reader) => !this.#untimed.has(reader) && this.#takesPart(reader));
    const untimed = readers.filter((reader) => this.#untimed.has(reader));
    const isPresent = ({ name, family = name }: TailTarget) => {
      const reader = this.#readers.get(family);
      return !reader || this.#takesPart(reader);
    };
    const present = this.followsNew ? found.targets.filter(isPresent) : undefined;
    const history = startFollow(this.#query.start, { timed, untimed, present }, this.#historyDeps());
    return { history, first: await history.next() };
  }

  async #open({ targets, positions, listing }: FoundTargets): Promise<void> {
    const queue = targets.values();
    const joinNext = async () => {
      for (const target of queue) {
        const reader = await this.#join(target, { fromStart: false, listing });
        if (!reader || !this.followsNew || this.#query.start !== 'end') continue;
        const { tail } = reader;
        const position = positions.get(tail) ?? tail.begun;
        if (position) reader.moveTo(position.seq, position.after);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_JOINS }, joinNext));
    // In the order of the targets, not the order in which they were joined.
    for (const { family, name } of targets) {
      const reader = this.#readers.get(family ?? name);
      if (!reader) continue;
      this.#readers.delete(family ?? name);
      this.#readers.set(family ?? name, reader);
    }
  }

  async #join(target: TailTarget, options: Omit<AcquireOptions, 'isListed'>): Promise<TailReader | undefined> {
    if (this.#endReason !== undefined) return undefined;
    if (this.counts && this.#readers.size >= MAX_COUNTED) {
      this.#leftOut.add(target.family ?? target.name);
      return undefined;
    }
    const tail = await this.#deps.acquireTail(target, { ...options, isListed: this.followsNew });
    if (!tail) this.#leftOut.add(target.family ?? target.name);
    if (!tail) return undefined;
    if (this.#endReason !== undefined) {
      this.#deps.releaseTail(tail);
      return undefined;
    }
    const filter = this.#deps.filterFor(pickFilter(this.#query));
    const { raw = false, fields } = this.#query;
    const reader = new TailReader(tail, { filter, raw, fields, counts: this.counts });
    this.#readers.set(tail.family, reader);
    const listener = {
      notify: () => {
        this.#ready.add(reader);
        this.changed.notify();
        if (this.polls > 0 && reader.isPressed) this.#endGathering();
      },
    };
    this.#listeners.set(tail, listener);
    tail.ring.addListener(listener);
    this.#ready.add(reader);
    // Only now: what is written in between is in the ring, after the reader's position.
    if (this.followsNew && !isNamed(target, this.#logs)) {
      const isTimed = tail.isTimed || (await this.#deps.isTimed(target));
      // Text is recorded whatever is in it.
      const isUntimed = !isTimed && this.#texts && (await this.#deps.isText(target));
      if (isUntimed) this.#untimed.add(reader);
      this.#timedOnly.set(reader, new TimedOnly(isTimed || isUntimed));
    }
    return this.isEnded ? undefined : reader;
  }

  #leave(tail: LogTail): void {
    const listener = this.#listeners.get(tail);
    if (listener) tail.ring.removeListener(listener);
    this.#listeners.delete(tail);
    this.#deps.releaseTail(tail);
  }

  /** Logs that are left out may be followed when the follow resumes, and are not new then. */
  #position(): FollowItem {
    const marks = Array.from(this.#readers.values(), ({ after }) => after).filter((after) => after !== null);
    return { type: 'position', cursor: encodePosition(marks, { isWhole: this.#leftOut.size === 0 }) };
  }

  async *#passHistory(history: AsyncGenerator<FollowItem[], void, undefined>): typeof history {
    for await (const items of history) {
      yield this.#shown(items);
      const readers = [...this.#readers.values()].filter(({ isInHistory, hasMore }) => isInHistory || hasMore);
      yield* this.#reportBehind(readers);
    }
  }

  /** Not to those who count or record: they take what they get. */
  async *#reportBehind(
    readers: readonly TailReader[],
    { isIdle = false } = {},
  ): AsyncGenerator<FollowItem[], void, undefined> {
    if (this.counts || this.#texts) return;
    const items = await this.#behind.next(readers, { isIdle });
    if (items.length > 0 && !this.isEnded) yield items;
  }

  async *#live(): AsyncGenerator<CountedItem[], void, undefined> {
    while (this.#endReason === undefined) {
      if (this.followsNew) yield* this.#joinNew();
      const ready = [...this.#ready];
      this.#ready.clear();
      const texts: CountedItem[] = [];
      for (const reader of ready) {
        if (this.#readers.get(reader.tail.family) !== reader) continue;
        const timedOnly = this.#timedOnly.get(reader);
        const taken = await reader.take({ texts: this.#texts && (timedOnly?.isTimed ?? true) });
        const items = timedOnly?.take(taken) ?? taken;
        // Together: each batch costs a packet, and wakes up both nodes.
        if (this.#texts) for (const item of items) texts.push(item);
        else if (items.length > 0) yield items;
        if (reader.hasMore || reader.tail.failure) this.#ready.add(reader);
      }
      if (texts.length > 0) yield texts;
      yield* this.#reportBehind(ready, { isIdle: this.#ready.size === 0 });
      if (this.#ready.size > 0 || this.#endReason !== undefined) continue;
      await this.changed.wait();
      const isUnhurried = this.#deps.isUnhurried();
      if (this.#texts || (this.counts && !isUnhurried)) await this.#gather(isUnhurried ? SETTLE_MS : GATHER_MS);
    }
  }

  /** Until the time is over, the follow has ended, or what was gathered could be dropped. */
  async #gather(ms: number): Promise<void> {
    if (this.isEnded || [...this.#ready].some(({ isPressed }) => isPressed)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#endGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Reports which logs are not followed and why, whenever there are more of them. */
  *#reportLeftOut(): Generator<FollowItem[], void, undefined> {
    const count = this.#leftOut.size;
    if (count <= this.#reportedLeftOut) return;
    this.#reportedLeftOut = count;
    const names = [...this.#leftOut].slice(0, NAMES_SHOWN).map((name) => JSON.stringify(name));
    const more = count > names.length ? ` and ${count - names.length} more` : '';
    const detail = `${count} logs are not followed (${names.join(', ')}${more}): ${this.#deps.limit.reason}`;
    yield [{ type: 'skipped', count, detail }];
  }

  /** Emits new logs from their start, and leaves logs that no longer exist. */
  async *#joinNew(): AsyncGenerator<FollowItem[], void, undefined> {
    const { version, targets: all } = this.#deps.seen();
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    const targets = all.filter((target) => isFollowed(target, this.#logs));
    const present = new Set(targets.map(({ name, family }) => family ?? name));
    for (const [family, reader] of this.#readers) {
      const { tail, hasMore } = reader;
      if (present.has(family) || hasMore || !tail.isGone) continue;
      this.#readers.delete(family);
      this.#timedOnly.delete(reader);
      this.#leave(tail);
    }
    for (const target of targets) {
      const family = target.family ?? target.name;
      if (this.#readers.has(family) || this.#leftOut.has(family)) continue;
      const reader = await this.#join(target, { fromStart: true });
      if (this.isEnded) return;
      if (!reader) continue;
      if (reader.tail.fromStart && reader.tail.ring.firstSeq === 0) reader.moveTo(0);
      else if (this.#takesPart(reader)) yield* this.#passHistory(emitSince(reader, undefined, this.#historyDeps()));
    }
    for (const family of this.#leftOut) if (!present.has(family)) this.#leftOut.delete(family);
    this.#reportedLeftOut = Math.min(this.#reportedLeftOut, this.#leftOut.size);
    yield* this.#reportLeftOut();
  }

  /** Logs without timestamps do not, unless they are selected by name; where text is wanted, only binary ones. */
  #takesPart(reader: TailReader): boolean {
    return this.#timedOnly.get(reader)?.isTimed ?? true;
  }

  #shown(items: FollowItem[]): FollowItem[] {
    return this.#texts ? joinRecords(items) : items;
  }

  #historyDeps() {
    const { search, permits } = this.#deps;
    return {
      search,
      permits,
      filter: pickFilter(this.#query),
      raw: this.#query.raw ?? false,
      fields: this.#query.fields,
      onlyRaw: this.#texts,
      signal: this.#stop.signal,
    };
  }
}

/** Whether it settles within the time. */
async function isSettled(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const settled = promise.then(
    () => true as const,
    () => true as const, // the caller awaits it, too
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Records buffered before the first timestamp of a new file: a banner, the start of a dump. */
const MAX_HELD = 200;

/**
 * Leaves logs without timestamps out of a follow of all logs, as a search of all logs does. A new log takes part from
 * its first timestamp on; the records before it are buffered and emitted then.
 */
class TimedOnly {
  #isTimed: boolean;
  #held: FoundRecord[] = [];

  constructor(isTimed: boolean) {
    this.#isTimed = isTimed;
  }

  get isTimed(): boolean {
    return this.#isTimed;
  }

  take(items: CountedItem[]): CountedItem[] {
    if (this.#isTimed) return items;
    const first = items.findIndex((item) => item.type === 'record' && item.timeMs !== undefined);
    if (first >= 0) {
      this.#isTimed = true;
      return [...this.#held.splice(0), ...items];
    }
    const records = items.filter((item) => item.type === 'record');
    this.#held = [...this.#held, ...records].slice(0, MAX_HELD);
    return [];
  }
}
