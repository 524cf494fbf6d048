import { errorMessage, type Member, type MembershipState, quoteInput } from '@porthole/contract';
import { byId, type Departure, type MembershipLog } from './membership.ts';

/** Rejections to list by name; the rest are counted. */
const MAX_COMPLAINTS = 3;

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
  #asOfMs = Date.now(); // clock: as of when a list is shown
  /** Where another node is that is registered with the id of this one. */
  namesakeUrl: string | null = null;
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
    this.#asOfMs = Date.now(); // clock: as of when a list is shown
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

/** Decodes a member, or throws why the value is invalid. */
export type ReadMember = (key: string, value: Uint8Array) => Member;

/**
 * Decodes a departure. `undefined` if the key is not that of a departure; without `departure` if its value is invalid or was
 * removed.
 */
export type ReadDeparture = (
  key: string,
  value: Uint8Array | undefined,
) => { id: string; departure: Departure | undefined } | undefined;

/** The next list of members while it is built from the registry. */
export class MemberDraft {
  /** By key, in insertion order. */
  readonly known: Map<string, Member>;
  /** Keys that are not members. */
  readonly refused: Set<string>;
  /** Departures of members that deregistered, by id. */
  readonly departures: Map<string, Departure>;
  /** Reasons of new rejections. */
  readonly complaints: string[] = [];
  #complaintCount = 0;
  #isOverfull: boolean;
  readonly #refusedBefore: ReadonlySet<string> | undefined;

  private constructor(before: MemberDraft | undefined, { isEmpty }: { isEmpty: boolean }) {
    this.#refusedBefore = before?.refused;
    this.known = new Map(isEmpty ? [] : before?.known);
    this.refused = new Set(isEmpty ? [] : before?.refused);
    this.departures = new Map(isEmpty ? [] : before?.departures);
    this.#isOverfull = !isEmpty && before?.isOverfull === true;
  }

  /** Starts a new list; earlier rejections are not reported again. */
  static fresh(before?: MemberDraft): MemberDraft {
    return new MemberDraft(before, { isEmpty: true });
  }

  /** Starts from the previous list. */
  static from(before: MemberDraft): MemberDraft {
    return new MemberDraft(before, { isEmpty: false });
  }

  /** Number of new rejections, including those not in `complaints`. */
  get complaintCount(): number {
    return this.#complaintCount;
  }

  /** Whether some were ignored only because of the limit. */
  get isOverfull(): boolean {
    return this.#isOverfull;
  }

  put(
    key: string,
    value: Uint8Array | undefined,
    { read, maxMembers }: { read: ReadMember; maxMembers: number },
  ): void {
    try {
      if (value === undefined) throw new Error('its value is too large');
      const member = read(key, value);
      if (!this.known.has(key) && !this.hasRoom(maxMembers)) {
        this.#isOverfull = true;
        throw new Error(`there are already ${maxMembers} members`);
      }
      this.known.set(key, member);
      this.refused.delete(key);
    } catch (thrown) {
      this.known.delete(key);
      this.#refuse(key, errorMessage(thrown), maxMembers);
    }
  }

  /** Bounded by the number of members: invalid keys must not fill the memory. */
  putDeparture(id: string, departure: Departure | undefined, { maxMembers }: { maxMembers: number }): void {
    this.departures.delete(id);
    if (departure !== undefined && this.departures.size < maxMembers) this.departures.set(id, departure);
  }

  /** One slot is for this node. */
  hasRoom(maxMembers: number): boolean {
    return this.known.size + 1 < maxMembers;
  }

  remove(key: string): void {
    this.known.delete(key);
    this.refused.delete(key);
  }

  #refuse(key: string, reason: string, maxMembers: number): void {
    // Bounded by the number of members: invalid keys must not fill the memory.
    if (this.refused.size < maxMembers) this.refused.add(key);
    if (this.#refusedBefore?.has(key)) return;
    this.#complaintCount++;
    if (this.complaints.length < MAX_COMPLAINTS) this.complaints.push(`${quoteInput(key)}: ${reason}`);
  }
}
