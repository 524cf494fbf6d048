import { isObjectText, LEVELS } from '@porthole/contract';
import { isBoundedJson } from './bounded-json.ts';

/* Whether a field of another node's response is valid. */

export type Fields = Readonly<Record<string, unknown>>;

/** Deeper nesting makes `JSON.stringify` fail; nodes do not send it. */
const MAX_DEPTH = 250;

/** Maximum length of a record cursor; real ones have some hundred characters. */
const MAX_CURSOR_CHARACTERS = 2048;

/** Maximum length of a response cursor, which has a position in every log. */
const MAX_END_CURSOR_CHARACTERS = 1024 ** 2;

/** Maximum length of a file path in a report. */
const MAX_PATH_CHARACTERS = 1024;

/** Maximum length of ids and outcomes of members. */
const MAX_ID_CHARACTERS = 256;

/** Maximum length of a counted value; longer ones are cut by the node. */
const MAX_VALUE_CHARACTERS = 1024;

/** Maximum of `Date`. */
const MAX_TIME_MS = 8.64e15;

/** JSON within a string has the same limits as the JSON around it. */
export function isContextText(value: unknown): boolean {
  return isText(value) && isBoundedJson(value) && isObjectText(value);
}

export function isContext(value: unknown): boolean {
  return isObject(value) && isShallow(value);
}

const LEVEL_NAMES: ReadonlySet<unknown> = new Set(LEVELS);

export function isLevel(value: unknown): boolean {
  return LEVEL_NAMES.has(value);
}

export function isTextList(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  for (const each of value) if (!isText(each)) return false;
  return true;
}

function isPath(value: unknown): value is string {
  return isText(value) && value.length <= MAX_PATH_CHARACTERS;
}

export function isCursor(value: unknown): value is string {
  return isText(value) && value.length <= MAX_CURSOR_CHARACTERS;
}

export function isEndCursor(value: unknown): boolean {
  return value === null || (isText(value) && value.length <= MAX_END_CURSOR_CHARACTERS);
}

function isShallow(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (left === 0) return false;
  for (const key in value) if (!isShallow((value as Fields)[key], left - 1)) return false;
  return true;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isTrue(value: unknown): boolean {
  return value === true;
}

export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_TIME_MS;
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

type Check = (value: unknown) => boolean;

const orNull = (check: Check) => (value: unknown) => value === null || check(value);
const optional = (check: Check) => (value: unknown) => value === undefined || check(value);
const listOf = (check: Check) => (value: unknown) => Array.isArray(value) && value.every(check);

function isShortText(value: unknown): boolean {
  return isText(value) && value.length <= MAX_VALUE_CHARACTERS;
}

function isId(value: unknown): boolean {
  return isText(value) && value.length <= MAX_ID_CHARACTERS;
}

/** Numbers by name: of levels, or of members. */
function isCounts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isCount);
}

const hasShape = (shape: Shape) => (value: unknown) => isObject(value) && shape.every(([name, is]) => is(value[name]));

/** The fields that what has this shape must have, or may have; it may have others. */
type Shape = readonly (readonly [name: string, is: Check])[];

const shapeOf = (fields: Readonly<Record<string, Check>>) => hasShape(Object.entries(fields));

/** What lists of responses have. */
export const ENTRIES = {
  problem: shapeOf({ file: isPath, code: isCodeLike, detail: isText }),
  // In the end of a cluster's search it has a node.
  duplicate: shapeOf({ file: isPath, sameAs: isPath, node: optional(isText) }),
  report: shapeOf({ id: isId, outcome: isId, detail: orNull(isText), asOfMs: orNull(isTime) }),
  group: shapeOf({ count: isCount, level: orNull(isText), source: orNull(isText), shape: orNull(isText) }),
  bucket: shapeOf({ startMs: isTime, counts: isCounts }),
  field: shapeOf({
    name: isShortText,
    records: isCount,
    distinct: isCount,
    types: listOf(isShortText),
    examples: listOf(isShortText),
    nodes: optional(isCounts),
  }),
  value: shapeOf({
    value: isShortText,
    count: isCount,
    error: optional(isCount),
    buckets: optional(listOf(shapeOf({ startMs: isTime, count: isCount }))),
    nodes: optional(isCounts),
  }),
} as const;

/** What a follow sends besides records, by type. */
export const FOLLOW_ITEMS: Readonly<Record<string, Check>> = {
  rotated: shapeOf({ family: isFileName, from: isFileName, to: isFileName }),
  truncated: shapeOf({ file: isFileName, lostBytes: orNull(isCount) }),
  gap: shapeOf({
    family: isFileName,
    reason: isText,
    bytes: orNull(isCount),
    after: isEndCursor,
    until: isEndCursor,
  }),
  behind: shapeOf({ behindBytes: isCount }),
  missing: shapeOf({ family: isFileName }),
  reconnecting: shapeOf({ reason: isText, waitMs: isCount }),
  skipped: shapeOf({ count: isCount, detail: isText }),
  member: shapeOf({ node: isText, report: ENTRIES.report }),
  position: shapeOf({ cursor: isText }),
  text: shapeOf({
    file: isFileName,
    cursor: isCursor,
    offset: isCount,
    bytes: isCount,
    deflated: isText,
    timeMs: optional(isTime),
    lastMs: optional(isTime),
  }),
  end: shapeOf({}),
};

/** Fields of a record that were asked for by name. */
export function isFieldValues(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const name in value) {
    const field = value[name];
    if (!isScalar(field) && !(Array.isArray(field) && field.every(isScalar))) return false;
  }
  return true;
}

function isScalar(value: unknown): boolean {
  const type = typeof value;
  return value === null || type === 'string' || type === 'number' || type === 'boolean';
}

/*
 * Sanitizes text of another node, like a reason or a failing check. It is shown in terminals, too, so it is short, a single
 * line, and contains nothing that a terminal would act on.
 */

const MAX_CHARACTERS = 300;

/** Control characters, line and paragraph separators, and bidirectional marks. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

export function remoteText(text: string): string {
  const shown = text.slice(0, 2 * MAX_CHARACTERS).replace(UNSHOWABLE, ' ');
  return shown.length > MAX_CHARACTERS || text.length > 2 * MAX_CHARACTERS
    ? `${shown.slice(0, MAX_CHARACTERS)}...`
    : shown;
}

/** Maximum length of a file name. */
const MAX_NAME_BYTES = 255;

/** Whether this is a valid name of a log or file. */
export function isFileName(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > MAX_NAME_BYTES) return false;
  // A UTF-16 unit takes at most three bytes in UTF-8: short names need no check.
  return name.length * 3 <= MAX_NAME_BYTES || new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
}

/** Looks like an error code. */
export function isCodeLike(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code);
}
