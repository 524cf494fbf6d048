import type { Member } from '@porthole/contract';

/** When questions go through helpers, and how many members each of them asks. */
export interface TreeOptions {
  /** Members from which on there are groups; 0: never. */
  from: number;
  /** Members of a group; 0: the square root of the number of members. */
  groupSize: number;
}

/** Smaller groups save next to nothing. */
const MIN_GROUP = 8;

/** Helpers refuse larger ones. */
export const MAX_GROUP = 256;

/** The label by which members are grouped first: a helper should be near its group. */
const ZONE_LABEL = 'zone';

interface Grouped {
  member: Member;
}

/**
 * Divides members into groups, by zone where that is known, else by role, else by id; `[]` if there are too few. Zones that
 * are smaller than half a group share one.
 */
export function planGroups<T extends Grouped>(members: readonly T[], { from, groupSize }: TreeOptions): T[][] {
  if (from === 0 || members.length < from) return [];
  const size = Math.min(MAX_GROUP, groupSize || Math.max(MIN_GROUP, Math.ceil(Math.sqrt(members.length))));
  const sorted = members
    .map((each) => ({ each, place: placeOf(each), id: each.member.id }))
    .sort((a, b) => compareText(a.place, b.place) || compareText(a.id, b.id));
  const groups: T[][] = [];
  let place: string | undefined;
  for (const { each, place: next } of sorted) {
    const last = groups.at(-1);
    const isFull = last === undefined || last.length >= size || (next !== place && last.length >= size / 2);
    if (isFull) groups.push([each]);
    else last.push(each);
    place = next;
  }
  return groups;
}

function placeOf({ member: { labels, role } }: Grouped): string {
  return `${labels[ZONE_LABEL] ?? ''}\n${role}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
