import type { ClusterFollowItem, ClusterRecord } from '@porthole/contract';
import { type Keyed, LaneHeap } from './lane-heap.ts';

/** A member may have so many items here, and all together so many; then they must wait until some are told. */
const MAX_HELD_OF_MEMBER = 4096;
const MAX_HELD = 65_536;

/** Told at once at most. */
const BATCH_ITEMS = 1024;

/** What the window knows of a member. */
export interface HeldMember {
  id: string;
  uncertaintyMs: number;
  /** Items of it that are not told yet. */
  held: number;
}

interface Held extends Keyed {
  item: ClusterFollowItem;
  member: HeldMember;
}

/** An item with the time it is ordered by, in this node's clock. */
export interface TimedItem {
  item: ClusterFollowItem;
  atMs: number;
}

/** Holds what comes for a moment, so that what another member said before it, but told later, is still told before it. */
export class ReorderWindow {
  readonly #windowMs: number;
  readonly #heap = new LaneHeap<Held>();
  /** When what came together is due, and up to which time; in the order of coming. */
  readonly #due: { dueMs: number; upToMs: number }[] = [];
  #late: ClusterFollowItem[] = [];
  #count = 0;
  #releasedMs = -Infinity;
  #last: { member: HeldMember; atMs: number } | undefined;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** When something is due next; `undefined` while nothing is held. */
  get nextDueMs(): number | undefined {
    if (this.#hasReleased) return -Infinity;
    return this.#due[0]?.dueMs;
  }

  isFull({ held }: HeldMember): boolean {
    return held >= MAX_HELD_OF_MEMBER || (this.#heap.size >= MAX_HELD && held > 0);
  }

  /** What belongs before something that was told already is not held: it is told at once, and as unsure. */
  add(member: HeldMember, items: readonly TimedItem[], nowMs: number): void {
    let upToMs = -Infinity;
    for (const { item, atMs } of items) {
      if (this.#last && atMs < this.#last.atMs) {
        this.#late.push(item.type === 'record' && member !== this.#last.member ? { ...item, isUnsure: true } : item);
        continue;
      }
      this.#heap.push({ key: atMs, place: this.#count++, item, member });
      member.held++;
      upToMs = Math.max(upToMs, atMs);
    }
    if (upToMs > -Infinity) this.#due.push({ dueMs: nowMs + this.#windowMs, upToMs });
  }

  /** Tells an item out of all order. */
  addUrgent(item: ClusterFollowItem): void {
    this.#late.push(item);
  }

  /** What is due by now, in order; not more than a batch of it. */
  take(nowMs: number): ClusterFollowItem[] {
    const batch = this.#late;
    this.#late = [];
    const isLater = this.#due.findIndex(({ dueMs }) => dueMs > nowMs);
    for (const { upToMs } of this.#due.splice(0, isLater < 0 ? this.#due.length : isLater)) {
      if (upToMs > this.#releasedMs) this.#releasedMs = upToMs;
    }
    while (batch.length < BATCH_ITEMS && this.#hasReleased) {
      const held = this.#heap.pop();
      if (held) batch.push(this.#told(held));
    }
    return batch;
  }

  get #hasReleased(): boolean {
    const { top } = this.#heap;
    return this.#late.length > 0 || (top !== undefined && top.key <= this.#releasedMs);
  }

  #told({ item, member, key }: Held): ClusterFollowItem {
    member.held--;
    if (item.type !== 'record') return item;
    const isUnsure = this.#isUnsure(member, key);
    this.#last = { member, atMs: key };
    return isUnsure ? { ...item, isUnsure: true } : (item satisfies ClusterRecord);
  }

  #isUnsure(member: HeldMember, atMs: number): boolean {
    if (this.#last === undefined || this.#last.member === member) return false;
    return atMs - this.#last.atMs < member.uncertaintyMs + this.#last.member.uncertaintyMs;
  }
}
