import { isObjectText, LEVELS } from '@porthole/contract';
import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { isBoundedJson, parseBoundedJson } from './bounded-json.ts';
import { isCodeLike, isFileName, remoteText } from './remote-text.ts';

/*
 * Items of a stream as they come from another node, which may be newer, older, or broken. An item that makes no sense is
 * left out, and so is a field; both are counted, because nothing may be missing without a word. What this version does
 * not know of a record is passed on.
 */

type Fields = Readonly<Record<string, unknown>>;

/** What is nested deeper fails `JSON.stringify`, and with it whoever passes it on; nodes do not send it. */
const MAX_DEPTH = 250;

/** The longest cursor of one record; real ones have some hundred characters. */
const MAX_CURSOR_CHARACTERS = 2048;

/** The longest cursor of a whole response, which names a position in every log. */
const MAX_END_CURSOR_CHARACTERS = 1024 ** 2;

/** The longest path of a file in a report; most are names. */
const MAX_PATH_CHARACTERS = 1024;

/** Of a member; ids have at most 128, outcomes are words. */
const MAX_ID_CHARACTERS = 256;

/** Files, members and the like in one report. */
const MAX_LISTED = 10_000;

/** The latest time a `Date` can have. */
const MAX_TIME_MS = 8.64e15;

/** What was left out of a response. */
export class SkippedItems {
  count = 0;
  #first = '';

  /** Of what it was, only the kind is kept: the text is the node's, and may be anything. */
  note(what: string): void {
    if (this.count++ === 0) this.#first = what;
  }

  /** For a report: how many, and the first of them. */
  get detail(): string {
    const items = this.count === 1 ? '1 item was' : `${this.count} items were`;
    return `${items} left out, the first: ${this.#first}`;
  }
}

/** The record, with all its fields where they make sense; `undefined` where it is none. */
function decodeRecord(value: unknown, skipped: SkippedItems): FoundRecord | undefined {
  if (!isObject(value) || !isText(value.message) || !isFileName(value.file) || !isCursor(value.cursor)) {
    skipped.note('an invalid record');
    return undefined;
  }
  // Parsed for this call alone, so that it may be mended in place: a copy of each record would be felt.
  const record = value as unknown as FoundRecord & Record<string, unknown>;
  for (const name in record) {
    const field = record[name];
    if (FIELDS.get(name)?.(field) !== false) continue;
    skipped.note(`an invalid "${name}" of a record`);
    if (name === 'offset' || name === 'bytes') record[name] = 0;
    else delete record[name];
  }
  // The two are one: whoever reads the object must not read something else than whoever reads the text.
  if (record.contextText !== undefined) record.context = JSON.parse(record.contextText) as Record<string, unknown>;
  if (record.before) record.before = decodeRecords(record.before, skipped);
  if (record.after) record.after = decodeRecords(record.after, skipped);
  return record;
}

export function decodeRecords(values: readonly unknown[], skipped: SkippedItems): FoundRecord[] {
  return values.flatMap((value) => decodeRecord(value, skipped) ?? []);
}

/** An item of a stream; `undefined` where the text is none. */
export function decodeItem(text: string, skipped: SkippedItems): ({ type: string } & Fields) | undefined {
  let item: unknown;
  try {
    item = parseBoundedJson(text);
  } catch (error) {
    skipped.note(error instanceof RangeError ? 'an item that is too large' : 'no JSON');
    return undefined;
  }
  if (isObject(item) && isText(item.type)) return item as { type: string } & Fields;
  skipped.note('no item');
  return undefined;
}

/** An item of a follow, as far as it makes sense. */
export function decodeFollowItem(text: string, skipped: SkippedItems): { type: string } | undefined {
  const item = decodeItem(text, skipped);
  if (item?.type === 'record') return decodeRecords([item], skipped)[0];
  const fields = item && FOLLOW_FIELDS.get(item.type);
  if (item && fields?.every(([name, isRight]) => isRight(item[name]))) return withShortTexts(item);
  if (item) skipped.note(fields ? `an invalid "${item.type}"` : 'an unknown item');
  return undefined;
}

/** What a node says in its own words is cut, and of one line. */
function withShortTexts<T extends Fields>(item: T): T {
  const texts: Record<string, string> = {};
  for (const name of ['reason', 'detail']) {
    const text = item[name];
    if (isText(text)) texts[name] = remoteText(text);
  }
  return { ...item, ...texts, ...(isObject(item.report) && { report: withShortTexts(item.report) }) };
}

const isTextOrNull = (field: unknown) => field === null || isText(field);
const isCountOrNull = (field: unknown) => field === null || isCount(field);

/** What whoever reads an item relies on. */
const FOLLOW_FIELDS: ReadonlyMap<string, readonly [string, (field: unknown) => boolean][]> = new Map([
  [
    'rotated',
    [
      ['family', isFileName],
      ['from', isFileName],
      ['to', isFileName],
    ],
  ],
  [
    'truncated',
    [
      ['file', isFileName],
      ['lostBytes', isCountOrNull],
    ],
  ],
  [
    'gap',
    [
      ['family', isFileName],
      ['reason', isText],
      ['bytes', isCountOrNull],
      ['after', isEndCursor],
      ['until', isEndCursor],
    ],
  ],
  ['missing', [['family', isFileName]]],
  [
    'reconnecting',
    [
      ['reason', isText],
      ['waitMs', isCount],
    ],
  ],
  [
    'skipped',
    [
      ['count', isCount],
      ['detail', isText],
    ],
  ],
  [
    'member',
    [
      ['node', isText],
      ['report', isReport],
    ],
  ],
  ['end', []],
]);

/** The end of a search. What it does not say stays unsaid; what makes no sense becomes nothing. */
export function decodeEnd(value: Fields, skipped: SkippedItems): SearchEnd {
  const end: Record<string, unknown> = { ...value };
  for (const [name, isRight, nothing] of END_FIELDS) {
    if (end[name] === undefined || isRight(end[name])) continue;
    skipped.note(`an invalid "${name}" of the end`);
    end[name] = nothing;
  }
  if (end.problems !== undefined) {
    const problems = decodeList(end.problems, isProblem, 'an invalid problem', skipped);
    end.problems = problems.map((problem) => ({ ...problem, detail: remoteText(problem.detail) }));
  }
  if (end.duplicates !== undefined)
    end.duplicates = decodeList(end.duplicates, isDuplicate, 'an invalid duplicate', skipped);
  if (isText(end.limits)) end.limits = remoteText(end.limits);
  if (end.members !== undefined) end.members = decodeReports(end.members, skipped);
  return end as unknown as SearchEnd;
}

/** What is no reason it knows is not the whole. */
const END_FIELDS: readonly [string, (field: unknown) => boolean, unknown][] = [
  ['reason', (field) => REASONS.has(field), 'cancelled'],
  ['records', isCount, 0],
  ['scannedBytes', isCount, 0],
  ['skippedBytes', isCount, 0],
  ['scannedFiles', isCount, 0],
  ['elapsedMs', isCount, 0],
  ['coveredFromMs', (field) => field === null || isTime(field), null],
  ['coveredToMs', (field) => field === null || isTime(field), null],
  ['cursor', isEndCursor, null],
  ['limits', isText, undefined],
];

const REASONS: ReadonlySet<unknown> = new Set(['exhausted', 'limit', 'time budget', 'cancelled']);

export function decodeReports(value: unknown, skipped: SkippedItems): unknown[] {
  return decodeList(value, isReport, 'an invalid report of a member', skipped).map(withShortTexts);
}

/** Those of a list that make sense. */
function decodeList<T>(value: unknown, isOne: (item: unknown) => item is T, what: string, skipped: SkippedItems): T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    skipped.note(what);
    return [];
  }
  if (value.length > MAX_LISTED) skipped.note(`more than ${MAX_LISTED} entries in one list`);
  return value.slice(0, MAX_LISTED).filter((item: unknown): item is T => {
    if (isOne(item)) return true;
    skipped.note(what);
    return false;
  });
}

/** The groups of a digest that make sense. */
export function decodeGroups(value: unknown, skipped: SkippedItems): unknown[] {
  return decodeList(value, isGroup, 'an invalid group', skipped).flatMap((group) => {
    const [sample] = decodeRecords([group.sample], skipped);
    return sample ? [{ ...group, sample }] : [];
  });
}

/** The buckets of a histogram that make sense. */
export function decodeBuckets(value: unknown, skipped: SkippedItems): unknown[] {
  return decodeList(value, isBucket, 'an invalid bucket', skipped);
}

function isGroup(value: unknown): value is Fields {
  return isObject(value) && isCount(value.count) && [value.level, value.source, value.shape].every(isTextOrNull);
}

function isBucket(value: unknown): value is Fields {
  return (
    isObject(value) && isTime(value.startMs) && isObject(value.counts) && Object.values(value.counts).every(isCount)
  );
}

/** Whether a field of a record is what it should be. */
const FIELDS: ReadonlyMap<string, (field: unknown) => boolean> = new Map<string, (field: unknown) => boolean>([
  ['type', (field) => field === 'record'],
  ['offset', isCount],
  ['bytes', isCount],
  ['timeMs', isTime],
  ['atMs', isTime],
  ['level', (field) => (LEVELS as readonly unknown[]).includes(field)],
  ['source', isText],
  ['raw', isText],
  ['node', isText],
  ['tags', (field) => Array.isArray(field) && field.every(isText)],
  ['context', (field) => isObject(field) && isShallow(field, MAX_DEPTH)],
  ['contextText', isContextText],
  ['cut', isTrue],
  ['continued', isTrue],
  ['unfinished', isTrue],
  ['isUnsure', isTrue],
  ['before', Array.isArray],
  ['after', Array.isArray],
]);

/** JSON within a string: it is measured like the JSON around it. */
function isContextText(value: unknown): boolean {
  return isText(value) && isBoundedJson(value) && isObjectText(value);
}

interface FileProblem {
  file: string;
  code: string;
  detail: string;
}

function isProblem(value: unknown): value is FileProblem {
  return isObject(value) && isPath(value.file) && isCodeLike(value.code) && isText(value.detail);
}

function isDuplicate(value: unknown): value is Fields {
  const isNode = (node: unknown) => node === undefined || isText(node); // in the end of a cluster's search
  return isObject(value) && isPath(value.file) && isPath(value.sameAs) && isNode(value.node);
}

function isPath(value: unknown): value is string {
  return isText(value) && value.length <= MAX_PATH_CHARACTERS;
}

function isCursor(value: unknown): value is string {
  return isText(value) && value.length <= MAX_CURSOR_CHARACTERS;
}

function isEndCursor(value: unknown): boolean {
  return value === null || (isText(value) && value.length <= MAX_END_CURSOR_CHARACTERS);
}

function isReport(value: unknown): value is Fields {
  return (
    isObject(value) &&
    isText(value.id) &&
    value.id.length <= MAX_ID_CHARACTERS &&
    isText(value.outcome) &&
    value.outcome.length <= MAX_ID_CHARACTERS &&
    (value.detail === null || isText(value.detail)) &&
    (value.asOfMs === null || isTime(value.asOfMs))
  );
}

function isShallow(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (left === 0) return false;
  for (const key in value) if (!isShallow((value as Fields)[key], left - 1)) return false;
  return true;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTrue(value: unknown): boolean {
  return value === true;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_TIME_MS;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
