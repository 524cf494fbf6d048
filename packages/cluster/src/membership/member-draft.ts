import { errorMessage, type Member } from '@porthole/contract';
import { quote } from './member-address.ts';
import type { Departure } from './membership.ts';

/** Rejections to list by name; the rest are counted. */
const MAX_COMPLAINTS = 3;

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
    if (this.complaints.length < MAX_COMPLAINTS) this.complaints.push(`${quote(key)}: ${reason}`);
  }
}
