import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { parseBoundedJson } from './bounded-json.ts';
import {
  ENTRIES,
  type Fields,
  FOLLOW_ITEMS,
  isContext,
  isContextText,
  isCount,
  isCursor,
  isEndCursor,
  isFieldValues,
  isFileName,
  isLevel,
  isObject,
  isText,
  isTextList,
  isTime,
  isTrue,
  remoteText,
} from './field-checks.ts';

/*
 * Decodes stream items of another node, which may be newer, older or broken. Invalid items and fields are skipped and counted,
 * so that nothing goes missing silently. Unknown fields of a record are passed on.
 */

/** Maximum entries of a list. */
const MAX_LISTED = 10_000;

/** Counts the skipped items of a response. */
export class SkippedItems {
  count = 0;
  #first = '';

  /** Only the kind is remembered: the text is untrusted. */
  note(what: string): void {
    if (this.count++ === 0) this.#first = what;
  }

  /** For a report: the number, and the first of them. */
  get detail(): string {
    const items = this.count === 1 ? '1 item was' : `${this.count} items were`;
    return `${items} left out, the first: ${this.#first}`;
  }
}

/** Decodes a record without its invalid fields; `undefined` if it is not a record. */
export function decodeRecord(value: unknown, skipped: SkippedItems): FoundRecord | undefined {
  if (!isObject(value) || !isText(value.message) || !isFileName(value.file) || !isCursor(value.cursor)) {
    skipped.note('an invalid record');
    return undefined;
  }
  // Freshly parsed, so it can be fixed in place: copying every record would be slow.
  const record = value as unknown as FoundRecord & Record<string, unknown>;
  if (!hasValidFields(record)) removeInvalidFields(record, skipped);
  // Both represent the same value: readers of the object and of the text must agree.
  if (record.contextText !== undefined) record.context = JSON.parse(record.contextText) as Record<string, unknown>;
  if (record.before) record.before = decodeRecords(record.before, skipped);
  if (record.after) record.after = decodeRecords(record.after, skipped);
  return record;
}

function removeInvalidFields(record: FoundRecord & Record<string, unknown>, skipped: SkippedItems): void {
  for (const name in record) {
    const field = record[name];
    if (FIELDS.get(name)?.(field) !== false) continue;
    skipped.note(`an invalid "${name}" of a record`);
    if (name === 'offset' || name === 'bytes') record[name] = 0;
    else delete record[name];
  }
}

export function decodeRecords(values: readonly unknown[], skipped: SkippedItems): FoundRecord[] {
  return values.flatMap((value) => decodeRecord(value, skipped) ?? []);
}

/** Parses an item of a stream; `undefined` if it is invalid. */
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

/** Decodes an item of a follow. */
export function decodeFollowItem(text: string, skipped: SkippedItems): { type: string } | undefined {
  const item = decodeItem(text, skipped);
  if (item?.type === 'record') return decodeRecord(item, skipped);
  if (item === undefined) return undefined;
  const is = Object.hasOwn(FOLLOW_ITEMS, item.type) ? FOLLOW_ITEMS[item.type] : undefined;
  if (is?.(item)) return withShortTexts(item);
  skipped.note(is ? `an invalid "${item.type}"` : 'an unknown item');
  return undefined;
}

/** Text of the node is truncated to one line. */
function withShortTexts<T extends Fields>(item: T): T {
  const texts: Record<string, string> = {};
  for (const name of ['reason', 'detail']) {
    const text = item[name];
    if (isText(text)) texts[name] = remoteText(text);
  }
  return { ...item, ...texts, ...(isObject(item.report) && { report: withShortTexts(item.report) }) };
}

/** Decodes the end of a search. Missing fields stay missing; invalid ones are removed. */
export function decodeEnd(value: Fields, skipped: SkippedItems): SearchEnd {
  const end: Record<string, unknown> = { ...value };
  for (const [name, isRight, nothing] of END_FIELDS) {
    if (end[name] === undefined || isRight(end[name])) continue;
    skipped.note(`an invalid "${name}" of the end`);
    end[name] = nothing;
  }
  if (end.problems !== undefined) {
    const problems = decodeList(end.problems, 'problem', skipped);
    end.problems = problems.map(withShortTexts);
  }
  if (end.duplicates !== undefined) end.duplicates = decodeList(end.duplicates, 'duplicate', skipped);
  if (isText(end.limits)) end.limits = remoteText(end.limits);
  if (end.members !== undefined) end.members = decodeReports(end.members, skipped);
  return end as unknown as SearchEnd;
}

/** An unknown reason counts as incomplete. */
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
  return decodeList(value, 'report', skipped).map(withShortTexts);
}

/** The valid entries of a list. */
export function decodeList(value: unknown, entry: keyof typeof ENTRIES, skipped: SkippedItems): Fields[] {
  if (value === undefined || value === null) return [];
  const what = `an invalid ${entry}`;
  if (!Array.isArray(value)) {
    skipped.note(what);
    return [];
  }
  if (value.length > MAX_LISTED) skipped.note(`more than ${MAX_LISTED} entries in one list`);
  return value.slice(0, MAX_LISTED).filter((item: unknown): item is Fields => {
    const isValid = ENTRIES[entry](item);
    if (!isValid) skipped.note(what);
    return isValid;
  });
}

/** The valid groups of a digest. */
export function decodeGroups(value: unknown, skipped: SkippedItems): Fields[] {
  return decodeList(value, 'group', skipped).flatMap((group) => {
    const [sample] = decodeRecords([group.sample], skipped);
    return sample ? [{ ...group, sample }] : [];
  });
}

/** Whether a field of a record is valid. */
const FIELDS = new Map<string, (field: unknown) => boolean>([
  ['type', (field) => field === 'record'],
  ['offset', isCount],
  ['bytes', isCount],
  ['timeMs', isTime],
  ['atMs', isTime],
  ['level', isLevel],
  ['source', isText],
  ['raw', isText],
  ['node', isText],
  ['tags', isTextList],
  ['context', isContext],
  ['contextText', isContextText],
  ['fields', isFieldValues],
  ['cut', isTrue],
  ['continued', isTrue],
  ['unfinished', isTrue],
  ['isUnsure', isTrue],
  ['before', Array.isArray],
  ['after', Array.isArray],
]);

/** The same of all fields at once: looking each of them up by its name takes as long as half of the parsing. */
function hasValidFields(record: Fields): boolean {
  const { type, offset, bytes, timeMs, atMs, level, source, raw, node, tags } = record;
  return (
    type === 'record' &&
    isCount(offset) &&
    isCount(bytes) &&
    (timeMs === undefined || isTime(timeMs)) &&
    (atMs === undefined || isTime(atMs)) &&
    (level === undefined || isLevel(level)) &&
    (source === undefined || isText(source)) &&
    (raw === undefined || isText(raw)) &&
    (node === undefined || isText(node)) &&
    (tags === undefined || isTextList(tags)) &&
    hasValidExtras(record)
  );
}

function hasValidExtras(record: Fields): boolean {
  const { context, contextText, fields, cut, continued, unfinished, isUnsure, before, after } = record;
  return (
    (context === undefined || isContext(context)) &&
    (contextText === undefined || isContextText(contextText)) &&
    (fields === undefined || isFieldValues(fields)) &&
    (cut === undefined || isTrue(cut)) &&
    (continued === undefined || isTrue(continued)) &&
    (unfinished === undefined || isTrue(unfinished)) &&
    (isUnsure === undefined || isTrue(isUnsure)) &&
    (before === undefined || Array.isArray(before)) &&
    (after === undefined || Array.isArray(after))
  );
}
