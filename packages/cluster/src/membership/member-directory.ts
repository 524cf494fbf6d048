import {
  codeOf,
  MEMBER_ROLE,
  type Member,
  type MemberOutcome,
  type MemberState,
  type MembershipState,
  type NodeObject,
  readLabels,
  UNKNOWN_ROLE,
} from '@porthole/contract';
import { owned } from '@porthole/logs/shared';
import { byId, type Membership } from './membership.ts';
import { readNodeObject } from './node-object.ts';
import type { DepartedState, MemberProfile } from './profiles/member-profile.ts';
import type { ProfileCache } from './profiles/profile-cache.ts';

/** Outcomes that mean the member does not respond at all. */
const SILENT: ReadonlySet<MemberOutcome> = new Set<MemberOutcome>(['refused', 'timeout', 'tls', 'auth', 'version']);

export function isSilent(outcome: MemberOutcome): boolean {
  return SILENT.has(outcome);
}

/** For a node that reports no role. */
const DEFAULT_ROLE = 'node';

/** Included in every report of a member. */
export interface MemberStanding {
  state: MemberState;
  sinceMs: number | null;
}

export interface MemberDirectoryDeps {
  membership: Membership;
  /** What is kept of members on disk; already loaded. */
  profiles: ProfileCache;
  nowMs?: () => number;
}

/** A member whose registration has ended without a goodbye. */
interface LapsedMember {
  member: Member;
  sinceMs: number;
  isAsked: boolean;
}

interface Reachability {
  isUp: boolean;
  sinceMs: number | null;
}

/**
 * The single list of members: those to query, those that left or failed, and the state of each. Every operation takes its
 * members from here, so that all responses agree.
 */
export class MemberDirectory implements Pick<Membership, 'members' | 'state' | 'onChange'> {
  readonly #membership: Membership;
  readonly #profiles: ProfileCache;
  readonly #nowMs: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #reachability = new Map<string, Reachability>();
  readonly #unsubscribe: () => void;
  #lastSeenMs: (id: string) => number | undefined = () => undefined;
  #responds: ((id: string) => Promise<boolean>) | undefined;
  /** It may have lost its registry only: it is a member as long as it responds. */
  readonly #lapsed = new Map<string, LapsedMember>();
  #registeredAndLapsed: readonly Member[] = [];
  /** The last list of the registry. */
  #listed: ReadonlyMap<string, Member> = new Map();
  /** Whether the registry has responded since this node started: only then is an unlisted node not a member. */
  #isConfirmed = false;

  // clock: since when a member is in its state
  constructor({ membership, profiles, nowMs = () => Date.now() }: MemberDirectoryDeps) {
    this.#membership = membership;
    this.#profiles = profiles;
    this.#nowMs = nowMs;
    this.#recallRoles();
    this.#reconcile();
    this.#unsubscribe = membership.onChange(() => {
      this.#reconcile();
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /**
   * The members to query, ordered by id: those that are registered, and those that respond without. Until the registry has responded, they include those known from before the start:
   * they may still be there.
   */
  get members(): readonly Member[] {
    const { members } = this.#membership;
    if (this.#isConfirmed) return this.#lapsed.size === 0 ? members : this.#registeredAndLapsed;
    const listed = new Set(members.map(({ id }) => id));
    const remembered = this.#profiles.all().filter(({ member }) => !listed.has(member.id));
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

  /** What is kept of a current or former member. */
  of(id: string): MemberProfile | undefined {
    return this.#profiles.get(id);
  }

  /** How to ask a member whose registration has ended whether it responds. Without it, such a member has failed. */
  askWith(responds: (id: string) => Promise<boolean>): void {
    this.#responds = responds;
  }

  /** Whether its registration has ended, and it is asked whether it still responds. */
  isLapsed(id: string): boolean {
    return this.#lapsed.has(id);
  }

  /** How to know when a member was last seen of which nothing is kept here. */
  use(lastSeenMs: (id: string) => number | undefined): void {
    this.#lastSeenMs = lastSeenMs;
  }

  /** Members that left or failed, ordered by id. Empty until the registry has responded. */
  departed(): readonly MemberProfile[] {
    return this.#isConfirmed ? this.#profiles.departed() : [];
  }

  /** The state of the member after a request with this outcome. */
  standingOf(id: string, outcome: MemberOutcome): MemberStanding {
    const departed = this.#isConfirmed ? this.#departedState(id) : null;
    if (departed) return departed;
    const lapsed = this.#lapsed.get(id);
    if (lapsed) {
      const { sinceMs } = lapsed;
      if (!isSilent(outcome)) return { state: 'unregistered', sinceMs };
      this.#ask(lapsed);
      return { state: 'failed', sinceMs };
    }
    if (!isSilent(outcome)) return { state: 'up', sinceMs: this.#updateReachability(id, true).sinceMs };
    const { sinceMs } = this.#updateReachability(id, false);
    return { state: this.state.state === 'stale' ? 'unknown' : 'unreachable', sinceMs };
  }

  /** Stores the description of a member, which is untrusted. */
  learn(id: string, { role, labels, node }: { role?: unknown; labels?: unknown; node: unknown }): void {
    if (!this.#membership.learn) return;
    const reportedRole = role ?? DEFAULT_ROLE;
    if (typeof reportedRole !== 'string' || !MEMBER_ROLE.test(reportedRole)) return;
    const object = nodeObjectOrUndefined(node);
    if (object)
      this.#membership.learn(id, {
        role: reportedRole,
        labels: labels === undefined ? undefined : readLabels(labels),
        node: object,
      });
  }

  /** Members with an unknown role. */
  get strangers(): readonly Member[] {
    return this.members.filter(({ role }) => role === UNKNOWN_ROLE);
  }

  /** Records whether a member responds, and since when. */
  #updateReachability(id: string, isUp: boolean): Reachability {
    const known = this.#reachability.get(id);
    if (known?.isUp === isUp) return known;
    // A member that never responded since the start has been down since it was last seen, if ever.
    const sinceMs = known || isUp ? this.#nowMs() : (this.#profiles.asOfMs(id) ?? null);
    const reach = { isUp, sinceMs };
    this.#reachability.set(id, reach);
    return reach;
  }

  /** Drops what is kept of a member that left or failed; returns whether there was something. */
  forget(id: string): boolean {
    this.#reachability.delete(id);
    return this.#profiles.drop(id);
  }

  close(): void {
    this.#unsubscribe();
  }

  #departedState(id: string): DepartedState | null {
    return this.#listed.has(id) ? null : (this.#profiles.getDeparted(id) ?? null);
  }

  /** Restores descriptions from before the restart for members that have not sent theirs yet. */
  #recallRoles(): void {
    for (const { id, url } of this.strangers) {
      const known = this.#profiles.get(id)?.member;
      if (known?.url === url && known.role !== UNKNOWN_ROLE) this.learn(id, known);
    }
  }

  /** Compares the list with the known members: missing ones left or failed, returned ones are members again. */
  #reconcile(): void {
    const { members, state } = this.#membership;
    const listed = new Map(members.map((member) => [member.id, member]));
    this.#isConfirmed ||= state.state === 'ok';
    if (this.#isConfirmed) {
      for (const id of this.#lapsed.keys()) if (listed.has(id)) this.#lapsed.delete(id);
      for (const member of this.#listed.values()) if (!listed.has(member.id)) this.#lapse(member);
      for (const { member, asOfMs, departed } of this.#profiles.all())
        if (!listed.has(member.id) && departed === null && !this.#lapsed.has(member.id)) this.#depart(member, asOfMs);
      for (const id of this.#reachability.keys()) if (!listed.has(id)) this.#reachability.delete(id);
      this.#joinLapsed();
    }
    for (const member of members) this.#profiles.rejoin(member.id);
    this.#profiles.expire();
    this.#listed = listed;
  }

  /** Its registration has ended: if it did not say so, it may still be there. */
  #lapse(member: Member): void {
    const sinceMs = this.#nowMs();
    if (member.isSelf || !this.#responds || this.#hasLeft(member)) {
      this.#depart(member, sinceMs);
      return;
    }
    const lapsed = { member, sinceMs, isAsked: false };
    this.#lapsed.set(member.id, lapsed);
    this.#ask(lapsed);
  }

  /** One that does not respond either has failed. */
  #ask(lapsed: LapsedMember): void {
    if (lapsed.isAsked || !this.#responds) return;
    lapsed.isAsked = true;
    const { member } = lapsed;
    const settle = (isHere: boolean) => {
      lapsed.isAsked = false;
      if (isHere || this.#lapsed.get(member.id) !== lapsed) return;
      this.#lapsed.delete(member.id);
      this.#depart(member, lapsed.sinceMs);
      this.#joinLapsed();
      for (const listener of [...this.#listeners]) listener();
    };
    void owned(this.#responds(member.id).then(settle), () => settle(false));
  }

  /** Made once for every change: the list is read for every request. */
  #joinLapsed(): void {
    const lapsed = [...this.#lapsed.values()].map(({ member }) => member);
    this.#registeredAndLapsed = [...this.#membership.members, ...lapsed].sort(byId);
  }

  #depart(member: Member, sinceMs: number): void {
    if (member.isSelf) return;
    const departed = { state: this.#hasLeft(member) ? 'left' : 'failed', sinceMs } as const;
    this.#profiles.depart(member, departed, this.#lastSeenMs(member.id));
  }

  /** Left if it wrote a departure, or was removed from a static list. */
  #hasLeft({ id, node }: Member): boolean {
    const { kind } = this.state;
    if (kind === 'static' || kind === 'alone') return true;
    return this.#membership.getDeparture?.(id)?.onlineTime === node.onlineTime;
  }
}

function nodeObjectOrUndefined(node: unknown): NodeObject | undefined {
  try {
    return readNodeObject(node);
  } catch (error) {
    if (codeOf(error) !== 'BAD_ANSWER') throw error;
    return undefined;
  }
}
