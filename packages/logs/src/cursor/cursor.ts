import { joinCursors, splitCursors } from '@porthole/records';
import { invalidCursor } from './packed-cursor.ts';

/** Bytes at the start of a file that identify it. */
export const HEAD_BYTES = 1024;

/** Bytes at the start of a record that are verified when a cursor is used. */
export const CHECK_BYTES = 64;

/** Identifies a file by the first bytes of its text, which do not change when it is renamed, copied or compressed. */
export interface FileMark {
  headBytes: number;
  headHash: string;
}

/** A record within a file: its offset in the text, and a hash of its first bytes. */
export interface RecordAnchor {
  offset: number;
  check: number;
  checkBytes: number;
}

/** How much of a record a follower has received: lines may be appended to it later. */
export interface Delivered {
  bytes: number;
  /** Time of the record, or of one before it; if its file no longer exists, following continues at this time. */
  timeMs: number | undefined;
}

/** Identifies a record. */
export interface RecordMark extends FileMark, RecordAnchor {
  /** Name of the file when the mark was made: the first candidate to check. */
  file: string;
  delivered?: Delivered | undefined;
}

/** The cursor of a response that ended before it reached any record. Before marks: logs without one begin at their start. */
export const START_CURSOR = 'start';

/** A mark as a URL-safe word. Several marks joined by `~` are a position in several logs at once. */
export function encodeMark(mark: RecordMark): string {
  const cursor = markEncoder(mark)(mark);
  return mark.delivered ? `${cursor}.${encodeDelivered(mark.offset, mark.delivered)}` : cursor;
}

/**
 * The cursor of a record delivered in its current state: continuing after it also returns lines appended to the record
 * later, and a record that no longer exists does not end the follow.
 */
export function resumeCursor({ cursor, offset, bytes, timeMs }: ResumedRecord): string {
  return isResumeCursor(cursor) ? cursor : `${cursor}.${encodeDelivered(offset, { bytes, timeMs })}`;
}

/** Whether it already contains how far its record was delivered. */
function isResumeCursor(cursor: string): boolean {
  return cursor.split('.', MARK_PARTS + 1).length > MARK_PARTS;
}

/** The fields of a record that determine how far it was delivered. */
export interface ResumedRecord {
  cursor: string;
  offset: number;
  bytes: number;
  timeMs?: number | undefined;
}

/** Encodes marks of one file; their common parts are computed once. */
export function markEncoder(file: FileMark & { file: string }): (place: RecordAnchor) => string {
  const { head, tail } = markEnds(file);
  return ({ offset, check, checkBytes }) =>
    `${head}${to36(offset)}.${to36(tied(check, offset))}.${to36(checkBytes)}${tail}`;
}

/** What all marks of one file begin and end with. */
export function markEnds({ headHash, headBytes, file }: FileMark & { file: string }): { head: string; tail: string } {
  return { head: `${headHash}.${to36(headBytes)}.`, tail: `.${Buffer.from(file).toString('base64url')}` };
}

/** Parts of a mark without what was delivered. */
const MARK_PARTS = 6;

export function decodeCursor(text: string): RecordMark[] {
  return splitCursors(text).map(decodeMark);
}

/** Marks of several logs; `isWhole` if a log without one did not exist or was empty. */
export function decodePosition(text: string): { marks: RecordMark[]; isWhole: boolean } {
  const isWhole = text === START_CURSOR || text.startsWith(`${START_CURSOR}~`);
  const marks = isWhole ? text.slice(START_CURSOR.length + 1) : text;
  return { marks: isWhole && marks === '' ? [] : decodeCursor(marks), isWhole };
}

export function encodePosition(marks: readonly string[], { isWhole }: { isWhole: boolean }): string {
  return joinCursors([...(isWhole ? [START_CURSOR] : []), ...marks]);
}

const MARK =
  /^([0-9a-f]{16})\.([0-9a-z]{1,4})\.([0-9a-z]{1,11})\.([0-9a-z]{1,7})\.([0-9a-z]{1,2})\.([\w-]{1,344})(?:\.([\w.-]{1,40}))?$/;

const DELIVERED = /^([0-9a-z]{1,10})\.(-?[0-9a-z]{0,11})\.([0-9a-z]{1,3})$/;

function encodeDelivered(offset: number, { bytes, timeMs }: Delivered): string {
  const text = `${to36(bytes)}.${timeMs === undefined ? '' : to36(Math.trunc(timeMs))}`;
  return `${text}.${to36(deliveredSum(offset, text))}`;
}

/** `undefined` for text that is not a valid mark, or has a corrupted digit. */
function decodeDelivered(offset: number, text: string): Delivered | undefined {
  const [, bytes = '', timeMs = '', sum] = DELIVERED.exec(text) ?? [];
  if (sum === undefined || from36(sum) !== deliveredSum(offset, `${bytes}.${timeMs}`)) return undefined;
  return { bytes: from36(bytes), timeMs: timeMs === '' || timeMs === '-' ? undefined : from36(timeMs) };
}

function deliveredSum(offset: number, text: string): number {
  const bytes = Buffer.from(`${to36(offset)}.${text}`);
  return fnv1a(bytes, 0, bytes.length) % 36 ** 3;
}

function decodeMark(text: string): RecordMark {
  const [, headHash, ...rest] = MARK.exec(text) ?? [];
  const [headBytes = -1, offset = -1, check = -1, checkBytes = -1] = rest.slice(0, 4).map((part) => from36(part));
  const isGood = headBytes >= 0 && headBytes <= HEAD_BYTES && checkBytes >= 0 && checkBytes <= CHECK_BYTES;
  const file = Buffer.from(rest[4] ?? '', 'base64url').toString();
  // Bytes that are not valid UTF-8 would decode to a different name than the one encoded.
  const isOtherName = Buffer.from(file).toString('base64url') !== rest[4];
  const isForged = (checkBytes === 0 && tied(check, offset) !== NOTHING_CHECKED) || isOtherName;
  const delivered = rest[5] === undefined ? undefined : decodeDelivered(offset, rest[5]);
  const isDamaged = rest[5] !== undefined && !delivered;
  if (
    headHash === undefined ||
    !isGood ||
    isForged ||
    isDamaged ||
    !Number.isSafeInteger(offset) ||
    check > 0xffff_ffff
  ) {
    throw invalidCursor();
  }
  const mark = { headHash, headBytes, offset, check: tied(check, offset), checkBytes, file };
  return delivered ? { ...mark, delivered } : mark;
}

/**
 * Encodes a checksum for a mark, and decodes it. Bound to the offset, because many records are identical: a corrupted
 * digit in the offset must not resolve to another one.
 */
function tied(check: number, offset: number): number {
  const [low, high] = [offset % 2 ** 32, Math.floor(offset / 2 ** 32)];
  return (check ^ Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b)) >>> 0;
}

/** The checksum of zero bytes: such a mark is a position, not a record. */
const NOTHING_CHECKED = 0x811c9dc5;

export function positionAnchor(offset: number): RecordAnchor {
  return { offset, check: NOTHING_CHECKED, checkBytes: 0 };
}

/** FNV-1a over the first bytes of a record: fast for a few bytes, and nothing is gained by forging it. */
export function fnv1a(bytes: Uint8Array, start: number, end: number): number {
  // A signed integer from the start: compiled code would be dropped at the first byte.
  let hash = NOTHING_CHECKED | 0;
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  return hash >>> 0;
}

function to36(value: number): string {
  return value.toString(36);
}

function from36(text: string): number {
  return Number.parseInt(text, 36);
}
