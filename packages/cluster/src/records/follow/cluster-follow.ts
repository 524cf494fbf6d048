import {
  type ClusterFollowItem,
  decodeFollowPositions,
  type FollowOptions,
  isSelected,
  type MemberReport,
  type MemberSelection,
  parseLogSource,
  withoutSelection,
} from '@porthole/contract';
import { Condition } from '@porthole/logs';
import { allWithin, owned } from '@porthole/logs/shared';
import type { FollowQuery } from '@porthole/logs/types';
import { isBatch, originAt } from '@porthole/records';
import type { FollowPosition } from '../../contract-only/follow-position.ts';
import type { Peer } from '../../fan-out/peers.ts';
import type { RecordedMember } from '../../recorder/recordings.ts';
import { inParallel } from '../../requests/bounded-calls.ts';
import {
  chooseMembers,
  departedReport,
  needsRecording,
  recordedReport,
  slowIfAlive,
} from '../../state/query-members.ts';
import { type ClusterDeps, getClock, getLimits } from '../search/cluster-deps.ts';
import { searchCluster } from '../search/cluster-search.ts';
import { throwIfRejected } from '../search/refusals.ts';
import { FollowedMember } from './followed-member.ts';
import { ReorderWindow } from './reorder-window.ts';

type ClusterFollowQuery = FollowQuery & MemberSelection;

export interface ClusterFollowOptions extends FollowOptions {
  /** How long a record is held back for earlier ones. Default: 150. */
  windowMs?: number;
  /** Initial retry delay of a failed member; doubles up to half a minute. Default: 500. */
  firstWaitMs?: number;
}

/** Positions to remember of members that left; the oldest is dropped first. */
const MAX_DEPARTED = 1000;

/** Fraction of the first-record timeout for measuring a new clock. */
const MEASURE_SHARE = 0.5;

/** How long to wait for followers to end. */
const CLOSING_MS = 250;

/**
 * Follows all selected members, their records merged by time within a small window, in batches; an empty one first, as
 * soon as every member follows, has failed or takes too long. Members that join are reported and followed from when they
 * came online, or from where they were when they left; those that leave are reported. A member that fails is reported and
 * retried. With `back` it starts with so many of the newest records of all members. Ends with an `end` when the signal fires or this node
 * stops. Throws the error of a request that no member accepts.
 */
export async function* followCluster(
  deps: ClusterDeps,
  request: ClusterFollowQuery,
  options: ClusterFollowOptions = {},
): AsyncGenerator<ClusterFollowItem[], void, undefined> {
  const follow = new ClusterFollow(deps, request, options);
  try {
    await follow.open();
    yield [];
    for (;;) {
      const items = follow.take();
      const asked = options.positions ? items : items.filter(({ type }) => type !== 'position');
      if (asked.length > 0) yield asked;
      else if (items.length > 0) continue;
      else if (follow.ending) break;
      else await follow.nextChange();
    }
    yield [{ type: 'end', reason: follow.ending }];
  } finally {
    await follow.close();
  }
}

class ClusterFollow {
  readonly #deps: ClusterDeps;
  readonly #request: ClusterFollowQuery;
  readonly #options: ClusterFollowOptions;
  readonly #window: ReorderWindow;
  readonly #members = new Map<string, FollowedMember>();
  /** Positions of members that left: they resume there when they return. */
  readonly #departed = new Map<string, FollowPosition>();
  readonly #beganMs = Date.now(); // clock: where records begin that are followed
  readonly #stopping = new Set<Promise<void>>(); // kept: FollowedMember.stop() never rejects: what it awaits is owned
  readonly #arrived = new Condition();
  readonly #drained = new Condition();
  readonly #onAbort = () => this.#end('cancelled');
  #forgetMembership: () => void = () => {};
  ending: 'cancelled' | 'stopping' | undefined;

  constructor(deps: ClusterDeps, request: ClusterFollowQuery, options: ClusterFollowOptions) {
    this.#deps = deps;
    this.#request = request;
    this.#options = options;
    this.#window = new ReorderWindow(options.windowMs ?? 150);
  }

  async open(): Promise<void> {
    const { signal } = this.#options;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) return this.#end('cancelled');
    const shares = await this.#divideBack();
    if (this.ending) return;
    const chosen = chooseMembers(this.#deps, this.#request);
    const peers = chosen.filter(({ departed }) => !departed);
    const starts = memberStarts(this.#request);
    const { firstBatchMs, maxParallel } = getLimits(this.#deps);
    const members = peers.map((peer) => {
      const { id } = peer.member;
      return this.#add(peer, shares.get(id) ?? starts(id, this.#clockOffset(peer)));
    });
    this.#forgetMembership = this.#deps.membership.onChange(() => this.#followMembership());
    await inParallel(members, maxParallel, (member) => member.start(firstBatchMs));
    if (this.ending) return;
    throwIfRejected(members, { isFirst: true });
    for (const { departed } of chosen)
      if (departed) this.#emit({ type: 'member', node: departed.member.id, report: departedReport(departed, 0) });
  }

  /**
   * With `back`, where each member starts so that all of them together begin with so many records. A member that is not in
   * it has not said how many of them it has.
   */
  async #divideBack(): Promise<ReadonlyMap<string, FollowQuery['start']>> {
    const { start, raw: _raw, fields: _fields, ...filter } = withoutSelection(this.#request);
    const shares = new Map<string, FollowQuery['start']>();
    // Those that have left are not followed, and what was recorded of them is not counted.
    const peers = chooseMembers(this.#deps, this.#request).filter(({ departed }) => !departed);
    if (start === 'end' || !('back' in start) || start.back === 0 || peers.length < 2) return shares;
    const { src = [] } = this.#request;
    // Logs of certain nodes cannot be asked for of those that are followed alone.
    if (src.some((text) => parseLogSource(text).node !== '')) return shares;
    const selection = { nodes: peers.map(({ member }) => member.id), ...(src.length > 0 && { src }) };
    const newest = { ...filter, ...selection, order: 'newest', limit: start.back, before: 0, after: 0 } as const;
    const { signal, client } = this.#options;
    const counts = new Map<string, number>();
    try {
      for await (const item of searchCluster(this.#deps, newest, { ...(signal && { signal }), client })) {
        if (!isBatch(item)) {
          // What was recorded of a member is not followed: its records stand where those of the others should.
          if (item.members.some(({ id, outcome }) => outcome !== 'ok' && counts.has(id))) return shares;
          for (const { id, outcome, isPartial } of item.members) {
            const count = counts.get(id) ?? 0;
            if (outcome === 'ok' && !isPartial) shares.set(id, count === 0 ? 'end' : { back: count });
          }
          continue;
        }
        for (let index = 0; index < item.ends.length; index++) {
          const { node = '' } = originAt(item, index);
          counts.set(node, (counts.get(node) ?? 0) + 1);
        }
      }
    } catch {
      // The follow fails with the same, if it is not only about searches.
    }
    return shares;
  }

  /** The items that can be emitted now; at the end, all of them. */
  take(): ClusterFollowItem[] {
    const items = this.#window.take(this.ending ? Infinity : performance.now());
    if (items.length > 0) this.#drained.notify();
    return items;
  }

  /** Resolves when there may be something to emit. */
  nextChange(): Promise<void> {
    const { nextDueMs } = this.#window;
    return this.#arrived.wait(nextDueMs === undefined ? undefined : Math.max(0, nextDueMs - performance.now()));
  }

  async close(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#forgetMembership();
    this.#end('cancelled');
    await allWithin(CLOSING_MS, this.#stopping);
  }

  #end(reason: 'cancelled' | 'stopping'): void {
    this.ending ??= reason;
    for (const member of this.#members.values()) this.#stop(member);
    this.#members.clear();
    this.#arrived.notify();
    this.#drained.notify();
  }

  #stop(member: FollowedMember): void {
    const stopped = member.stop().finally(() => this.#stopping.delete(stopped));
    this.#stopping.add(stopped);
  }

  #add(peer: Peer, start: FollowQuery['start'], joined: { place?: FollowPosition } = {}): FollowedMember {
    const member = new FollowedMember(peer, this.#deps.clocks, {
      request: this.#request,
      start,
      firstWaitMs: this.#options.firstWaitMs ?? 500,
      measureMs: getLimits(this.#deps).firstBatchMs * MEASURE_SHARE,
      pass: async (from, items) => {
        this.#window.add(from, items, performance.now());
        this.#arrived.notify();
        while (this.#window.isFull(from) && !this.ending) await this.#drained.wait();
      },
      emit: (item) => (item.type === 'member' ? this.#emitReport(item.report) : this.#emit(item)),
      onStopping: () => this.#end('stopping'),
      ...joined,
    });
    this.#members.set(member.id, member);
    return member;
  }

  /** The report of a member that fails says what others have recorded of it, unless it is followed again meanwhile. */
  #emitReport(given: MemberReport): void {
    const { directory } = this.#deps;
    const report = slowIfAlive(given, directory);
    const { id, outcome } = report;
    const emit = (recorded?: RecordedMember) => {
      const standing = { ...report, ...directory.standingOf(id, outcome) };
      this.#emit({ type: 'member', node: id, report: recorded ? recordedReport(standing, recorded) : standing });
    };
    if (!needsRecording(report) || !directory.has(id)) {
      emit();
      return;
    }
    const isFailing = () => this.#members.get(id)?.isFollowed === false;
    void owned(
      directory.find(id).then((recorded) => isFailing() && emit(recorded)),
      () => isFailing() && emit(), // the report has the failure of the member itself
    );
  }

  #emit(item: ClusterFollowItem): void {
    if (this.ending) return;
    this.#window.addUrgent(item);
    this.#arrived.notify();
  }

  #followMembership(): void {
    if (this.ending) return;
    const peers = this.#deps.peers.all().filter(({ member }) => isSelected(member, this.#request));
    const ids = new Set(peers.map(({ member }) => member.id));
    for (const [id, member] of this.#members) {
      if (ids.has(id)) continue;
      this.#members.delete(id);
      this.#stop(member);
      this.#remember(member);
      this.#emit({ type: 'member', node: id, report: this.#departedReport(id) });
    }
    const { firstBatchMs } = getLimits(this.#deps);
    for (const peer of peers) {
      const known = this.#members.get(peer.member.id);
      if (known?.peer === peer) continue;
      if (known) this.#stop(known);
      const position = known?.position ?? this.#departed.get(peer.member.id);
      this.#departed.delete(peer.member.id);
      // A member reported as failed is reported again when it is followed.
      const joined = { isJoining: !known?.isFollowed, ...(position && { place: position }) };
      void this.#add(peer, this.#newMemberStart(peer), joined).start(firstBatchMs);
    }
  }

  /** The report of a member that is no longer listed. */
  #departedReport(id: string): MemberReport {
    const departed = this.#deps.directory.departed().find(({ member }) => member.id === id);
    if (departed) return departedReport(departed, 0);
    return { id, outcome: 'gone', detail: null, elapsedMs: 0, count: 0, asOfMs: null, state: 'failed', sinceMs: null };
  }

  #remember({ id, position }: FollowedMember): void {
    this.#departed.set(id, position);
    if (this.#departed.size <= MAX_DEPARTED) return;
    const [first = id] = this.#departed.keys();
    this.#departed.delete(first);
  }

  /** By its own clock: since it came online, but nothing from before this follow. */
  #newMemberStart(peer: Peer): FollowQuery['start'] {
    const { onlineTime } = peer.member.node;
    return { timeMs: Math.max(onlineTime, this.#beganMs + this.#clockOffset(peer)) };
  }

  #clockOffset({ member }: Peer): number {
    return getClock(this.#deps.clocks, member.id).offsetMs;
  }
}

/** The start of each member, by its own clock. */
function memberStarts({ start }: ClusterFollowQuery): (id: string, offsetMs: number) => FollowQuery['start'] {
  if (start === 'end' || 'back' in start) return () => start;
  if ('timeMs' in start) return (_id, offsetMs) => ({ timeMs: start.timeMs + offsetMs });
  return startsFromPositions(decodeFollowPositions(start.cursor), start.sinceMs);
}

/** Each member after its last emitted record; a member without one starts at the time, by its own clock. */
function startsFromPositions(
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
