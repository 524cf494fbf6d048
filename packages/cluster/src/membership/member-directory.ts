import {
  MEMBER_ROLE,
  type Member,
  type MemberOutcome,
  type MemberState,
  type MembershipState,
  type NodeObject,
} from '@porthole/contract';
import type { DepartedState, MemberSnapshot } from '../state/snapshots/member-snapshot.ts';
import type { SnapshotCache } from '../state/snapshots/snapshot-cache.ts';
import type { Membership } from './membership.ts';
import { readNodeObject } from './node-object.ts';
import { byId } from './self-member.ts';
import { UNKNOWN_ROLE } from './static-members.ts';

/** Outcomes that show that a member does not respond, whatever it was asked. */
const SILENT: ReadonlySet<MemberOutcome> = new Set<MemberOutcome>(['refused', 'timeout', 'tls', 'auth', 'version']);

/** Of a node that says none: it only speaks the contract, or is older. */
const DEFAULT_ROLE = 'node';

/** What is said of a member in every report. */
export interface MemberStanding {
  state: MemberState;
  sinceMs: number | null;
}

export interface MemberDirectoryDeps {
  membership: Membership;
  /** What is kept of members on disk; loaded before. */
  snapshots: SnapshotCache;
  nowMs?: () => number;
}

interface Reachability {
  isUp: boolean;
  sinceMs: number | null;
}

/**
 * The one list of members: those to ask, those that have left or failed, and the state of each. Every operation takes its
 * members from here, so that none of them is missing from one answer and present in another.
 */
export class MemberDirectory implements Pick<Membership, 'members' | 'state' | 'onChange'> {
  readonly #membership: Membership;
  readonly #snapshots: SnapshotCache;
  readonly #nowMs: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #reachability = new Map<string, Reachability>();
  readonly #unsubscribe: () => void;
  /** As the registry listed them last. */
  #listed: ReadonlyMap<string, Member> = new Map();
  /** The registry has answered since this node started: what it does not list is no member. */
  #isConfirmed = false;

  constructor({ membership, snapshots, nowMs = () => Date.now() }: MemberDirectoryDeps) {
    this.#membership = membership;
    this.#snapshots = snapshots;
    this.#nowMs = nowMs;
    this.#recallRoles();
    this.#reconcile();
    this.#unsubscribe = membership.onChange(() => {
      this.#reconcile();
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /**
   * The members to ask, ordered by id. While the registry has not answered since the start, those known from before are
   * among them: nobody can say that they are gone.
   */
  get members(): readonly Member[] {
    const { members } = this.#membership;
    if (this.#isConfirmed) return members;
    const listed = new Set(members.map(({ id }) => id));
    const remembered = this.#snapshots.all().filter(({ member }) => !listed.has(member.id));
    return [...members, ...remembered.map(({ member }) => member)].sort(byId);
  }

  get state(): MembershipState {
    return this.#membership.state;
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** What is kept of a member, whether it still is one or not. */
  of(id: string): MemberSnapshot | undefined {
    return this.#snapshots.get(id);
  }

  /** Whether something is kept of it. */
  has(id: string): boolean {
    return this.#snapshots.asOfMs(id) !== undefined;
  }

  /** Members that have left or failed, ordered by id. None while the registry has not answered. */
  departed(): readonly MemberSnapshot[] {
    return this.#isConfirmed ? this.#snapshots.departed() : [];
  }

  /** What is known of the member after it was asked, with this outcome. */
  standingOf(id: string, outcome: MemberOutcome): MemberStanding {
    const departed = this.#isConfirmed ? this.#departedState(id) : null;
    if (departed) return departed;
    if (!SILENT.has(outcome)) return { state: 'up', sinceMs: this.#updateReachability(id, true).sinceMs };
    const { sinceMs } = this.#updateReachability(id, false);
    return { state: this.state.state === 'stale' ? 'unknown' : 'unreachable', sinceMs };
  }

  /** What a member says of itself, which may be anything. One that says no role has none of its own. */
  learn(id: string, { role, node }: { role?: unknown; node: unknown }): void {
    if (!this.#membership.learn) return;
    const reportedRole = role ?? DEFAULT_ROLE;
    if (typeof reportedRole !== 'string' || !MEMBER_ROLE.test(reportedRole)) return;
    const object = nodeObjectOrUndefined(node);
    if (object) this.#membership.learn(id, { role: reportedRole, node: object });
  }

  /** Members of which not even the role is known. */
  get strangers(): readonly Member[] {
    return this.members.filter(({ role }) => role === UNKNOWN_ROLE);
  }

  /** Notes whether a member responds; its state lasts since the first time it was noted. */
  #updateReachability(id: string, isUp: boolean): Reachability {
    const known = this.#reachability.get(id);
    if (known?.isUp === isUp) return known;
    // One that never responded to this run has been silent since it was last seen, if it ever was.
    const sinceMs = known || isUp ? this.#nowMs() : (this.#snapshots.asOfMs(id) ?? null);
    const reach = { isUp, sinceMs };
    this.#reachability.set(id, reach);
    return reach;
  }

  /** Drops what is kept of a member that has left or failed; whether there was something. */
  forget(id: string): boolean {
    this.#reachability.delete(id);
    return this.#snapshots.drop(id);
  }

  close(): void {
    this.#unsubscribe();
  }

  #departedState(id: string): DepartedState | null {
    return this.#listed.has(id) ? null : (this.#snapshots.getDeparted(id) ?? null);
  }

  /** Of members that have not said who they are to this run, what they said to the one before. */
  #recallRoles(): void {
    for (const { id, url } of this.strangers) {
      const known = this.#snapshots.get(id)?.member;
      if (known?.url === url && known.role !== UNKNOWN_ROLE) this.learn(id, known);
    }
  }

  /** Holds the list against what was known: who is missing now has left or failed, who is there again has not. */
  #reconcile(): void {
    const { members, state } = this.#membership;
    const listed = new Map(members.map((member) => [member.id, member]));
    this.#isConfirmed ||= state.state === 'ok';
    if (this.#isConfirmed) {
      for (const member of this.#listed.values()) if (!listed.has(member.id)) this.#depart(member, this.#nowMs());
      for (const { member, asOfMs, departed } of this.#snapshots.all())
        if (!listed.has(member.id) && departed === null) this.#depart(member, asOfMs);
      for (const id of this.#reachability.keys()) if (!listed.has(id)) this.#reachability.delete(id);
    }
    for (const member of members) this.#snapshots.rejoin(member.id);
    this.#snapshots.expire();
    this.#listed = listed;
  }

  #depart(member: Member, sinceMs: number): void {
    if (member.isSelf) return;
    this.#snapshots.depart(member, { state: this.#hasLeft(member) ? 'left' : 'failed', sinceMs });
  }

  /** By its own word when it stopped, or because who keeps the list has taken it out. */
  #hasLeft({ id, node }: Member): boolean {
    const { kind } = this.state;
    if (kind === 'static' || kind === 'alone') return true;
    return this.#membership.getDeparture?.(id)?.onlineTime === node.onlineTime;
  }
}

function nodeObjectOrUndefined(node: unknown): NodeObject | undefined {
  try {
    return readNodeObject(node);
  } catch {
    return undefined;
  }
}
