import type { Member } from '@porthole/contract';
import { quote } from './member-id.ts';
import type { Departure } from './membership.ts';

/** So many refusals are told by name; the rest is counted. */
const MAX_COMPLAINTS = 3;

/** Finds the member in a value, or throws what is wrong with it. */
export type ReadMember = (key: string, value: Uint8Array) => Member;

/**
 * The departure that a key and its value stand for. `undefined` where the key is none of a departure; without a
 * `departure` where its value makes no sense, or it was removed.
 */
export type ReadDeparture = (
  key: string,
  value: Uint8Array | undefined,
) => { id: string; departure: Departure | undefined } | undefined;

/** The next list of members while it is put together from what the registry says. */
export class MemberDraft {
  /** By key, in the order of the keys as they came. */
  readonly known: Map<string, Member>;
  /** Keys that are no members. */
  readonly refused: Set<string>;
  /** How members stopped that deregistered themselves, by id. */
  readonly departures: Map<string, Departure>;
  /** What is wrong with those that are new. */
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

  /** For a new list; what was refused in the one before is not complained about again. */
  static fresh(before?: MemberDraft): MemberDraft {
    return new MemberDraft(before, { isEmpty: true });
  }

  /** For changes to the one before. */
  static from(before: MemberDraft): MemberDraft {
    return new MemberDraft(before, { isEmpty: false });
  }

  /** New refusals, also those that are not in `complaints`. */
  get complaintCount(): number {
    return this.#complaintCount;
  }

  /** Some were left out only because there was no place for them. */
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
        throw new Error(`there are ${maxMembers} members already`);
      }
      this.known.set(key, member);
      this.refused.delete(key);
    } catch (thrown) {
      this.known.delete(key);
      this.#refuse(key, thrown instanceof Error ? thrown.message : String(thrown), maxMembers);
    }
  }

  /** As many as members at most: a registry full of rubbish must not fill the memory. */
  putDeparture(id: string, departure: Departure | undefined, { maxMembers }: { maxMembers: number }): void {
    this.departures.delete(id);
    if (departure !== undefined && this.departures.size < maxMembers) this.departures.set(id, departure);
  }

  /** One place is this node's own. */
  hasRoom(maxMembers: number): boolean {
    return this.known.size + 1 < maxMembers;
  }

  remove(key: string): void {
    this.known.delete(key);
    this.refused.delete(key);
  }

  #refuse(key: string, reason: string, maxMembers: number): void {
    // As many as members at most: a registry full of rubbish must not fill the memory.
    if (this.refused.size < maxMembers) this.refused.add(key);
    if (this.#refusedBefore?.has(key)) return;
    this.#complaintCount++;
    if (this.complaints.length < MAX_COMPLAINTS) this.complaints.push(`${quote(key)}: ${reason}`);
  }
}
