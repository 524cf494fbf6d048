import type { Member } from '@porthole/contract';
import type { MemberDirectory } from '../../membership/member-directory.ts';
import { CONTRACT_ROLE } from '../../membership/static-members.ts';

/** Nodes that keep the snapshot of a member of a large cluster: two of them may be gone at the same time. */
const KEEPERS = 3;

export interface SnapshotKeepersDeps {
  directory: Pick<MemberDirectory, 'members' | 'state'>;
  selfId: string;
  /** Up to this many members, every node keeps the snapshots of all. */
  directMembers: number;
}

/** Who keeps the snapshot of a member: every node computes the same from the same list of members. */
export class SnapshotKeepers {
  readonly #deps: SnapshotKeepersDeps;
  readonly #rendezvous = new Rendezvous();
  #known: { members: readonly Member[]; candidates: readonly string[]; kept: Map<string, boolean> } | undefined;

  constructor(deps: SnapshotKeepersDeps) {
    this.#deps = deps;
  }

  get keepsAll(): boolean {
    return this.#deps.directory.members.length <= this.#deps.directMembers;
  }

  /** Whether this node keeps the snapshot of the member. */
  keeps(id: string): boolean {
    if (this.keepsAll) return true;
    const { candidates, kept } = this.#candidates();
    const known = kept.get(id);
    if (known !== undefined) return known;
    const isKept = this.#rendezvous.isAmong(id, this.#deps.selfId, { candidates, count: KEEPERS });
    kept.set(id, isKept);
    return isKept;
  }

  /** Where the snapshot of a member is looked for: its keepers, and those that were until others joined. Best first. */
  keepersOf(id: string): string[] {
    return this.#rendezvous.choose(id, { candidates: this.#candidates().candidates, count: 2 * KEEPERS });
  }

  /** Nodes like this one. Computed once for each list, which is replaced when it changes: each member is asked for often. */
  #candidates(): { candidates: readonly string[]; kept: Map<string, boolean> } {
    const { directory, selfId } = this.#deps;
    const { members } = directory;
    if (this.#known?.members === members) return this.#known;
    const isKeeper = ({ isSelf, role }: Member) =>
      isSelf || (directory.state.kind !== 'lindb' && role !== CONTRACT_ROLE);
    const candidates = members.filter(isKeeper).map(({ id }) => id);
    this.#rendezvous.keepOnly(new Set([...members.map(({ id }) => id), selfId]));
    this.#known = { members, candidates, kept: new Map() };
    return this.#known;
  }
}

interface Candidates {
  candidates: readonly string[];
  count: number;
}

/** Rendezvous hashing: a node that joins or leaves changes the choice for a few members only. Each id is hashed once. */
export class Rendezvous {
  readonly #hashes = new Map<string, number>();

  /** The first of the candidates for this member, best first. The member itself is none. */
  choose(id: string, { candidates, count }: Candidates): string[] {
    const others = candidates.filter((candidate) => candidate !== id);
    const weighed = others.map((candidate) => ({ candidate, weight: this.#weight(id, candidate) }));
    weighed.sort((a, b) => b.weight - a.weight || (a.candidate < b.candidate ? -1 : 1));
    return weighed.slice(0, count).map(({ candidate }) => candidate);
  }

  /** Whether a candidate is chosen. Gives up early, so that it is cheap for all members. */
  isAmong(id: string, candidate: string, { candidates, count }: Candidates): boolean {
    if (candidate === id) return false;
    const own = this.#weight(id, candidate);
    let before = 0;
    for (const other of candidates) {
      if (other === id || other === candidate) continue;
      const weight = this.#weight(id, other);
      if ((weight > own || (weight === own && other < candidate)) && ++before >= count) return false;
    }
    return true;
  }

  /** Forgets ids that are no longer used. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#hashes.keys()) if (!ids.has(id)) this.#hashes.delete(id);
  }

  #weight(id: string, candidate: string): number {
    return mix(this.#hash(id) ^ Math.imul(this.#hash(candidate), 0x9e3779b1));
  }

  #hash(id: string): number {
    const known = this.#hashes.get(id);
    if (known !== undefined) return known;
    let hash = 0x811c9dc5;
    for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
    const mixed = mix(hash);
    this.#hashes.set(id, mixed);
    return mixed;
  }
}

/** Spreads 32 bits: ids that differ in their last digit must not have the same keepers. */
function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
