import type { ClusterFollowItem, ClusterRecord } from '@porthole/contract';
import { type Keyed, LaneHeap } from '@porthole/records';

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
  queue: MemberQueue;
  bytes: number;
}

/** Files of a member whose last key is remembered: more than it may have items in the window. */
const MAX_FILES = 2 * MAX_HELD_OF_MEMBER;

/** What keeps the items of one member in order while any are held, also when it is followed anew. */
class MemberQueue {
  held = 0;
  /** How many of these are in the lane of late items. */
  late = 0;
  readonly #lastKeys = new Map<string, number>();
  #newestKey = -Infinity;
  #eventKey = -Infinity;

  /** The sort time of the next item: no earlier than that of an item which must come before it. */
  keyOf(item: ClusterFollowItem, atMs: number): number {
    const file = item.type === 'record' ? item.file : undefined;
    // What an event reports, such as a gap, is between the records before it and those after it.
    const least = file === undefined ? this.#newestKey : (this.#lastKeys.get(file) ?? -Infinity);
    const key = Math.max(atMs, least, this.#eventKey);
    this.#newestKey = Math.max(this.#newestKey, key);
    if (file === undefined) this.#eventKey = key;
    else this.#remember(file, key);
    return key;
  }

  #remember(file: string, key: number): void {
    this.#lastKeys.delete(file);
    this.#lastKeys.set(file, key);
    if (this.#lastKeys.size > MAX_FILES) this.#lastKeys.delete(this.#lastKeys.keys().next().value ?? '');
  }
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

  /** The first item if it is due. */
  get due(): Held | undefined {
    const { top } = this.#heap;
    return top !== undefined && top.key <= this.#releasedMs ? top : undefined;
  }

  get nextDueMs(): number | undefined {
    return this.due === undefined ? this.#due[0]?.dueMs : -Infinity;
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

  /** The first item, due or not. */
  pop(): Held | undefined {
    return this.#heap.pop();
  }

  /** Later arrivals are held at least as long as earlier ones. */
  hold(): void {
    if (this.due === undefined) this.#releasedMs = -Infinity;
  }
}

/**
 * Holds items for a short time, so that an earlier item of another member that arrives later is still emitted first. Items
 * that arrive even later are emitted late, sorted among each other and marked as uncertain. The records of one file are
 * never reordered, whatever their times: whoever resumes after one of them has received all before it.
 */
export class ReorderWindow {
  readonly #windowMs: number;
  readonly #live = new Lane();
  readonly #late = new Lane();
  /** The queues of members with held items, by id. */
  readonly #queues = new Map<string, MemberQueue>();
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
    if (items.length === 0) return;
    const queue = this.#queues.get(member.id) ?? new MemberQueue();
    this.#queues.set(member.id, queue);
    const held = items.map(({ item, atMs }): Held => {
      const bytes = estimateBytes(item);
      member.heldBytes += bytes;
      this.#bytes += bytes;
      return { key: queue.keyOf(item, atMs), index: this.#count++, item, member, queue, bytes };
    });
    member.held += held.length;
    queue.held += held.length;
    const isLate = ({ key }: Held) => key < this.#reachedMs;
    const late = held.filter(isLate);
    queue.late += late.length;
    this.#live.push(
      held.filter((each) => !isLate(each)),
      nowMs + this.#windowMs,
    );
    this.#late.push(late, nowMs + this.#windowMs);
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
      const live = this.#live.due;
      // Late items first: they are earlier than everything else. At the latest before the next item of their member.
      const late = this.#late.due || (live && live.queue.late > 0) ? this.#late.pop() : undefined;
      const held = late ?? (live && this.#live.pop());
      if (held === undefined) break;
      if (late) late.queue.late--;
      else this.#reachedMs = Math.max(this.#reachedMs, held.key);
      batch.push(this.#emit(held));
    }
    this.#late.hold();
    return batch;
  }

  #emit({ item, member, queue, key, bytes }: Held): ClusterFollowItem {
    if (--queue.held === 0) this.#queues.delete(member.id);
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
