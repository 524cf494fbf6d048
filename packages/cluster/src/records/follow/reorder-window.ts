import type { ClusterFollowItem, ClusterRecord } from '@porthole/contract';
import { type Keyed, LaneHeap } from '../merge/lane-heap.ts';
import { estimateBytes } from './estimate-bytes.ts';

/** A member may have so many items here, and all together so many; then they must wait until some are emitted. */
const MAX_HELD_OF_MEMBER = 4096;
const MAX_HELD = 65_536;

/** The same in bytes, roughly: some of a member's records may be long. */
const MAX_BYTES_OF_MEMBER = 8 * 1024 ** 2;
const MAX_BYTES = 64 * 1024 ** 2;

/** Emitted at once at most. */
const BATCH_ITEMS = 1024;

/** What the window knows of a member. */
export interface HeldMember {
  id: string;
  uncertaintyMs: number;
  /** Items of it that are not emitted yet, and about how many bytes they take. */
  held: number;
  heldBytes: number;
}

interface Held extends Keyed {
  item: ClusterFollowItem;
  member: HeldMember;
  bytes: number;
}

/** An item with the time it is ordered by, in this node's clock. */
export interface TimedItem {
  item: ClusterFollowItem;
  atMs: number;
}

/** Items in the order of their times; those that came together are due together, with all that is before them. */
class Lane {
  readonly #heap = new LaneHeap<Held>();
  /** When what came together is due, and up to which time; in the order of coming. */
  readonly #due: { dueMs: number; upToMs: number }[] = [];
  #releasedMs = -Infinity;

  get size(): number {
    return this.#heap.size;
  }

  /** Of the first that is due; `undefined` where none is. */
  get topMs(): number | undefined {
    const { top } = this.#heap;
    return top !== undefined && top.key <= this.#releasedMs ? top.key : undefined;
  }

  get nextDueMs(): number | undefined {
    return this.topMs === undefined ? this.#due[0]?.dueMs : -Infinity;
  }

  push(held: readonly Held[], dueMs: number): void {
    let upToMs = -Infinity;
    for (const each of held) {
      this.#heap.push(each);
      upToMs = Math.max(upToMs, each.key);
    }
    if (held.length > 0) this.#due.push({ dueMs, upToMs });
  }

  release(nowMs: number): void {
    const isLater = this.#due.findIndex(({ dueMs }) => dueMs > nowMs);
    for (const { upToMs } of this.#due.splice(0, isLater < 0 ? this.#due.length : isLater))
      this.#releasedMs = Math.max(this.#releasedMs, upToMs);
  }

  pop(): Held | undefined {
    return this.topMs === undefined ? undefined : this.#heap.pop();
  }

  /** What comes later is held as long as what came before. */
  hold(): void {
    if (this.topMs === undefined) this.#releasedMs = -Infinity;
  }
}

/**
 * Holds what comes for a short time, so that what another member wrote before it, but sent later, is still emitted before
 * it. What comes later than that is emitted behind its time, but in order with others that do, and as unsure.
 */
export class ReorderWindow {
  readonly #windowMs: number;
  readonly #live = new Lane();
  readonly #late = new Lane();
  #urgent: ClusterFollowItem[] = [];
  #count = 0;
  #bytes = 0;
  #last: { member: HeldMember; key: number; shownMs: number | undefined } | undefined;
  /** The last time that was emitted in order: what is before it is late. */
  #reachedMs = -Infinity;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** When something is due next; `undefined` while nothing is held. */
  get nextDueMs(): number | undefined {
    if (this.#urgent.length > 0) return -Infinity;
    const due = [this.#live.nextDueMs, this.#late.nextDueMs].filter((dueMs) => dueMs !== undefined);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  isFull({ held, heldBytes }: HeldMember): boolean {
    if (held >= MAX_HELD_OF_MEMBER || heldBytes >= MAX_BYTES_OF_MEMBER) return true;
    return held > 0 && (this.#live.size + this.#late.size >= MAX_HELD || this.#bytes >= MAX_BYTES);
  }

  add(member: HeldMember, items: readonly TimedItem[], nowMs: number): void {
    const held = items.map(({ item, atMs }): Held => {
      const bytes = estimateBytes(item);
      member.heldBytes += bytes;
      this.#bytes += bytes;
      return { key: atMs, index: this.#count++, item, member, bytes };
    });
    member.held += held.length;
    const isLate = ({ key }: Held) => key < this.#reachedMs;
    this.#live.push(
      held.filter((each) => !isLate(each)),
      nowMs + this.#windowMs,
    );
    this.#late.push(held.filter(isLate), nowMs + this.#windowMs);
  }

  /** Emits an item out of all order. */
  addUrgent(item: ClusterFollowItem): void {
    this.#urgent.push(item);
  }

  /** What is due by now, in order; not more than a batch of it. */
  take(nowMs: number): ClusterFollowItem[] {
    const batch = this.#urgent;
    this.#urgent = [];
    this.#live.release(nowMs);
    this.#late.release(nowMs);
    while (batch.length < BATCH_ITEMS) {
      // Late ones first: they belong before everything else.
      const late = this.#late.pop();
      const held = late ?? this.#live.pop();
      if (held === undefined) break;
      if (late === undefined) this.#reachedMs = Math.max(this.#reachedMs, held.key);
      batch.push(this.#emit(held));
    }
    this.#late.hold();
    return batch;
  }

  #emit({ item, member, key, bytes }: Held): ClusterFollowItem {
    member.held--;
    member.heldBytes -= bytes;
    this.#bytes -= bytes;
    if (item.type !== 'record') return item;
    const isUnsure = this.#isUnsure(member, key, item.atMs);
    this.#last = { member, key, shownMs: item.atMs };
    return isUnsure ? { ...item, isUnsure: true } : (item satisfies ClusterRecord);
  }

  /** Of two members' neighbours: closer than their clocks are known, or the wrong way round, also by the times that are shown. */
  #isUnsure(member: HeldMember, key: number, shownMs: number | undefined): boolean {
    const last = this.#last;
    if (last === undefined || last.member === member) return false;
    if (key - last.key < member.uncertaintyMs + last.member.uncertaintyMs) return true;
    return shownMs !== undefined && last.shownMs !== undefined && shownMs < last.shownMs;
  }
}
