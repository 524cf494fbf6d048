import type { CallOptions, HeldSnapshot, MemberClock } from '@porthole/contract';
import { SharedByKey } from '@porthole/logs/shared';
import type { Clocks } from '../../fan-out/clock.ts';
import type { Peers } from '../../fan-out/peers.ts';
import { type MemberSnapshot, parseSnapshot, serializeSnapshot } from '../../membership/snapshots/member-snapshot.ts';
import type { SnapshotCache } from '../../membership/snapshots/snapshot-cache.ts';
import { withDeadline } from '../../requests/bounded-calls.ts';
import { expectFailure } from '../../requests/member-failure.ts';
import type { SnapshotKeepers } from './snapshot-keepers.ts';

/** Fraction of the timeout for each member that is asked: the request itself needs the rest. */
const SHARE = 0.3;

/** Snapshots of members that do not respond at the moment, from others: how many, and for how long. */
const MAX_BORROWED = 32;
const BORROWED_MS = 30_000;

export interface HeldSnapshotsDeps {
  snapshots: Pick<SnapshotCache, 'get' | 'put' | 'isEmpty' | 'getDeparted'>;
  peers: Pick<Peers, 'get'>;
  clocks: Clocks;
  selfId: string;
  keepers: Pick<SnapshotKeepers, 'keepsAll' | 'keepersOf'>;
  timeoutMs: number;
  nowMs(): number;
}

/** Snapshots wherever they are kept: here, or by other members. */
export class HeldSnapshots {
  readonly #deps: HeldSnapshotsDeps;
  readonly #borrowed = new Map<string, { snapshot: MemberSnapshot | undefined; atMs: number }>();
  readonly #asking = new SharedByKey<string, MemberSnapshot | undefined>({ endsUnwatched: true });

  constructor(deps: HeldSnapshotsDeps) {
    this.#deps = deps;
  }

  /** The snapshot for another member. `undefined`: there is none here. */
  lend(id: string): HeldSnapshot | undefined {
    const { snapshots, nowMs } = this.#deps;
    const snapshot = snapshots.isEmpty(id) ? undefined : snapshots.get(id);
    return snapshot && { ageMs: Math.max(0, nowMs() - snapshot.asOfMs), text: serializeSnapshot(snapshot) };
  }

  /** Whether the snapshot is not here, but may be elsewhere. */
  isElsewhere(id: string): boolean {
    return !this.#deps.keepers.keepsAll && this.#deps.snapshots.isEmpty(id);
  }

  /** The snapshot of a member. That of one that has departed is kept here from then on. Never rejects because of a member. */
  async find(id: string, options: CallOptions = {}): Promise<MemberSnapshot | undefined> {
    const { snapshots } = this.#deps;
    if (!this.isElsewhere(id)) return snapshots.get(id);
    const borrowed = this.#borrowed.get(id);
    if (borrowed && performance.now() - borrowed.atMs < BORROWED_MS) return borrowed.snapshot ?? snapshots.get(id);
    return (await this.#asking.run(id, (signal) => this.#ask(id, signal), options)) ?? snapshots.get(id);
  }

  async #ask(id: string, signal: AbortSignal): Promise<MemberSnapshot | undefined> {
    const { keepers, selfId, snapshots } = this.#deps;
    let found: MemberSnapshot | undefined;
    for (const keeper of keepers.keepersOf(id)) {
      if (keeper !== selfId && keeper !== id) found = await this.#askKeeper(keeper, { id, signal });
      if (found || signal.aborted) break;
    }
    signal.throwIfAborted();
    const departed = snapshots.getDeparted(id);
    if (found && departed) {
      const member = snapshots.get(id)?.member ?? found.member;
      found = { ...found, member, departed };
      snapshots.put(found);
    } else this.#borrow(id, found);
    return found;
  }

  #borrow(id: string, snapshot: MemberSnapshot | undefined): void {
    this.#borrowed.delete(id);
    const [oldest] = this.#borrowed.keys();
    if (this.#borrowed.size >= MAX_BORROWED && oldest !== undefined) this.#borrowed.delete(oldest);
    this.#borrowed.set(id, { snapshot: snapshot && { ...snapshot, departed: null }, atMs: performance.now() });
  }

  /** `undefined` if it has none, or none that is valid, or does not respond: then the next is asked. */
  async #askKeeper(
    keeper: string,
    { id, signal }: { id: string; signal: AbortSignal },
  ): Promise<MemberSnapshot | undefined> {
    const { peers, timeoutMs, clocks, nowMs } = this.#deps;
    try {
      const ask = async (leaving: AbortSignal) => peers.get(keeper).heldSnapshot?.(id, { signal: leaving });
      const held = await withDeadline(ask, { timeoutMs: timeoutMs * SHARE, signal });
      const snapshot = held && parseSnapshot(held.text);
      if (!snapshot || snapshot.member.id !== id || !(held.ageMs >= 0)) return undefined;
      return { ...snapshot, asOfMs: nowMs() - held.ageMs, clock: addClocks(snapshot.clock, clocks.of(keeper)) };
    } catch (error) {
      expectFailure(error);
      return undefined;
    }
  }
}

/** The clock of a member compared with this node, from its clock and that of the one that compared them. */
function addClocks(clock: MemberClock | null, keeper: MemberClock | undefined): MemberClock | null {
  if (!clock || !keeper) return null;
  const uncertaintyMs = clock.uncertaintyMs + keeper.uncertaintyMs;
  return { offsetMs: clock.offsetMs + keeper.offsetMs, uncertaintyMs };
}
