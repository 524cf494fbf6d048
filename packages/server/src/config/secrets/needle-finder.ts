import type { MaskRange } from './mask-ranges.ts';

/** Code units per trie node in the edge map's keys. */
const UNITS = 65_536;

/**
 * Finds many strings in a text in one pass (Aho-Corasick), because a file can hold thousands of secrets, and looking
 * for each in every comment takes minutes. An empty needle is never found.
 */
export class NeedleFinder {
  readonly #edges = new Map<number, number>();
  readonly #parents: number[] = [0];
  readonly #units: number[] = [0];
  readonly #depths: number[] = [0];
  readonly #fails: number[] = [0];
  /** Length of the needle that ends at a node, 0 for none. */
  readonly #lengths: number[] = [0];
  /** The nearest node on the fail path, itself excluded, at which a needle ends. */
  readonly #shorter: number[] = [0];

  constructor(needles: Iterable<string>) {
    for (const needle of needles) this.#insert(needle);
    this.#link();
  }

  /** The longest accepted needle at each place; ranges can overlap. */
  find(text: string, accept: (range: MaskRange) => boolean = () => true): MaskRange[] {
    const found: MaskRange[] = [];
    if (this.#parents.length === 1) return found;
    let node = 0;
    for (let index = 0; index < text.length; index++) {
      node = this.#step(node, text.charCodeAt(index));
      let match = this.#lengthAt(node) > 0 ? node : (this.#shorter[node] ?? 0);
      for (; match !== 0; match = this.#shorter[match] ?? 0) {
        const range = { start: index + 1 - this.#lengthAt(match), end: index + 1 };
        if (!accept(range)) continue;
        found.push(range);
        break;
      }
    }
    return found;
  }

  #lengthAt(node: number): number {
    return this.#lengths[node] ?? 0;
  }

  #insert(needle: string): void {
    let node = 0;
    for (let index = 0; index < needle.length; index++) {
      const unit = needle.charCodeAt(index);
      let next = this.#edges.get(node * UNITS + unit);
      if (next === undefined) {
        next = this.#parents.push(node) - 1;
        this.#units.push(unit);
        this.#depths.push(index + 1);
        this.#fails.push(0);
        this.#lengths.push(0);
        this.#shorter.push(0);
        this.#edges.set(node * UNITS + unit, next);
      }
      node = next;
    }
    this.#lengths[node] = needle.length;
  }

  /** Fail links need those of all shallower nodes, so the nodes are visited by depth. */
  #link(): void {
    const nodes = Uint32Array.from(this.#parents.keys()).sort((a, b) => this.#depthAt(a) - this.#depthAt(b));
    for (const node of nodes) {
      if (this.#depthAt(node) < 2) continue;
      const fail = this.#step(this.#fails[this.#parents[node] ?? 0] ?? 0, this.#units[node] ?? 0);
      this.#fails[node] = fail;
      this.#shorter[node] = this.#lengthAt(fail) > 0 ? fail : (this.#shorter[fail] ?? 0);
    }
  }

  #depthAt(node: number): number {
    return this.#depths[node] ?? 0;
  }

  #step(from: number, unit: number): number {
    let node = from;
    for (;;) {
      const next = this.#edges.get(node * UNITS + unit);
      if (next !== undefined) return next;
      if (node === 0) return 0;
      node = this.#fails[node] ?? 0;
    }
  }
}
