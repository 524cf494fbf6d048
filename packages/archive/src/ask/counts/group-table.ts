import { mergeShapes } from '@porthole/logs';
import type { Level } from '@porthole/logs/types';

/** Orders records by age, and identifies one of a node: has_time, time_ms, log, file_id, file_offset. */
export type NewestKey = [number, number, string, string, number];

/** Groups kept, as on a node. If there are more, similar shapes are merged early; what does not fit even then is counted. */
const MAX_GROUPS = 6000;

/** Merging early is repeated only if it has left so much room. */
const MERGED_GROUPS = (MAX_GROUPS * 3) / 4;

export interface ArchivedGroup {
  level: Level | null;
  source: string | null;
  shape: string | null;
  count: number;
  firstMs: number | null;
  lastMs: number | null;
  newest: NewestKey;
  newestNode: string;
  nodes: Map<string, number>;
  /** There are records of it before the counted range. */
  wasSeen?: boolean;
}

/** The groups of a digest. */
export class GroupTable {
  ungrouped = 0;
  #mayMerge = true;
  #groups = new Map<string, ArchivedGroup>();

  count(group: ArchivedGroup): void {
    if (!this.#add(group)) this.ungrouped += group.count;
  }

  /** Notes a group of records before the counted range, after all of that was counted. Returns `false` if there is no room. */
  see(group: ArchivedGroup): boolean {
    if (group.shape === null && !this.#groups.has(toKey(group))) return true;
    return this.#add({ ...group, count: 0, nodes: new Map(), wasSeen: true });
  }

  /** Largest first; equal ones in an order that does not depend on that of the rows. */
  largestFirst(): ArchivedGroup[] {
    this.#mergeShapes();
    return [...this.#groups]
      .filter(([, { count }]) => count > 0)
      .sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1))
      .map(([, group]) => group);
  }

  #add(group: ArchivedGroup): boolean {
    if (this.#groups.size >= MAX_GROUPS && this.#mayMerge) {
      this.#mergeShapes();
      this.#mayMerge = this.#groups.size <= MERGED_GROUPS;
    }
    const key = toKey(group);
    const known = this.#groups.get(key);
    if (known) join(known, group);
    else if (this.#groups.size < MAX_GROUPS) this.#groups.set(key, group);
    else return false;
    return true;
  }

  #mergeShapes(): void {
    const groups = [...this.#groups.values()];
    const merged = mergeShapes(groups.flatMap(({ shape }) => shape ?? []));
    this.#groups = new Map();
    for (const group of groups) {
      if (group.shape !== null) group.shape = merged.get(group.shape) ?? group.shape;
      const key = toKey(group);
      const known = this.#groups.get(key);
      if (known) join(known, group);
      else this.#groups.set(key, group);
    }
  }
}

function toKey({ level, source, shape }: ArchivedGroup): string {
  return JSON.stringify([level, source, shape]);
}

/** Groups that were only seen come last: `known` is not one of them if the other was counted. */
function join(known: ArchivedGroup, group: ArchivedGroup): void {
  if (group.wasSeen) known.wasSeen = true;
  if (group.count === 0) return;
  known.count += group.count;
  known.firstMs = pick(known.firstMs, group.firstMs, Math.min);
  known.lastMs = pick(known.lastMs, group.lastMs, Math.max);
  for (const [node, count] of group.nodes) known.nodes.set(node, (known.nodes.get(node) ?? 0) + count);
  if (!isNewer(group, known)) return;
  known.newest = group.newest;
  known.newestNode = group.newestNode;
}

/** Of records of the same age, that of the first node, as members are merged. */
function isNewer(one: ArchivedGroup, other: ArchivedGroup): boolean {
  for (const [index, value] of one.newest.entries()) {
    const compared = other.newest[index] ?? value;
    if (value !== compared) return value > compared;
  }
  return one.newestNode < other.newestNode;
}

function pick(a: number | null, b: number | null, choose: (a: number, b: number) => number): number | null {
  return a === null ? b : b === null ? a : choose(a, b);
}
