import type { Member } from '@porthole/contract';
import type { Peers } from '../fan-out/peers.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import { CONTRACT_ROLE } from '../membership/static-members.ts';

/** The label by which a recorder is preferred that is elsewhere: what takes the member with it, spares the recorder. */
const ZONE_LABEL = 'zone';

/** A node that does not respond is replaced after this time: one that is only slow must not move recordings around. */
const FAILED_MS = 20_000;

/** It is looked for again after this part of that time: not for each of a thousand members that are looked up in a row. */
const LOOK_SHARE = 1 / 40;

/** More than any weight. */
const OTHER_ZONE = 2 ** 32;

/** In a large cluster, a recording is looked for at the recorders, and at as many that were until others joined or left. */
const ASKED_TIMES = 3;

export interface RecordersDeps {
  directory: Pick<MemberDirectory, 'members' | 'state'>;
  peers: Pick<Peers, 'all'>;
  selfId: string;
  /** How many record each member. */
  count: number;
  /** Up to this many members, every node keeps the configurations of all. */
  directMembers: number;
  /** See `FAILED_MS`. */
  failedMs?: number;
}

/** Who records a member: nodes compute the same from the same list of members, as far as they agree on who responds. */
export class Recorders {
  readonly #deps: RecordersDeps;
  readonly #rendezvous = new Rendezvous();
  #known:
    | {
        members: readonly Member[];
        failed: string;
        candidates: readonly Candidate[];
        own: Map<string, boolean>;
        lookMs: number;
      }
    | undefined;

  /** Since when nodes do not respond, by the monotonic clock. */
  #failedSince: ReadonlyMap<string, number> = new Map();

  constructor(deps: RecordersDeps) {
    this.#deps = deps;
  }

  get keepsAll(): boolean {
    return this.#deps.directory.members.length <= this.#deps.directMembers;
  }

  /** Whether this node keeps the configuration of the member. */
  keeps(id: string): boolean {
    return this.keepsAll || this.records(id);
  }

  /** Whether this node records the member. */
  records(id: string): boolean {
    const { candidates, own } = this.#candidates();
    const known = own.get(id);
    if (known !== undefined) return known;
    const { selfId, count } = this.#deps;
    const isOwn = count > 0 && this.#rendezvous.isAmong(id, selfId, { candidates, count, zone: this.#zoneOf(id) });
    own.set(id, isOwn);
    return isOwn;
  }

  /** Who may have recorded a member, best first. */
  askedFor(id: string): string[] {
    const { candidates } = this.#candidates();
    const count = this.keepsAll ? candidates.length : ASKED_TIMES * this.#deps.count;
    return this.#rendezvous.choose(id, { candidates, count, zone: this.#zoneOf(id) });
  }

  get #failedMs(): number {
    return this.#deps.failedMs ?? FAILED_MS;
  }

  #failed(all: ReturnType<Peers['all']>, nowMs: number): ReadonlySet<string> {
    const failing = all.flatMap(({ member, hasFailed }) => (hasFailed ? member.id : []));
    this.#failedSince = new Map(failing.map((id) => [id, this.#failedSince.get(id) ?? nowMs]));
    return new Set(failing.filter((id) => nowMs - (this.#failedSince.get(id) ?? nowMs) >= this.#failedMs));
  }

  #zoneOf(id: string): string | undefined {
    return this.#deps.directory.members.find((member) => member.id === id)?.labels[ZONE_LABEL];
  }

  /** Nodes like this one that respond. Computed once for each list: each member is looked up often. */
  #candidates(): { candidates: readonly Candidate[]; own: Map<string, boolean> } {
    const { directory, peers, selfId } = this.#deps;
    const { members } = directory;
    const nowMs = performance.now();
    const known = this.#known?.members === members ? this.#known : undefined;
    if (known && nowMs < known.lookMs) return known;
    const lookMs = nowMs + this.#failedMs * LOOK_SHARE;
    const failedIds = this.#failed(peers.all(), nowMs);
    const failed = [...failedIds].join();
    if (known?.failed === failed) return Object.assign(known, { lookMs });
    const isRecorder = ({ id, isSelf, role }: Member) =>
      isSelf || (directory.state.kind !== 'lindb' && role !== CONTRACT_ROLE && !failedIds.has(id));
    const candidates = members.filter(isRecorder).map(({ id, labels }) => ({ id, zone: labels[ZONE_LABEL] }));
    this.#rendezvous.keepOnly(new Set([...members.map(({ id }) => id), selfId]));
    this.#known = { members, failed, candidates, own: new Map(), lookMs };
    return this.#known;
  }
}

interface Candidate {
  id: string;
  zone?: string | undefined;
}

interface Candidates {
  candidates: readonly Candidate[];
  count: number;
  /** That of the member: others are preferred. */
  zone?: string | undefined;
}

/** Rendezvous hashing: a node that joins or leaves changes the choice for a few members only. Each id is hashed once. */
export class Rendezvous {
  readonly #hashes = new Map<string, number>();

  /** The first of the candidates for this member, best first. The member itself is none. */
  choose(id: string, { candidates, count, zone }: Candidates): string[] {
    const others = candidates.filter((candidate) => candidate.id !== id);
    const weighed = others.map((candidate) => ({ id: candidate.id, weight: this.#weight(id, candidate, zone) }));
    weighed.sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
    return weighed.slice(0, count).map((candidate) => candidate.id);
  }

  /** Whether a candidate is chosen. Gives up early, so that it is cheap for all members. */
  isAmong(id: string, wanted: string, { candidates, count, zone }: Candidates): boolean {
    const candidate = candidates.find((each) => each.id === wanted);
    if (wanted === id || !candidate) return false;
    const own = this.#weight(id, candidate, zone);
    let before = 0;
    for (const other of candidates) {
      if (other.id === id || other.id === wanted) continue;
      const weight = this.#weight(id, other, zone);
      if ((weight > own || (weight === own && other.id < wanted)) && ++before >= count) return false;
    }
    return true;
  }

  /** Forgets ids that are no longer used. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#hashes.keys()) if (!ids.has(id)) this.#hashes.delete(id);
  }

  #weight(id: string, candidate: Candidate, zone: string | undefined): number {
    const isElsewhere = zone !== undefined && candidate.zone !== undefined && candidate.zone !== zone;
    const weight = mix(this.#hash(id) ^ Math.imul(this.#hash(candidate.id), 0x9e3779b1));
    return isElsewhere ? weight + OTHER_ZONE : weight;
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

/** Spreads 32 bits: ids that differ in their last digit must not have the same recorders. */
function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
