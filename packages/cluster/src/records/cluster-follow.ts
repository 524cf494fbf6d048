import {
  type CallOptions,
  type ClusterFollowItem,
  decodeFollowPositions,
  type MemberReport,
  type MemberSelection,
} from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs/types';
import { inParallel } from '../fan-out/in-parallel.ts';
import { isSelected, type Peer } from '../fan-out/peers.ts';
import { chooseMembers } from '../state/choose-members.ts';
import { departedReport } from '../state/state-parts.ts';
import { Bell } from './bell.ts';
import { decodeClusterCursor, type MemberPlace } from './cluster-cursor.ts';
import { type ClusterParts, clockOf, limitsOf } from './cluster-parts.ts';
import type { FollowPlace } from './follow-place.ts';
import { FollowedMember } from './followed-member.ts';
import { throwIfRefused } from './refusals.ts';
import { ReorderWindow } from './reorder-window.ts';

type ClusterFollowQuery = FollowQuery & MemberSelection;

export interface ClusterFollowOptions extends CallOptions {
  /** How long a record is held for others that were written before it. 150 unless given. */
  windowMs?: number;
  /** The wait before a member that failed is tried again; doubles up to half a minute. 500 unless given. */
  firstWaitMs?: number;
}

/** Members that left whose place is remembered; the first to leave is forgotten first. */
const MAX_LEFT = 1000;

/** Of the time for first records, what measuring the clock of a member may take that was not measured yet. */
const MEASURE_SHARE = 0.5;

/** Followers that do not end when they are told to are not waited for any longer. */
const CLOSING_MS = 250;

/**
 * Follows all selected members, their records merged by time within a small window, in batches; an empty one first, as
 * soon as every member follows, has failed or takes too long. Members that join are told, and followed from when they came
 * online, or from where they were when they left; those that leave are told. A member that fails is told and tried again. Goes back (`back`) so many records of each member. Ends
 * with an `end` when the signal fires or this node stops. Throws what is wrong with a question that no member takes.
 */
export async function* followCluster(
  parts: ClusterParts,
  request: ClusterFollowQuery,
  options: ClusterFollowOptions = {},
): AsyncGenerator<ClusterFollowItem[], void, undefined> {
  const follow = new ClusterFollow(parts, request, options);
  try {
    await follow.open();
    yield [];
    for (;;) {
      const items = follow.take();
      if (items.length > 0) yield items;
      else if (follow.ending) break;
      else await follow.change();
    }
    yield [{ type: 'end', reason: follow.ending }];
  } finally {
    await follow.close();
  }
}

class ClusterFollow {
  readonly #parts: ClusterParts;
  readonly #request: ClusterFollowQuery;
  readonly #options: ClusterFollowOptions;
  readonly #window: ReorderWindow;
  readonly #members = new Map<string, FollowedMember>();
  /** Where those were that left: who comes back goes on there. */
  readonly #left = new Map<string, FollowPlace>();
  readonly #beganMs = Date.now();
  readonly #stopping = new Set<Promise<void>>();
  readonly #came = new Bell();
  readonly #taken = new Bell();
  readonly #onAbort = () => this.#end('cancelled');
  #forgetMembership: () => void = () => {};
  ending: 'cancelled' | 'stopping' | undefined;

  constructor(parts: ClusterParts, request: ClusterFollowQuery, options: ClusterFollowOptions) {
    this.#parts = parts;
    this.#request = request;
    this.#options = options;
    this.#window = new ReorderWindow(options.windowMs ?? 150);
  }

  async open(): Promise<void> {
    const { signal } = this.#options;
    const chosen = chooseMembers(this.#parts, this.#request);
    const peers = chosen.filter(({ departed }) => !departed);
    const starts = startsOf(this.#request);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) return this.#end('cancelled');
    const { firstBatchMs, maxParallel } = limitsOf(this.#parts);
    const members = peers.map((peer) => this.#add(peer, starts(peer.member.id, this.#offsetOf(peer))));
    this.#forgetMembership = this.#parts.membership.onChange(() => this.#followMembership());
    await inParallel(members, maxParallel, (member) => member.start(firstBatchMs));
    if (this.ending) return;
    throwIfRefused(members, { isFirst: true });
    for (const { departed } of chosen)
      if (departed) this.#tell({ type: 'member', node: departed.member.id, report: departedReport(departed, 0) });
  }

  /** What can be told now. At the end nothing is held back any more. */
  take(): ClusterFollowItem[] {
    const items = this.#window.take(this.ending ? Infinity : performance.now());
    if (items.length > 0) this.#taken.ring();
    return items;
  }

  /** Resolves when there may be something to tell. */
  change(): Promise<void> {
    const { nextDueMs } = this.#window;
    return this.#came.wait(nextDueMs === undefined ? undefined : Math.max(0, nextDueMs - performance.now()));
  }

  async close(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#forgetMembership();
    this.#end('cancelled');
    let timer: ReturnType<typeof setTimeout> | undefined;
    const longEnough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSING_MS);
    });
    await Promise.race([Promise.all(this.#stopping), longEnough]);
    clearTimeout(timer);
  }

  #end(reason: 'cancelled' | 'stopping'): void {
    this.ending ??= reason;
    for (const member of this.#members.values()) this.#stop(member);
    this.#members.clear();
    this.#came.ring();
    this.#taken.ring();
  }

  #stop(member: FollowedMember): void {
    const stopped = member.stop().finally(() => this.#stopping.delete(stopped));
    this.#stopping.add(stopped);
  }

  #add(peer: Peer, start: FollowQuery['start'], joined: { place?: FollowPlace } = {}): FollowedMember {
    const member = new FollowedMember(peer, this.#parts.clocks, {
      request: this.#request,
      start,
      firstWaitMs: this.#options.firstWaitMs ?? 500,
      measureMs: limitsOf(this.#parts).firstBatchMs * MEASURE_SHARE,
      pass: async (from, items) => {
        this.#window.add(from, items, performance.now());
        this.#came.ring();
        while (this.#window.isFull(from) && !this.ending) await this.#taken.wait();
      },
      tell: (item) => this.#tell(item.type === 'member' ? this.#withState(item) : item),
      onStopping: () => this.#end('stopping'),
      ...joined,
    });
    this.#members.set(member.id, member);
    return member;
  }

  #withState(item: Extract<ClusterFollowItem, { type: 'member' }>): ClusterFollowItem {
    const { report } = item;
    return { ...item, report: { ...report, ...this.#parts.directory.standingOf(report.id, report.outcome) } };
  }

  #tell(item: ClusterFollowItem): void {
    if (this.ending) return;
    this.#window.addUrgent(item);
    this.#came.ring();
  }

  #followMembership(): void {
    if (this.ending) return;
    const peers = this.#parts.peers.all().filter(({ member }) => isSelected(member, this.#request));
    const ids = new Set(peers.map(({ member }) => member.id));
    for (const [id, member] of this.#members) {
      if (ids.has(id)) continue;
      this.#members.delete(id);
      this.#stop(member);
      this.#remember(member);
      this.#tell({ type: 'member', node: id, report: this.#departedReport(id) });
    }
    const { firstBatchMs } = limitsOf(this.#parts);
    for (const peer of peers) {
      const known = this.#members.get(peer.member.id);
      if (known?.peer === peer) continue;
      if (known) this.#stop(known);
      const place = known?.place ?? this.#left.get(peer.member.id);
      this.#left.delete(peer.member.id);
      // One that was reported as failing is reported again when it is followed.
      const joined = { isJoining: !known?.isFollowed, ...(place && { place }) };
      void this.#add(peer, this.#startOfNew(peer), joined).start(firstBatchMs);
    }
  }

  /** How a member that is not listed any more departed. */
  #departedReport(id: string): MemberReport {
    const departed = this.#parts.directory.departed().find(({ member }) => member.id === id);
    if (departed) return departedReport(departed, 0);
    return { id, outcome: 'gone', detail: null, elapsedMs: 0, count: 0, asOfMs: null, state: 'failed', sinceMs: null };
  }

  #remember({ id, place }: FollowedMember): void {
    this.#left.set(id, place);
    if (this.#left.size <= MAX_LEFT) return;
    const [first = id] = this.#left.keys();
    this.#left.delete(first);
  }

  /** By its own clock: since it is online, but nothing from before this follow. */
  #startOfNew(peer: Peer): FollowQuery['start'] {
    const { onlineTime } = peer.member.node;
    return { timeMs: Math.max(onlineTime, this.#beganMs + this.#offsetOf(peer)) };
  }

  #offsetOf({ member }: Peer): number {
    return clockOf(this.#parts.clocks, member.id).offsetMs;
  }
}

/** Where each member begins, by its own clock. */
function startsOf({ start }: ClusterFollowQuery): (id: string, offsetMs: number) => FollowQuery['start'] {
  if (start === 'end' || 'back' in start) return () => start;
  if ('timeMs' in start) return (_id, offsetMs) => ({ timeMs: start.timeMs + offsetMs });
  const positions = decodeFollowPositions(start.cursor);
  if (positions) return startsAt(positions, start.sinceMs);
  const { members, reachedMs } = decodeClusterCursor(start.cursor);
  const sinceMs = start.sinceMs ?? reachedMs ?? undefined;
  return (id, offsetMs) => {
    const place: MemberPlace = members.get(id) ?? 'done';
    const since = sinceMs === undefined ? undefined : sinceMs + offsetMs;
    if (typeof place === 'string') return since === undefined ? 'end' : { timeMs: since };
    if ('timeMs' in place) return { timeMs: place.timeMs + offsetMs };
    return { cursor: place.cursor, ...(since !== undefined && { sinceMs: since }) };
  };
}

/** Each member behind what was given of it last; one of which nothing was given since the time, by its own clock. */
function startsAt(
  positions: ReadonlyMap<string, string>,
  sinceMs: number | undefined,
): (id: string, offsetMs: number) => FollowQuery['start'] {
  return (id, offsetMs) => {
    const cursor = positions.get(id);
    const since = sinceMs === undefined ? undefined : sinceMs + offsetMs;
    if (cursor !== undefined) return { cursor, ...(since !== undefined && { sinceMs: since }) };
    return since === undefined ? 'end' : { timeMs: since };
  };
}
