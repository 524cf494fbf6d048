import { mergeShapes } from './merge-shapes.ts';

/**
 * Groups kept while counting. If there are more, similar shapes are merged early; what does not fit even then is counted.
 * Merging happens on the main thread: with 20,000 different shapes it took up to 1.8 s, during which nobody was served.
 */
const MAX_GROUPS = 6_000;

/** Merging early is repeated only if it has left so much room. */
const MERGED_GROUPS = (MAX_GROUPS * 3) / 4;

interface TableGroup {
  source: string | null;
  shape: string | null;
  count: number;
  /** There are records of it before the counted range. */
  wasSeen?: boolean;
}

interface TableOptions<Group> {
  /** What identifies a group besides its source and shape. */
  levelOf(group: Group): number | string | null;
  /** Adds what is known of a group but its count, which is not 0, to the same group. */
  join(known: Group, group: Group): void;
}

/** The groups of a digest. */
export class GroupTable<Group extends TableGroup> {
  /** Records of groups for which there was no room. */
  ungrouped = 0;
  readonly #options: TableOptions<Group>;
  #mayMerge = true;
  #groups = new Map<string, Group>();

  constructor(options: TableOptions<Group>) {
    this.#options = options;
  }

  count(group: Group): void {
    if (!this.#add(group)) this.ungrouped += group.count;
  }

  /**
   * Notes that a group has records before the counted range, after all of that was counted: a call site not known by then
   * has none in it. A shape may still merge with others. Returns `false` if there was no room for it.
   */
  see(group: Group): boolean {
    if (group.shape === null && !this.#groups.has(this.#keyOf(group))) return true;
    return this.#add({ ...group, count: 0, wasSeen: true });
  }

  /** Merges groups whose shapes differ in what varies by position only. */
  mergeShapes(): void {
    const groups = [...this.#groups.values()];
    const merged = mergeShapes(groups.flatMap(({ shape }) => shape ?? []));
    this.#groups = new Map();
    for (const group of groups) {
      if (group.shape !== null) group.shape = merged.get(group.shape) ?? group.shape;
      this.#put(this.#keyOf(group), group);
    }
  }

  /** Largest first; equal ones in an order that does not depend on that of counting. */
  largestFirst(): Group[] {
    const counted = [...this.#groups].filter(([, { count }]) => count > 0);
    const sorted = counted.sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1));
    return sorted.map(([, group]) => group);
  }

  #add(group: Group): boolean {
    if (this.#groups.size >= MAX_GROUPS && this.#mayMerge) {
      this.mergeShapes();
      this.#mayMerge = this.#groups.size <= MERGED_GROUPS;
    }
    const key = this.#keyOf(group);
    if (this.#groups.size >= MAX_GROUPS && !this.#groups.has(key)) return false;
    this.#put(key, group);
    return true;
  }

  /** Groups that were only seen come last: `known` is not one of them if the other was counted. */
  #put(key: string, group: Group): void {
    const known = this.#groups.get(key);
    if (!known) {
      this.#groups.set(key, group);
      return;
    }
    if (group.wasSeen) known.wasSeen = true;
    if (group.count === 0) return;
    known.count += group.count;
    this.#options.join(known, group);
  }

  #keyOf(group: Group): string {
    return JSON.stringify([this.#options.levelOf(group), group.source, group.shape]);
  }
}
