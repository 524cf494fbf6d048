import type { ClusterDigest, ClusterRecord } from '@porthole/contract';
import { mergeShapes } from '@porthole/logs';
import type { Digest, DigestGroup } from '@porthole/logs/types';

export type ClusterGroup = ClusterDigest['groups'][number];

/** The groups of a member, by its own clock. */
export interface MemberDigest {
  id: string;
  offsetMs: number;
  digest: Pick<Digest, 'groups' | 'totalGroups' | 'ungrouped'>;
}

interface Merging extends Omit<ClusterGroup, 'nodes'> {
  nodes: Map<string, number>;
}

/**
 * Merges groups with the same source location or similar message shapes. A group is new only if it is new on each member that
 * has it. Largest first.
 */
export function mergeDigests(
  digests: readonly MemberDigest[],
  { limit, onlyNew }: { limit: number; onlyNew: boolean },
): Omit<ClusterDigest, 'members'> {
  const merged = new Map<string, Merging>();
  const shapes = mergeShapes(digests.flatMap(({ digest }) => digest.groups.flatMap((group) => shapeOf(group) ?? [])));
  const totals = digests.map(({ id, offsetMs, digest }) => {
    const keys = new Set<string>();
    for (const given of digest.groups) {
      const shape = shapeOf(given);
      const group = { ...given, shape: shape === null ? given.shape : (shapes.get(shape) ?? shape) };
      const key = JSON.stringify([group.level, group.source, shapeOf(group)]);
      keys.add(key);
      const known = merged.get(key);
      if (known === undefined) merged.set(key, toMerging(group, { id, offsetMs }));
      else join(known, toMerging(group, { id, offsetMs }));
    }
    return digest.totalGroups - digest.groups.length + keys.size;
  });
  const wanted = [...merged].filter(([, { isNew }]) => isNew || !onlyNew);
  const ranked = wanted.sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1));
  // An estimate: a member may have more groups than it sent, and their overlap is unknown.
  const known = onlyNew ? [] : totals;
  return {
    groups: ranked.slice(0, limit).map(([, { nodes, ...group }]) => ({ ...group, nodes: Object.fromEntries(nodes) })),
    totalGroups: Math.max(ranked.length, ...known),
    ungrouped: digests.reduce((sum, { digest }) => sum + digest.ungrouped, 0),
  };
}

/** What identifies a group without a source location. */
function shapeOf({ source, shape }: DigestGroup): string | null {
  return source === null ? shape : null;
}

function toMerging(group: DigestGroup, { id, offsetMs }: { id: string; offsetMs: number }): Merging {
  const shift = (timeMs: number | null) => (timeMs === null ? null : timeMs - offsetMs);
  return {
    ...group,
    firstMs: shift(group.firstMs),
    lastMs: shift(group.lastMs),
    sample: toSample(group, { id, offsetMs }),
    nodes: new Map([[id, group.count]]),
  };
}

function toSample({ sample }: DigestGroup, { id, offsetMs }: { id: string; offsetMs: number }): ClusterRecord {
  return { ...sample, node: id, ...(sample.timeMs !== undefined && { atMs: sample.timeMs - offsetMs }) };
}

function join(known: Merging, other: Merging): void {
  if ((other.lastMs ?? -Infinity) > (known.lastMs ?? -Infinity)) known.sample = other.sample;
  known.count += other.count;
  known.firstMs = pick(known.firstMs, other.firstMs, Math.min);
  known.lastMs = pick(known.lastMs, other.lastMs, Math.max);
  known.isNew &&= other.isNew;
  for (const [id, count] of other.nodes) known.nodes.set(id, (known.nodes.get(id) ?? 0) + count);
}

function pick(a: number | null, b: number | null, choose: (a: number, b: number) => number): number | null {
  return a === null ? b : b === null ? a : choose(a, b);
}
