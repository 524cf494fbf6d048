import {
  invalidCursor,
  packCursor,
  readInteger,
  readList,
  readOptionalTime,
  readText,
  readTime,
  unpackCursor,
} from '@porthole/logs';
import type { Reach } from './reach.ts';

/** Where to resume on a member. */
export type MemberPosition =
  /** The start of its search. */
  | 'beginning'
  /** Everything was emitted. */
  | 'done'
  /** By the clock of this node. */
  | { timeMs: number }
  /** A cursor of the member. */
  | { cursor: string }
  | ReplacedPosition
  /** By time, leaving out what was emitted: its cursor was lost. */
  | { reach: Reach; marginMs: number; startMs?: number };

/** In a member that a recording has replaced, which may have less: there may be a gap before what was emitted of it. */
export interface ReplacedPosition {
  /** Where the recording continues. */
  cursor: string;
  /** Where the member itself was. */
  from: MemberPosition;
  /** The first emitted records of the recording, one of each file in order of emission; empty if there were none. */
  until: string;
}

/** Where to resume a cluster search: a position per member. */
export interface ClusterPosition {
  order: 'newest' | 'oldest';
  /** Time of the last emitted record, by the clock of this node: new members start there. `null`: nothing was emitted. */
  reachedMs: number | null;
  members: ReadonlyMap<string, MemberPosition>;
  /** The member of the last record; absent if there was none. */
  lastNode?: string;
}

const MAX_MEMBER_CURSOR = 256 * 1024;
const MAX_MEMBERS = 10_000;
const MAX_DURATION_MS = 86_400_000;

/** As long as ids of nodes and members are. */
export const MAX_ID_CHARACTERS = 128;

export function encodeClusterCursor({ order, reachedMs, members, lastNode }: ClusterPosition): string {
  const positions = [...members].map(([id, position]) => [id, writePosition(position)]);
  return packCursor({ kind: 'cluster', order }, [reachedMs, lastNode ?? null, positions]);
}

/** Throws CURSOR_INVALID for anything `encodeClusterCursor` did not create. The members it names may not exist. */
export function decodeClusterCursor(text: string, order: ClusterPosition['order']): ClusterPosition {
  const [reachedMs, lastNode, positions] = readList(unpackCursor({ kind: 'cluster', order }, text), 3);
  const written = readList(positions);
  if (written.length > MAX_MEMBERS) throw invalidCursor();
  const members = new Map<string, MemberPosition>();
  for (const entry of written) {
    const [id, position] = readList(entry, 2);
    const member = readText(id, MAX_ID_CHARACTERS);
    if (member === '' || members.has(member)) throw invalidCursor();
    members.set(member, readPosition(position));
  }
  const last = lastNode === null ? {} : { lastNode: readText(lastNode, MAX_ID_CHARACTERS) };
  return { order, reachedMs: readOptionalTime(reachedMs), members, ...last };
}

/** Most positions are cursors, which are written as plain strings. */
function writePosition(position: MemberPosition): unknown {
  if (position === 'beginning') return null;
  if (position === 'done') return 0;
  if ('reach' in position) return [...writeReach(position.reach), position.marginMs, position.startMs ?? null];
  if ('timeMs' in position) return [position.timeMs];
  const { cursor } = position;
  return isReplaced(position) ? [cursor, writePosition(position.from), position.until] : cursor;
}

function readPosition(written: unknown): MemberPosition {
  if (written === null) return 'beginning';
  if (written === 0) return 'done';
  if (typeof written === 'string') return { cursor: readCursor(written) };
  const list = readList(written);
  if (list.length === 3) return readReplaced(list);
  if (list.length === 1) return { timeMs: readTime(list[0]) };
  const [timeMs, count, marginMs, startMs] = readList(list, 4);
  const start = startMs === null ? {} : { startMs: readTime(startMs) };
  return { reach: readReach([timeMs, count]), marginMs: readDuration(marginMs), ...start };
}

function readReplaced([cursor, from, until]: readonly unknown[]): ReplacedPosition {
  // The member itself was at none of these.
  if (Array.isArray(from) && from.length === 3) throw invalidCursor();
  return { cursor: readCursor(cursor), from: readPosition(from), until: readText(until, MAX_MEMBER_CURSOR) };
}

export function isReplaced(position: MemberPosition): position is ReplacedPosition {
  return typeof position === 'object' && 'from' in position;
}

function readCursor(written: unknown): string {
  const cursor = readText(written, MAX_MEMBER_CURSOR);
  if (cursor === '') throw invalidCursor();
  return cursor;
}

/** A time and a number of records; JSON has no Infinity. */
export function writeReach({ timeMs, count }: Reach): [timeMs: number | null, count: number] {
  return [timeMs, Number.isFinite(count) ? count : -1];
}

export function readReach(written: unknown): Reach {
  const [timeMs, count] = readList(written, 2);
  return { timeMs: readOptionalTime(timeMs), count: count === -1 ? Infinity : readInteger(count) };
}

/** Milliseconds, of at most a day. */
export function readDuration(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= MAX_DURATION_MS)) throw invalidCursor();
  return value;
}
