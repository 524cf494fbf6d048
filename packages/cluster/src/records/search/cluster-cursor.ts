import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { PortholeError } from '@porthole/contract';

/** Where to resume on a member. */
export type MemberPosition =
  /** The start of its search. */
  | 'beginning'
  /** Everything was emitted. */
  | 'done'
  /** By the clock of this node. */
  | { timeMs: number }
  /** A cursor of the member. */
  | { cursor: string };

/** Where to resume a cluster search: a position per member. */
export interface ClusterPosition {
  order: 'newest' | 'oldest';
  /** Time of the last emitted record, by the clock of this node: new members start there. `null`: nothing was emitted. */
  reachedMs: number | null;
  members: ReadonlyMap<string, MemberPosition>;
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

/** URL-safe. */
export function encodeClusterCursor({ order, reachedMs, members, lastNode }: ClusterPosition): string {
  const positions = [...members].map(([id, position]) => [id, encodePosition(position)]);
  return deflateRawSync(
    JSON.stringify([VERSION, order, reachedMs, positions, ...(lastNode === undefined ? [] : [lastNode])]),
  ).toString('base64url');
}

/** Throws CURSOR_INVALID for anything `encodeClusterCursor` did not create. The members it names may not exist. */
export function decodeClusterCursor(text: string): ClusterPosition {
  const written = unpack(text);
  const hasLast = Array.isArray(written) && written.length === 5;
  const [version, order, reachedMs, positions, lastNode] = checkArray(written, hasLast ? 5 : 4);
  if (version !== VERSION) throw invalid();
  if (order !== 'newest' && order !== 'oldest') throw invalid();
  if (!Array.isArray(positions) || positions.length > MAX_MEMBERS) throw invalid();
  const members = new Map<string, MemberPosition>();
  for (const entry of positions) {
    const [id, position] = checkArray(entry, 2);
    if (typeof id !== 'string' || id === '' || id.length > MAX_ID_CHARACTERS || members.has(id)) throw invalid();
    members.set(id, decodePosition(position));
  }
  if (hasLast && typeof lastNode !== 'string') throw invalid();
  return {
    order,
    reachedMs: reachedMs === null ? null : checkTime(reachedMs),
    members,
    ...(typeof lastNode === 'string' && { lastNode }),
  };
}

/** Most positions are cursors, which are written as plain strings. */
function encodePosition(position: MemberPosition): string | number | null | [number] {
  if (position === 'beginning') return null;
  if (position === 'done') return 0;
  return 'cursor' in position ? position.cursor : [position.timeMs];
}

function decodePosition(written: unknown): MemberPosition {
  if (written === null) return 'beginning';
  if (written === 0) return 'done';
  if (typeof written === 'string') {
    if (written === '' || written.length > MAX_MEMBER_CURSOR) throw invalid();
    return { cursor: written };
  }
  return { timeMs: checkTime(checkArray(written, 1)[0]) };
}

function unpack(text: string): unknown {
  if (text.length > MAX_TEXT_CHARACTERS || !/^[\w-]+$/.test(text)) throw invalid();
  try {
    return JSON.parse(
      inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: MAX_JSON_BYTES }).toString('utf8'),
    );
  } catch (cause) {
    throw invalid(cause);
  }
}

function checkArray(value: unknown, length: number): unknown[] {
  if (!Array.isArray(value) || value.length !== length) throw invalid();
  return value;
}

/** The range of `Date`. */
function checkTime(value: unknown): number {
  if (typeof value !== 'number' || !(Math.abs(value) <= 8.64e15)) throw invalid();
  return value;
}

function invalid(cause?: unknown): PortholeError {
  const message = 'invalid cluster cursor: use it exactly as returned';
  return new PortholeError('CURSOR_INVALID', message, cause === undefined ? undefined : { cause });
}
