import type { FollowItem, FollowQuery } from '../types.ts';
import type { FollowLimit } from './follow-limit.ts';
import { emitSince, type Search } from './history/history.ts';
import type { Permits } from './history/merge-streams.ts';
import { startFollow } from './history/start-follow.ts';
import { Latch } from './latch.ts';
import type { RingListener } from './ring/record-ring.ts';
import { type MatchRegex, pickFilter, type SharedFilter } from './shared-filter.ts';
import type { LogTail, TailTarget } from './tail/log-tail.ts';
import { TailReader } from './tail-reader.ts';
import { TimedOnly } from './timed-only.ts';

/** Logs joined at the same time: each takes some reads. */
const PARALLEL_JOINS = 16;

/** Names of logs in a report of those that are not followed. */
const NAMES_SHOWN = 10;

/** What a follow needs of its hub. */
export interface SessionDeps {
  search: Search;
  permits: Permits;
  matchRegex: MatchRegex;
  /** What the query asks for; rejects where there is no such log. */
  findTargets(query: FollowQuery): Promise<TailTarget[]>;
  /** All logs of the directory as last seen, and a number that changes with them. */
  seen(): { version: number; targets: readonly TailTarget[] };
  /**
   * `isListed`: one of all logs, which were listed just now. Of these, `undefined` for one that is beyond what may be
   * followed at a time.
   */
  acquireTail(target: TailTarget, options: { fromStart: boolean; isListed: boolean }): Promise<LogTail | undefined>;
  limit: FollowLimit;
  releaseTail(tail: LogTail): void;
  filterFor(filter: ReturnType<typeof pickFilter>): SharedFilter;
  /** Whether a file of the log has timestamps near its start. */
  isTimed(target: TailTarget): Promise<boolean>;
}

/** One follow, from its query to its end. */
export class FollowSession {
  readonly latch = new Latch();
  readonly followsAll: boolean;
  readonly #query: FollowQuery;
  readonly #deps: SessionDeps;
  readonly #readers = new Map<string, TailReader>();
  /** Of a follow of all logs. */
  readonly #timedOnly = new Map<TailReader, TimedOnly>();
  /** Those with entries that were not looked at yet: of many logs, most are quiet. */
  readonly #ready = new Set<TailReader>();
  readonly #listeners = new Map<LogTail, RingListener>();
  /** Logs beyond what may be followed at a time. */
  readonly #leftOut = new Set<string>();
  #reportedLeftOut = 0;
  readonly #stop = new AbortController();
  #seenVersion = -1;
  #endReason: 'cancelled' | 'stopping' | undefined;

  constructor(query: FollowQuery, deps: SessionDeps) {
    this.#query = query;
    this.#deps = deps;
    this.followsAll = query.file === undefined && query.family === undefined;
  }

  get isEnded(): boolean {
    return this.#endReason !== undefined;
  }

  /** Gives everything back at once, even if nobody asks for the last item. */
  end(reason: 'cancelled' | 'stopping'): void {
    this.#endReason ??= reason;
    this.#stop.abort();
    for (const { tail } of this.#readers.values()) this.#leave(tail);
    this.#readers.clear();
    this.latch.signal();
  }

  async *items(): AsyncGenerator<FollowItem[], void, undefined> {
    try {
      await this.#open();
      const timed = [...this.#readers.values()].filter((reader) => this.#timedOnly.get(reader)?.isTimed ?? true);
      const history = startFollow(this.#query.start, timed, this.#historyDeps());
      // Before the first batch, so that a cursor that leads nowhere fails the request and not the stream.
      const first = await history.next();
      yield [];
      yield* this.#reportLeftOut();
      if (!first.done) yield first.value;
      yield* history;
      yield* this.#live();
    } catch (error) {
      if (this.#endReason === undefined) throw error;
    }
    yield [{ type: 'end', reason: this.#endReason ?? 'cancelled' }];
  }

  async #open(): Promise<void> {
    const filter = pickFilter(this.#query);
    if (filter.regex !== undefined)
      await this.#deps.matchRegex(filter, [Buffer.alloc(0)], { signal: this.#stop.signal });
    this.#seenVersion = this.#deps.seen().version;
    const targets = await this.#deps.findTargets(this.#query);
    const queue = targets.values();
    const joinNext = async () => {
      for (const target of queue) await this.#join(target, { fromStart: false });
    };
    await Promise.all(Array.from({ length: PARALLEL_JOINS }, joinNext));
    // In the order of the logs, not in that of their joining.
    for (const { family, name } of targets) {
      const reader = this.#readers.get(family ?? name);
      if (!reader) continue;
      this.#readers.delete(family ?? name);
      this.#readers.set(family ?? name, reader);
    }
  }

  async #join(target: TailTarget, { fromStart }: { fromStart: boolean }): Promise<TailReader | undefined> {
    if (this.#endReason !== undefined) return undefined;
    const tail = await this.#deps.acquireTail(target, { fromStart, isListed: this.followsAll });
    if (!tail) this.#leftOut.add(target.family ?? target.name);
    if (!tail) return undefined;
    if (this.#endReason !== undefined) {
      this.#deps.releaseTail(tail);
      return undefined;
    }
    const filter = this.#deps.filterFor(pickFilter(this.#query));
    const reader = new TailReader(tail, { filter, raw: this.#query.raw ?? false });
    this.#readers.set(tail.family, reader);
    const listener = {
      signal: () => {
        this.#ready.add(reader);
        this.latch.signal();
      },
    };
    this.#listeners.set(tail, listener);
    tail.ring.addListener(listener);
    this.#ready.add(reader);
    // Only now: what is written between the two looks is in the ring, behind the reader's position.
    if (this.followsAll) this.#timedOnly.set(reader, new TimedOnly(tail.isTimed || (await this.#deps.isTimed(target))));
    return this.isEnded ? undefined : reader;
  }

  #leave(tail: LogTail): void {
    const listener = this.#listeners.get(tail);
    if (listener) tail.ring.removeListener(listener);
    this.#listeners.delete(tail);
    this.#deps.releaseTail(tail);
  }

  async *#live(): AsyncGenerator<FollowItem[], void, undefined> {
    while (this.#endReason === undefined) {
      if (this.followsAll) yield* this.#joinNew();
      const ready = [...this.#ready];
      this.#ready.clear();
      for (const reader of ready) {
        if (this.#readers.get(reader.tail.family) !== reader) continue;
        const taken = await reader.take();
        const items = this.#timedOnly.get(reader)?.take(taken) ?? taken;
        if (items.length > 0) yield items;
        if (reader.hasMore) this.#ready.add(reader);
      }
      if (this.#ready.size === 0 && this.#endReason === undefined) await this.latch.wait();
    }
  }

  /** Which logs are not followed, and why: once for each that was left out. */
  *#reportLeftOut(): Generator<FollowItem[], void, undefined> {
    const count = this.#leftOut.size;
    if (count <= this.#reportedLeftOut) return;
    this.#reportedLeftOut = count;
    const names = [...this.#leftOut].slice(0, NAMES_SHOWN).map((name) => JSON.stringify(name));
    const more = count > names.length ? ` and ${count - names.length} more` : '';
    const detail = `${count} logs are not followed (${names.join(', ')}${more}): ${this.#deps.limit.reason}`;
    yield [{ type: 'skipped', count, detail }];
  }

  /** Logs that appeared since are told from their start; those that are gone for long are left. */
  async *#joinNew(): AsyncGenerator<FollowItem[], void, undefined> {
    const { version, targets } = this.#deps.seen();
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
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
      else if (this.#timedOnly.get(reader)?.isTimed ?? true) yield* emitSince(reader, undefined, this.#historyDeps());
    }
    for (const family of this.#leftOut) if (!present.has(family)) this.#leftOut.delete(family);
    this.#reportedLeftOut = Math.min(this.#reportedLeftOut, this.#leftOut.size);
    yield* this.#reportLeftOut();
  }

  #historyDeps() {
    const { search, permits } = this.#deps;
    return {
      search,
      permits,
      filter: pickFilter(this.#query),
      raw: this.#query.raw ?? false,
      signal: this.#stop.signal,
    };
  }
}
