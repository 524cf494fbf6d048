import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { PortholeError } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import type { Cuts } from './cuts.ts';

/** Where to resume one side of a search. */
export interface SidePosition {
  /** Start of the page it stopped in; `null`: the start of the search. */
  page: string | null;
  /** The last record that was emitted of this page: the page is read again up to it. `null`: none was. */
  after: { node: string; cursor: string; atMs: number | null } | null;
}

export interface SourcedPosition {
  order: 'newest' | 'oldest';
  cuts: Cuts;
  /** `null`: everything was emitted. */
  members: SidePosition | null;
  archive: SidePosition | null;
  /** The last times that each side has emitted; `null`: none. Of the archive by the clocks of nodes. */
  reached: { membersMs: number | null; archiveMs: number | null };
}

/** So that it is never taken for a cursor of the cluster or of the archive. */
const PREFIX = 's1.';

const MAX_CHARACTERS = 64 * 1024;
const MAX_JSON_BYTES = 512 * 1024;
const MAX_CUTS = 10_000;

/** URL-safe. */
export function encodeSourcedCursor({ order, cuts, members, archive, reached }: SourcedPosition): string {
  const json = JSON.stringify([
    order,
    cuts,
    writeSide(members),
    writeSide(archive),
    reached.membersMs,
    reached.archiveMs,
  ]);
  return PREFIX + deflateRawSync(json).toString('base64url');
}

export function isSourcedCursor(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Throws CURSOR_INVALID for anything `encodeSourcedCursor` did not create. */
function decodeSourcedCursor(text: string): SourcedPosition {
  const [order, cuts, members, archive, membersMs, archiveMs] = checkArray(unpack(text), 6);
  if (order !== 'newest' && order !== 'oldest') throw invalid();
  if ((membersMs !== null && !isTime(membersMs)) || (archiveMs !== null && !isTime(archiveMs))) throw invalid();
  const reached = { membersMs, archiveMs };
  return { order, cuts: readCuts(cuts), members: readSide(members), archive: readSide(archive), reached };
}

/** Where an earlier page of both stopped. */
export function resumedPosition({ start, order }: SearchQuery): SourcedPosition | undefined {
  if (!start || !('cursor' in start) || !isSourcedCursor(start.cursor)) return undefined;
  const position = decodeSourcedCursor(start.cursor);
  if (position.order === order) return position;
  throw new PortholeError('CURSOR_INVALID', `this cursor is for order ${position.order}, not ${order}`);
}

function writeSide(side: SidePosition | null): unknown {
  return side && [side.page, side.after && [side.after.node, side.after.cursor, side.after.atMs]];
}

function readSide(value: unknown): SidePosition | null {
  if (value === null) return null;
  const [page, after] = checkArray(value, 2);
  if (page !== null && typeof page !== 'string') throw invalid();
  if (after === null) return { page, after };
  const [node, cursor, atMs] = checkArray(after, 3);
  if (typeof node !== 'string' || typeof cursor !== 'string') throw invalid();
  if (atMs !== null && !isTime(atMs)) throw invalid();
  return { page, after: { node, cursor, atMs } };
}

function readCuts(value: unknown): Cuts {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid();
  const entries = Object.entries(value);
  if (entries.length > MAX_CUTS) throw invalid();
  for (const [, timeMs] of entries) if (!isTime(timeMs)) throw invalid();
  return Object.fromEntries(entries) as Cuts;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}

function unpack(text: string): unknown {
  const packed = text.slice(PREFIX.length);
  if (!isSourcedCursor(text) || text.length > MAX_CHARACTERS || !/^[\w-]+$/.test(packed)) throw invalid();
  try {
    const json = inflateRawSync(Buffer.from(packed, 'base64url'), { maxOutputLength: MAX_JSON_BYTES });
    return JSON.parse(json.toString('utf8'));
  } catch (cause) {
    throw invalid(cause);
  }
}

function checkArray(value: unknown, length: number): unknown[] {
  if (!Array.isArray(value) || value.length !== length) throw invalid();
  return value;
}

function invalid(cause?: unknown): PortholeError {
  const message = 'invalid cursor: use it exactly as a response returned it';
  return new PortholeError('CURSOR_INVALID', message, cause === undefined ? undefined : { cause });
}
