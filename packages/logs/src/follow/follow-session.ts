import type { FollowItem, FollowQuery } from '../types.ts';
import { Bell } from './bell.ts';
import { type Search, tellSince } from './history.ts';
import type { LogTail, TailTarget } from './log-tail.ts';
import type { Permits } from './merge-streams.ts';
import { filterOf, type MatchRegex, type SharedFilter } from './shared-filter.ts';
import { startFollow } from './start-follow.ts';
import { TailReader } from './tail-reader.ts';
import { TimedOnly } from './timed-only.ts';

/** What a follow needs of its hub. */
export interface SessionParts {
  search: Search;
  permits: Permits;
  matchRegex: MatchRegex;
  /** What the query asks for; rejects where there is no such log. */
  targetsOf(query: FollowQuery): Promise<TailTarget[]>;
  /** All logs of the directory as last seen, and a number that changes with them. */
  seen(): { version: number; targets: readonly TailTarget[] };
  takeTail(target: TailTarget, options: { fromStart: boolean }): Promise<LogTail>;
  leaveTail(tail: LogTail): void;
  filterFor(filter: ReturnType<typeof filterOf>): SharedFilter;
  /** Whether a file of the log has timestamps near its start. */
  isTimed(target: TailTarget): Promise<boolean>;
}

/** One follow, from its query to its end. */
export class FollowSession {
  readonly bell = new Bell();
  readonly followsAll: boolean;
  readonly #query: FollowQuery;
  readonly #parts: SessionParts;
  readonly #readers = new Map<string, TailReader>();
  /** Of a follow of all logs. */
  readonly #timedOnly = new Map<TailReader, TimedOnly>();
  readonly #stop = new AbortController();
  #seenVersion = -1;
  #endReason: 'cancelled' | 'stopping' | undefined;

  constructor(query: FollowQuery, parts: SessionParts) {
    this.#query = query;
    this.#parts = parts;
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
    this.bell.ring();
  }

  async *items(): AsyncGenerator<FollowItem[], void, undefined> {
    try {
      await this.#open();
      const timed = [...this.#readers.values()].filter((reader) => this.#timedOnly.get(reader)?.isTimed ?? true);
      const history = startFollow(this.#query.start, timed, this.#historyParts());
      // Before the first batch, so that a cursor that leads nowhere fails the request and not the stream.
      const first = await history.next();
      yield [];
      if (!first.done) yield first.value;
      yield* history;
      yield* this.#live();
    } catch (error) {
      if (this.#endReason === undefined) throw error;
    }
    yield [{ type: 'end', reason: this.#endReason ?? 'cancelled' }];
  }

  async #open(): Promise<void> {
    const filter = filterOf(this.#query);
    if (filter.regex !== undefined)
      await this.#parts.matchRegex(filter, [Buffer.alloc(0)], { signal: this.#stop.signal });
    this.#seenVersion = this.#parts.seen().version;
    for (const target of await this.#parts.targetsOf(this.#query)) await this.#join(target, { fromStart: false });
  }

  async #join(target: TailTarget, { fromStart }: { fromStart: boolean }): Promise<TailReader | undefined> {
    if (this.#endReason !== undefined) return undefined;
    const tail = await this.#parts.takeTail(target, { fromStart });
    if (this.#endReason !== undefined) {
      this.#parts.leaveTail(tail);
      return undefined;
    }
    const filter = this.#parts.filterFor(filterOf(this.#query));
    const reader = new TailReader(tail, { filter, raw: this.#query.raw ?? false });
    this.#readers.set(tail.family, reader);
    tail.ring.listen(this.bell);
    // Only now: what is written between the two looks is in the ring, behind the reader's position.
    if (this.followsAll) this.#timedOnly.set(reader, new TimedOnly(await this.#parts.isTimed(target)));
    return this.isEnded ? undefined : reader;
  }

  #leave(tail: LogTail): void {
    tail.ring.leave(this.bell);
    this.#parts.leaveTail(tail);
  }

  async *#live(): AsyncGenerator<FollowItem[], void, undefined> {
    while (this.#endReason === undefined) {
      if (this.followsAll) yield* this.#joinNew();
      let more = false;
      for (const reader of this.#readers.values()) {
        const taken = await reader.take();
        const items = this.#timedOnly.get(reader)?.take(taken) ?? taken;
        if (items.length > 0) yield items;
        more ||= reader.hasMore;
      }
      if (!more && this.#endReason === undefined) await this.bell.wait();
    }
  }

  /** Logs that appeared since are told from their start; those that are gone for long are left. */
  async *#joinNew(): AsyncGenerator<FollowItem[], void, undefined> {
    const { version, targets } = this.#parts.seen();
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
      if (this.#readers.has(target.family ?? target.name)) continue;
      const reader = await this.#join(target, { fromStart: true });
      if (!reader) return;
      if (reader.tail.fromStart && reader.tail.ring.firstSeq === 0) reader.moveTo(0);
      else if (this.#timedOnly.get(reader)?.isTimed ?? true) yield* tellSince(reader, undefined, this.#historyParts());
    }
  }

  #historyParts() {
    const { search, permits } = this.#parts;
    return { search, permits, filter: filterOf(this.#query), raw: this.#query.raw ?? false, signal: this.#stop.signal };
  }
}
