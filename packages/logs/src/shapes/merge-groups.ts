import type { DigestGroup } from '../types.ts';
import { mergeShapes } from './merge-shapes.ts';

/** What identifies a group. */
type Origin = Pick<DigestGroup, 'level' | 'source' | 'shape'>;

type CountedGroup = DigestGroup & { nodes: Readonly<Record<string, number>> };

/** The groups of a member, or of another store: its largest. */
export interface GroupPart<Group> {
  groups: readonly Group[];
  totalGroups: number;
  ungrouped: number;
}

interface MergeGroupsOptions {
  limit: number;
  onlyNew?: boolean | undefined;
  /**
   * If it was asked what is new: the groups of all records before that time, and of whom some may be missing. Who marked a
   * group new has none of it.
   */
  past?: { newSinceMs: number; groups: readonly Origin[]; unread: readonly string[] } | undefined;
}

/** Merges groups with the same source location or similar message shapes, largest first. */
export function mergeGroups<Group extends CountedGroup>(
  parts: readonly GroupPart<Group>[],
  { limit, onlyNew = false, past }: MergeGroupsOptions,
): { groups: Group[]; totalGroups: number; ungrouped: number } {
  const keyOf = createKeys([...parts.flatMap(({ groups }) => groups), ...(past?.groups ?? [])]);
  const merged = new Map<string, Group>();
  const totals = parts.map(({ groups, totalGroups }) => {
    const keys = new Set<string>();
    for (const given of groups) {
      const { key, shape } = keyOf(given);
      keys.add(key);
      const known = merged.get(key);
      merged.set(key, known ? join(known, given) : { ...given, shape });
    }
    return { unseen: Math.max(0, totalGroups - groups.length), keys };
  });
  const seen = new Set(past?.groups.map((group) => keyOf(group).key));
  const judge = (key: string, { isNewUnknown: _isUnknown, ...group }: Group) => {
    const { newSinceMs = Infinity, unread = [] } = past ?? {};
    const isOld = past === undefined || seen.has(key) || (group.firstMs ?? Infinity) < newSinceMs;
    const isKnown = unread.length === 0 || (group.isNew && unread.every((id) => Object.hasOwn(group.nodes, id)));
    const isNew = !isOld && isKnown && group.firstMs !== null;
    return { ...group, isNew, ...(!isOld && !isNew && { isNewUnknown: true as const }) } as Group;
  };
  const judged = [...merged].map(([key, group]) => [key, judge(key, group)] as const);
  const wanted = new Map(judged.filter(([, { isNew, isNewUnknown }]) => !onlyNew || isNew || isNewUnknown));
  const ranked = [...wanted].sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1));
  // An estimate: groups that a part has not sent may be those of others, or merge with them.
  const known = totals.map(({ unseen, keys }) => unseen + [...keys].filter((key) => wanted.has(key)).length);
  return {
    groups: ranked.slice(0, limit).map(([, group]) => group),
    totalGroups: Math.max(ranked.length, ...known),
    ungrouped: parts.reduce((sum, { ungrouped }) => sum + ungrouped, 0),
  };
}

/** The keys of groups, by shapes that were merged over all of them. */
function createKeys(origins: readonly Origin[]): (origin: Origin) => { key: string; shape: string | null } {
  const shapes = mergeShapes(origins.flatMap(({ source, shape }) => (source === null ? (shape ?? []) : [])));
  return ({ level, source, shape: given }) => {
    const shape = source === null && given !== null ? (shapes.get(given) ?? given) : given;
    return { key: JSON.stringify([level, source, source === null ? shape : null]), shape };
  };
}

function join<Group extends CountedGroup>(a: Group, b: Group): Group {
  const nodes = new Map(Object.entries(a.nodes));
  for (const [id, count] of Object.entries(b.nodes)) nodes.set(id, (nodes.get(id) ?? 0) + count);
  return {
    ...a,
    count: a.count + b.count,
    firstMs: pick(a.firstMs, b.firstMs, Math.min),
    lastMs: pick(a.lastMs, b.lastMs, Math.max),
    isNew: a.isNew && b.isNew,
    sample: (b.lastMs ?? -Infinity) > (a.lastMs ?? -Infinity) ? b.sample : a.sample,
    nodes: Object.fromEntries(nodes),
  };
}

function pick(a: number | null, b: number | null, choose: (a: number, b: number) => number): number | null {
  return a === null ? b : b === null ? a : choose(a, b);
}
