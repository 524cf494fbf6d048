import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { PortholeError } from '@porthole/contract';
import type { GivenRange } from './given-records.ts';
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
  /** By time, leaving out what was emitted: its cursor was lost. */
  | { reach: Reach; marginMs: number; startMs?: number };

/** Where to resume on a member whose snapshot was searched in its place: the end of a snapshot is not that of the member. */
export interface ReplacedPosition {
  /** After what it sent itself. */
  own: MemberPosition;
  /** What its snapshot gave since then. */
  given: readonly GivenRange[];
  /** How far its snapshot was emitted before that, where it is only known by time. */
  reach?: Reach;
}

/** Where to resume a cluster search: a position per member. */
export interface ClusterPosition {
  order: 'newest' | 'oldest';
  /** Time of the last emitted record, by the clock of this node: new members start there. `null`: nothing was emitted. */
  reachedMs: number | null;
  members: ReadonlyMap<string, MemberPosition | ReplacedPosition>;
  /** The member of the last record; absent if there was none, or in cursors of earlier versions. */
  lastNode?: string;
}

const VERSION = 1;

/** Enough for a thousand members with a few logs each; larger cursors are invalid. */
const MAX_TEXT_CHARACTERS = 512 * 1024;
const MAX_JSON_BYTES = 2 * 1024 ** 2;
const MAX_MEMBER_CURSOR = 256 * 1024;
const MAX_MEMBERS = 10_000;
const MAX_ID_CHARACTERS = 128;
const MAX_DURATION_MS = 86_400_000;
const MAX_GIVEN = 10_000;

/** URL-safe. */
export function encodeClusterCursor(position: ClusterPosition): string {
  return packPosition(position).toString('base64url');
}

/** The bytes of a cursor. */
export function packPosition({ order, reachedMs, members, lastNode }: ClusterPosition): Buffer {
  const positions = [...members].map(([id, position]) => [id, encodeAny(position)]);
  return deflateRawSync(
    JSON.stringify([VERSION, order, reachedMs, positions, ...(lastNode === undefined ? [] : [lastNode])]),
  );
}

/** Throws CURSOR_INVALID for anything `encodeClusterCursor` did not create. The members it names may not exist. */
export function decodeClusterCursor(text: string): ClusterPosition {
  return readPosition(unpackCursor(text));
}

/** A position of `packPosition`, which was kept on this node. */
export function unpackPosition(packed: Buffer): ClusterPosition {
  return readPosition(JSON.parse(inflateRawSync(packed).toString('utf8')));
}

/** Throws CURSOR_INVALID unless it is a position as JSON. */
export function readPosition(written: unknown): ClusterPosition {
  const hasLast = Array.isArray(written) && written.length === 5;
  const [version, order, reachedMs, positions, lastNode] = checkArray(written, hasLast ? 5 : 4);
  if (version !== VERSION) throw invalidCursor();
  if (order !== 'newest' && order !== 'oldest') throw invalidCursor();
  if (!Array.isArray(positions) || positions.length > MAX_MEMBERS) throw invalidCursor();
  const members = new Map<string, MemberPosition | ReplacedPosition>();
  for (const entry of positions) {
    const [id, position] = checkArray(entry, 2);
    if (typeof id !== 'string' || id === '' || id.length > MAX_ID_CHARACTERS || members.has(id)) throw invalidCursor();
    members.set(id, isReplaced(position) ? decodeReplaced(position) : decodePosition(position));
  }
  if (hasLast && typeof lastNode !== 'string') throw invalidCursor();
  return {
    order,
    reachedMs: checkOptionalTime(reachedMs),
    members,
    ...(typeof lastNode === 'string' && { lastNode }),
  };
}

function encodeAny(position: MemberPosition | ReplacedPosition): unknown {
  if (typeof position === 'string' || !('own' in position)) return encodePosition(position);
  const { own, given, reach } = position;
  const ranges = given.map(({ file, head, from, to, lastMs }) => [file, head, from, to, lastMs]);
  return [encodePosition(own), ranges, reach ? [reach.timeMs, encodeCount(reach.count)] : 0];
}

/** By its length: no other position has this one. */
function isReplaced(written: unknown): written is unknown[] {
  return Array.isArray(written) && written.length === 3;
}

function decodeReplaced([own, given, reach]: readonly unknown[]): ReplacedPosition {
  if (!Array.isArray(given) || given.length > MAX_GIVEN) throw invalidCursor();
  return {
    own: decodePosition(own),
    given: given.map((range) => {
      const [file, head, from, to, lastMs] = checkArray(range, 5);
      if (typeof file !== 'string' || typeof head !== 'string') throw invalidCursor();
      if (typeof from !== 'number' || typeof to !== 'number') throw invalidCursor();
      return { file, head, from, to, lastMs: checkOptionalTime(lastMs) };
    }),
    ...(reach !== 0 && { reach: decodeReach(reach) }),
  };
}

/** A time and a number of records. */
export function decodeReach(written: unknown): Reach {
  const [timeMs, count] = checkArray(written, 2);
  return { timeMs: checkOptionalTime(timeMs), count: decodeCount(count) };
}

/** Most positions are cursors, which are written as plain strings. */
function encodePosition(position: MemberPosition): string | number | null | (number | null)[] {
  if (position === 'beginning') return null;
  if (position === 'done') return 0;
  if ('reach' in position) {
    const { reach, marginMs, startMs = null } = position;
    return [reach.timeMs, encodeCount(reach.count), marginMs, startMs];
  }
  return 'cursor' in position ? position.cursor : [position.timeMs];
}

function decodePosition(written: unknown): MemberPosition {
  if (written === null) return 'beginning';
  if (written === 0) return 'done';
  if (typeof written === 'string') {
    if (written === '' || written.length > MAX_MEMBER_CURSOR) throw invalidCursor();
    return { cursor: written };
  }
  if (Array.isArray(written) && written.length === 4) {
    const [timeMs, count, marginMs, startMs] = written;
    const reach = { timeMs: checkOptionalTime(timeMs), count: decodeCount(count) };
    return { reach, marginMs: checkDuration(marginMs), ...(startMs !== null && { startMs: checkTime(startMs) }) };
  }
  return { timeMs: checkTime(checkArray(written, 1)[0]) };
}

/** JSON has no Infinity. */
export function encodeCount(count: number): number {
  return Number.isFinite(count) ? count : -1;
}

export function decodeCount(written: unknown): number {
  if (!Number.isSafeInteger(written) || Number(written) < -1) throw invalidCursor();
  return written === -1 ? Infinity : Number(written);
}

/** Milliseconds, of at most a day. */
export function checkDuration(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= MAX_DURATION_MS)) throw invalidCursor();
  return value;
}

export function checkOptionalTime(value: unknown): number | null {
  return value === null ? null : checkTime(value);
}

/** The JSON of a cursor. Throws CURSOR_INVALID. */
export function unpackCursor(text: string): unknown {
  if (text.length > MAX_TEXT_CHARACTERS || !/^[\w-]+$/.test(text)) throw invalidCursor();
  try {
    return JSON.parse(
      inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: MAX_JSON_BYTES }).toString('utf8'),
    );
  } catch (cause) {
    throw invalidCursor(cause);
  }
}

export function checkArray(value: unknown, length: number): unknown[] {
  if (!Array.isArray(value) || value.length !== length) throw invalidCursor();
  return value;
}

/** The range of `Date`. */
export function checkTime(value: unknown): number {
  if (typeof value !== 'number' || !(Math.abs(value) <= 8.64e15)) throw invalidCursor();
  return value;
}

export function invalidCursor(cause?: unknown): PortholeError {
  const message = 'invalid cluster cursor: use it exactly as returned';
  return new PortholeError('CURSOR_INVALID', message, cause === undefined ? undefined : { cause });
}
