import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { LogError } from '../log-error.ts';

/*
 * The one form of all cursors that are positions in more than the logs of a node: a word that is safe in URLs, of its kind
 * and version, and the packed JSON of an order and values with a checksum. Whoever has a kind says what its values are.
 */

/** What a cursor begins with. The digit is a version: it changes with the meaning of the values, and old cursors expire. */
const BEGINNINGS = {
  /** A position of each member of a cluster. */
  cluster: 'c2.',
  /** The same, too large for a cursor: kept by the node that returned it. */
  kept: 'k2.',
  /** A row of the archive. */
  archive: 'a2.',
  /** Members and the archive. */
  combined: 's2.',
} as const;

export type CursorKind = keyof typeof BEGINNINGS;

/** Enough for ten thousand members with a few logs each. */
const MAX_CHARACTERS = 512 * 1024;

/** What the longest may become: packed, a few bytes can stand for gigabytes. */
const MAX_JSON_BYTES = 2 * 1024 ** 2;

const SUM_BYTES = 4;

const OTHER = 'invalid cursor: it is not of such a search, or of another version; search again without it';

export interface CursorForm {
  kind: CursorKind;
  /** That of the search: in the other one, the same values are another position. */
  order: 'newest' | 'oldest';
}

export function packCursor({ kind, order }: CursorForm, values: readonly unknown[]): string {
  const packed = deflateRawSync(JSON.stringify([order, ...values]));
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32LE(checksum(kind, packed));
  return BEGINNINGS[kind] + Buffer.concat([packed, sum]).toString('base64url');
}

/** Whether it was made as this kind, valid or not. */
export function isCursorOf(kind: CursorKind, text: string): boolean {
  return text.startsWith(BEGINNINGS[kind]);
}

/** Throws CURSOR_INVALID for anything that `packCursor` did not make in this form. The values can still be anything. */
export function unpackCursor({ kind, order }: CursorForm, text: string): unknown[] {
  if (!isCursorOf(kind, text)) throw new LogError('CURSOR_INVALID', OTHER);
  if (text.length > MAX_CHARACTERS) throw invalidCursor();
  const written = text.slice(BEGINNINGS[kind].length);
  const bytes = Buffer.from(written, 'base64url');
  // Characters that are none of base64 are skipped, and the last one may have bits that mean nothing.
  if (bytes.length <= SUM_BYTES || bytes.toString('base64url') !== written) throw invalidCursor();
  const packed = bytes.subarray(0, -SUM_BYTES);
  if (bytes.readUInt32LE(packed.length) !== checksum(kind, packed)) throw invalidCursor();
  const [other, ...values] = readList(parsePacked(packed));
  if (other === order) return values;
  if (other !== 'newest' && other !== 'oldest') throw invalidCursor();
  throw new LogError('CURSOR_INVALID', `this cursor is for order ${other}, not ${order}`);
}

/** It finds every change of up to four bytes in a row: a damaged cursor leads nowhere, not to another position. */
function checksum(kind: CursorKind, packed: Buffer): number {
  return crc32(packed, crc32(BEGINNINGS[kind]));
}

function parsePacked(packed: Buffer): unknown {
  try {
    return JSON.parse(inflateRawSync(packed, { maxOutputLength: MAX_JSON_BYTES }).toString('utf8'));
  } catch (cause) {
    throw invalidCursor(cause);
  }
}

export function invalidCursor(cause?: unknown): LogError {
  const message = 'invalid cursor: pass a cursor exactly as a response returned it';
  return new LogError('CURSOR_INVALID', message, cause === undefined ? undefined : { cause });
}

/* What the values of a cursor are: each throws CURSOR_INVALID for anything else. */

/** A list, of this length if one is given. */
export function readList(value: unknown, length?: number): unknown[] {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length)) throw invalidCursor();
  return value;
}

export function readText(value: unknown, maxCharacters: number): string {
  if (typeof value !== 'string' || value.length > maxCharacters) throw invalidCursor();
  return value;
}

/** Not negative. */
export function readInteger(value: unknown): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw invalidCursor();
  return Number(value);
}

/** Epoch ms, in the range of `Date`. */
export function readTime(value: unknown): number {
  if (typeof value !== 'number' || !(Math.abs(value) <= 8.64e15)) throw invalidCursor();
  return value;
}

export function readOptionalTime(value: unknown): number | null {
  return value === null ? null : readTime(value);
}
