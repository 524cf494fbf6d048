import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { PortholeError } from '@porthole/contract';

/** Where a member's part of an answer goes on. */
export type MemberPosition =
  /** Where its search begins without a place. */
  | 'beginning'
  /** All of it was told. */
  | 'done'
  /** By this node's clock. */
  | { timeMs: number }
  /** A cursor of the member. */
  | { cursor: string };

/** Where an answer of the cluster goes on: each member at its own place. */
export interface ClusterPosition {
  order: 'newest' | 'oldest';
  /** Time of the last record told, by this node's clock: members that are new begin there. `null`: nothing was told. */
  reachedMs: number | null;
  members: ReadonlyMap<string, MemberPosition>;
  /** The member of the last record; absent where nothing was given, or an earlier version made the cursor. */
  lastNode?: string;
}

const VERSION = 1;

/** A thousand members with a few logs each; beyond it the cursor is not one of ours. */
const MAX_TEXT_CHARACTERS = 512 * 1024;
const MAX_JSON_BYTES = 2 * 1024 ** 2;
const MAX_MEMBER_CURSOR = 256 * 1024;
const MAX_MEMBERS = 10_000;
const MAX_ID_CHARACTERS = 128;

/** A word that is safe in a URL. */
export function encodeClusterCursor({ order, reachedMs, members, lastNode }: ClusterPosition): string {
  const positions = [...members].map(([id, position]) => [id, encodePosition(position)]);
  return deflateRawSync(
    JSON.stringify([VERSION, order, reachedMs, positions, ...(lastNode === undefined ? [] : [lastNode])]),
  ).toString('base64url');
}

/** Throws CURSOR_INVALID for whatever `encodeClusterCursor` did not make. What it names is not known to exist. */
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

/** Most places are cursors, so these are written as they are. */
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

/** Times a date can have. */
function checkTime(value: unknown): number {
  if (typeof value !== 'number' || !(Math.abs(value) <= 8.64e15)) throw invalid();
  return value;
}

function invalid(cause?: unknown): PortholeError {
  const message = 'this is not a cursor of the cluster: use one exactly as an answer gave it';
  return new PortholeError('CURSOR_INVALID', message, cause === undefined ? undefined : { cause });
}
