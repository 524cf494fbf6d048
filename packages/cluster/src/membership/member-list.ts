import type { Member, MembershipState } from '@porthole/contract';
import type { MemberDraft } from './member-draft.ts';
import { byId, type Departure, type MembershipLog } from './membership.ts';

interface MemberListOptions {
  kind: MembershipState['kind'];
  self: Member;
  log: MembershipLog;
}

/** The published members: replaced as a whole, with one notification per change. */
export class MemberList {
  readonly #options: MemberListOptions;
  readonly #listeners = new Set<() => void>();
  #members: readonly Member[];
  #state: 'ok' | 'stale' = 'stale';
  #detail: string | null = 'the registry was not queried yet';
  #asOfMs = Date.now();
  /** Another node is registered with the id of this one. */
  isDuplicate = false;
  #departures: ReadonlyMap<string, Departure> = new Map();

  constructor(options: MemberListOptions) {
    this.#options = options;
    this.#members = [options.self];
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  get state(): MembershipState {
    return { kind: this.#options.kind, state: this.#state, detail: this.#detail, asOfMs: this.#asOfMs };
  }

  getDeparture(id: string): Departure | undefined {
    return this.#departures.get(id);
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener(); // the same function registered twice counts as two listeners
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** The registry responded: the list is current as of now. */
  confirm(): void {
    this.#asOfMs = Date.now();
  }

  /** Publishes a draft. */
  take(draft: MemberDraft): void {
    const found = new Map([[this.#options.self.id, this.#options.self]]);
    let taken = 0;
    for (const member of draft.known.values()) {
      if (found.has(member.id)) taken++;
      else found.set(member.id, member);
    }
    this.confirm();
    this.#departures = draft.departures;
    this.#publish([...found.values()].sort(byId), 'ok', describeUnused(draft.refused.size + taken));
  }

  /** The registry is unavailable: the list becomes stale. */
  lose(detail: string): void {
    this.#publish(this.#members, 'stale', detail);
  }

  #publish(members: readonly Member[], state: 'ok' | 'stale', detail: string | null): void {
    const isSame = isSameList(this.#members, members);
    if (isSame && this.#state === state && this.#detail === detail) return;
    if (!isSame) this.#members = members;
    this.#state = state;
    this.#detail = detail;
    for (const listener of [...this.#listeners]) this.#call(listener);
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      // A failing listener must not stop the watch.
      this.#options.log.warn('listener', 'a membership listener failed', { error: String(error) });
    }
  }
}

function describeUnused(count: number): string | null {
  return count === 0 ? null : `${count} invalid registrations; see the log`;
}

function isSameList(left: readonly Member[], right: readonly Member[]): boolean {
  return left.length === right.length && left.every((member, at) => isSameMember(member, right[at]));
}

/** Both come from the same decoder, so their fields are in the same order. */
function isSameMember(left: Member, right: Member | undefined): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
