/** How many members look after another one: two of them may be gone at the same time. */
export const NEIGHBOURS = 3;

/**
 * The neighbours of members, by rendezvous hashing: every node computes the same ones from the same list, and a node that
 * joins or leaves changes only those of a few members. Hashes are computed once for each id.
 */
export class Rendezvous {
  readonly #hashes = new Map<string, number>();

  /** The first of the candidates for this member, best first. The member itself is none. */
  neighbours(id: string, candidates: readonly string[], count = NEIGHBOURS): string[] {
    const best: { id: string; weight: number }[] = [];
    for (const candidate of candidates) {
      if (candidate === id) continue;
      const entry = { id: candidate, weight: this.#weight(id, candidate) };
      if (best.length === count && !isBefore(entry, best.at(-1) as typeof entry)) continue;
      const at = best.findIndex((known) => isBefore(entry, known));
      best.splice(at < 0 ? best.length : at, 0, entry);
      if (best.length > count) best.pop();
    }
    return best.map((entry) => entry.id);
  }

  /** The position of a candidate among the neighbours; -1 if it is none. Gives up early, so that it is cheap for all members. */
  rank(id: string, candidate: string, candidates: readonly string[], count = NEIGHBOURS): number {
    if (candidate === id) return -1;
    const own = { id: candidate, weight: this.#weight(id, candidate) };
    let before = 0;
    for (const other of candidates) {
      if (other === id || other === candidate) continue;
      if (isBefore({ id: other, weight: this.#weight(id, other) }, own) && ++before >= count) return -1;
    }
    return before;
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

function isBefore(a: { id: string; weight: number }, b: { id: string; weight: number }): boolean {
  return a.weight > b.weight || (a.weight === b.weight && a.id < b.id);
}

/** Spreads 32 bits: ids that differ in their last digit must not have the same neighbours. */
function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
