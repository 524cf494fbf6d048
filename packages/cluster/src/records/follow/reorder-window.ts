import type { ClusterFollowItem, ClusterRecord } from '@porthole/contract';
import { type Keyed, LaneHeap } from '../merge/lane-heap.ts';

/** Maximum items per member and in total; members must wait beyond that. */
const MAX_HELD_OF_MEMBER = 4096;
const MAX_HELD = 65_536;

/** The same in estimated bytes: records may be long. */
const MAX_BYTES_OF_MEMBER = 8 * 1024 ** 2;
const MAX_BYTES = 64 * 1024 ** 2;

/** Maximum batch. */
const BATCH_ITEMS = 1024;

/** State of a member in the window. */
export interface HeldMember {
  id: string;
  uncertaintyMs: number;
  /** Its pending items and their estimated bytes. */
  held: number;
  heldBytes: number;
}

interface Held extends Keyed {
  item: ClusterFollowItem;
  member: HeldMember;
  bytes: number;
}

/** An item with its sort time, by the clock of this node. */
export interface TimedItem {
  item: ClusterFollowItem;
  atMs: number;
}

/** Items sorted by time; items that arrived together are due together, with all earlier ones. */
class Lane {
  readonly #heap = new LaneHeap<Held>();
  /** Due time and latest timestamp of each arrival, in order of arrival. */
  readonly #due: { dueMs: number; upToMs: number }[] = [];
  #releasedMs = -Infinity;

  get size(): number {
    return this.#heap.size;
  }

  /** Due time of the first arrival; `undefined` if empty. */
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

  /** Later arrivals are held at least as long as earlier ones. */
  hold(): void {
    if (this.topMs === undefined) this.#releasedMs = -Infinity;
  }
}

/**
 * Holds items for a short time, so that an earlier item of another member that arrives later is still emitted first. Items
 * that arrive even later are emitted late, sorted among each other and marked as uncertain.
 */
export class ReorderWindow {
  readonly #windowMs: number;
  readonly #live = new Lane();
  readonly #late = new Lane();
  #urgent: ClusterFollowItem[] = [];
  #count = 0;
  #bytes = 0;
  #last: { member: HeldMember; key: number; shownMs: number | undefined } | undefined;
  /** Time of the last item emitted in order: earlier items are late. */
  #reachedMs = -Infinity;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The next due time; `undefined` while nothing is held. */
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

  /** Emits an item immediately. */
  addUrgent(item: ClusterFollowItem): void {
    this.#urgent.push(item);
  }

  /** The due items in order, at most one batch. */
  take(nowMs: number): ClusterFollowItem[] {
    const batch = this.#urgent;
    this.#urgent = [];
    this.#live.release(nowMs);
    this.#late.release(nowMs);
    while (batch.length < BATCH_ITEMS) {
      // Late items first: they are earlier than everything else.
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

  /** Adjacent records of two members: closer than the clock uncertainty, or out of order by the shown times. */
  #isUnsure(member: HeldMember, key: number, shownMs: number | undefined): boolean {
    const last = this.#last;
    if (last === undefined || last.member === member) return false;
    if (key - last.key < member.uncertaintyMs + last.member.uncertaintyMs) return true;
    return shownMs !== undefined && last.shownMs !== undefined && shownMs < last.shownMs;
  }
}

/** Overhead per value in addition to its text. */
const VALUE_BYTES = 16;

/** Estimates the memory of a value parsed from JSON; nodes send nothing deeply nested. */
function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  for (const key in value) bytes += key.length + estimateBytes((value as Readonly<Record<string, unknown>>)[key]);
  return bytes;
}
