import { makeNeedle, type Needle, type ScanKernel } from '../../kernel/scan-kernel.ts';
import type { Format } from '../../parse/format.ts';
import { BYTE_LIST_START } from '../../parse/formats/json-format.ts';
import { isTakenKey } from '../../parse/formats/lines/known-keys.ts';
import { LEVELS_BY_RANK } from '../../parse/level.ts';
import { findColumns } from '../../parse/record-columns.ts';
import { resolveField } from '../../query/index.ts';
import type { MatchedRecord } from '../match/find-matches.ts';
import { JsonSourceReader, JsonTagReader } from './json-columns.ts';
import { groupOf, type TopTable, type ValueGroup } from './top-table.ts';
import { NO_ID, ValueTable } from './value-table.ts';

const NEWLINE = 10;

/** Counts a record without decoding it. `false`: it was not counted, it must be decoded. */
type QuickCount = (bytes: Buffer, record: MatchedRecord, bucket: number) => boolean;

interface Counting {
  format: Pick<Format, 'name'>;
  kernel: ScanKernel;
  table: TopTable;
}

/**
 * How records are counted by a field without decoding them, which takes twenty times as long: by their columns, or by the
 * bytes of their JSON. Every other record is decoded, and so are all of other formats.
 */
export function createQuickCount(by: string, counting: Counting): QuickCount {
  const { format, kernel, table } = counting;
  const field = resolveField(by);
  const isNative = format.name === 'contract';
  if ('column' in field) {
    if (field.column === 'level') return levelCount(table);
    if (field.column === 'message') return () => false;
    if (format.name === 'json') return field.column === 'source' ? jsonSourceCount(counting) : jsonTagCount(counting);
    return isNative ? columnCount(field.column, counting) : () => false;
  }
  if (!isPlain(field.leaf) || !JsonPathReader.canRead(kernel, field.leaf)) return () => false;
  if (isNative) return leafCount(field.leaf, counting);
  return format.name === 'json' && !isTaken(field.leaf) ? leafCount(field.leaf, counting) : () => false;
}

/** Levels are read with the heads of records. */
function levelCount(table: TopTable): QuickCount {
  const none = groupOf([]);
  const groups = LEVELS_BY_RANK.map((level) => (level === undefined ? none : groupOf([level])));
  return (_bytes, { rank }, bucket) => {
    table.countGroup(groups[rank] ?? none, bucket);
    return true;
  };
}

/** Counts a column of the native format. The kernel finds it behind a level; other lines are rare. */
function columnCount(column: 'source' | 'component', { kernel, table }: Counting): QuickCount {
  const isTags = column === 'component';
  const groups = isTags ? new TagGroups() : undefined;
  return (bytes, { start, end, rank, isHeadless }, bucket) => {
    if (isHeadless) return false;
    const found = rank > 0 ? kernel.column(start, end, isTags) : -1;
    let [spanStart, spanEnd] = [0, 0];
    if (found > 0) {
      spanStart = kernel.foundValue[0] ?? 0;
      spanEnd = kernel.foundValue[1] ?? 0;
    } else if (found < 0) {
      const { source, tags } = findColumns(bytes, start, firstLineEnd(bytes, start, end));
      ({ start: spanStart, end: spanEnd } = isTags ? tags : source);
    }
    if (spanEnd === spanStart) table.countMissing();
    else if (groups) table.countGroup(groups.find(bytes, spanStart, spanEnd), bucket);
    else table.countBytes(bytes, spanStart, spanEnd, bucket);
    return true;
  };
}

/** Counts the sources of records in JSON. */
function jsonSourceCount({ kernel, table }: Counting): QuickCount {
  const reader = new JsonSourceReader(kernel);
  return (bytes, { start, end, isHeadless }, bucket) => {
    const isFound = isHeadless ? undefined : reader.find(bytes, start, end);
    if (isFound === undefined) return false;
    if (isFound) table.countBytes(bytes, reader.start, reader.end, bucket);
    else table.countMissing();
    return true;
  };
}

function jsonTagCount({ kernel, table }: Counting): QuickCount {
  const reader = new JsonTagReader(kernel);
  return (bytes, { start, end, isHeadless }, bucket) => {
    const count = isHeadless ? -1 : reader.find(start, end);
    if (count < 0) return false;
    if (count > 0) table.countBytes(bytes, reader.start, reader.end, bucket);
    else table.countMissing();
    return true;
  };
}

/** A leaf of the JSON of records with one line. */
function leafCount(path: string, { format, table, kernel }: Counting): QuickCount {
  const isJson = format.name === 'json';
  const lines = new OneLine(kernel);
  const reader = new JsonPathReader(kernel, path);
  // Every key that leads to it, whether with dots or in another object.
  const keys = new ByteHits(kernel, `${path.slice(path.lastIndexOf('.') + 1)}"`);
  const pairs = new ByteHits(kernel, `${path}=`);
  const lists = new ByteHits(kernel, BYTE_LIST_START);
  // Other escapes stand for characters that the path does not have.
  const unicodes = new ByteHits(kernel, '\\u');
  const slashes = new ByteHits(kernel, '\\/');
  const isEscaped = (bytes: Buffer, start: number, end: number) =>
    unicodes.isIn(bytes, start, end) || slashes.isIn(bytes, start, end);
  // Searching for a key that most records have takes longer than reading their JSON.
  let isFrequent = true;
  return (bytes, { start, end, isHeadless }, bucket) => {
    // Reading its JSON shows that, too.
    if (isHeadless || !(isFrequent || lines.isOne(bytes, start, end))) return false;
    if (isFrequent || keys.isIn(bytes, start, end) || isEscaped(bytes, start, end)) {
      const count = isJson ? reader.readObject(start, end) : reader.readContext(start, end);
      if (count < 0) return false;
      isFrequent = count > 0;
      if (count > 1 || (count > 0 && reader.isEscaped)) return false;
      if (count > 0) {
        table.countBytes(bytes, reader.start, reader.end, bucket);
        return true;
      }
    }
    // The pairs of the message count. One written as a list of bytes, as journalctl does, may contain anything.
    if (pairs.isIn(bytes, start, end) || isEscaped(bytes, start, end) || (isJson && lists.isIn(bytes, start, end)))
      return false;
    table.countMissing();
    return true;
  };
}

function firstLineEnd(bytes: Buffer, start: number, end: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  return newline < 0 || newline >= end ? end : newline + 1;
}

/** Whether no other character than its own stands for it in JSON, but with `\u` and `\/`. */
function isPlain(path: string): boolean {
  return path !== '' && !/["\\\p{Cc}\ufffd]/u.test(path);
}

/** Whether a key that leads to it may be a column of JSON records. */
function isTaken(path: string): boolean {
  const keys = path.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'));
  return keys.some(isTakenKey);
}

const MAX_GROUPS = 4096;

/** Longer tags are split each time. */
const MAX_BYTES = 256;

/** The tags of records by their bytes: most records have the same few. */
class TagGroups {
  readonly #table = new ValueTable();
  readonly #groups: ValueGroup[] = [];

  /** The tags in `[start, end)`, brackets included. */
  find(bytes: Buffer, start: number, end: number): ValueGroup {
    const known = end - start > MAX_BYTES ? NO_ID : this.#table.find(bytes, start, end);
    const group = this.#groups[known] ?? groupOf(splitTags(bytes, start, end));
    if (known !== NO_ID || end - start > MAX_BYTES) return group;
    if (this.#groups.length >= MAX_GROUPS) {
      this.#table.clear();
      this.#groups.length = 0;
      return group;
    }
    this.#table.add(bytes, start, end);
    this.#groups.push(group);
    return group;
  }
}

/** As `decodeRecord` does. */
function splitTags(bytes: Buffer, start: number, end: number): string[] {
  return bytes.toString('utf8', start + 1, end - 1).split(/\] ?\[/);
}

/** Finds records with continuation lines, which come in ascending order: the kernel finds all lines of a block at once. */
class OneLine {
  readonly #kernel: ScanKernel;
  #bytes: Buffer | undefined;
  /** The lines of this range are known: their number, and the first one that is not behind. */
  #from = 0;
  #to = 0;
  #lines = 0;
  #at = 0;

  constructor(kernel: ScanKernel) {
    this.#kernel = kernel;
  }

  /** Whether no other line starts in `[start, end)`. */
  isOne(bytes: Buffer, start: number, end: number): boolean {
    const { lines } = this.#kernel;
    if (bytes !== this.#bytes || start < this.#from) {
      this.#bytes = bytes;
      this.#from = start;
      // There is no room for more lines, and in a block there are no more.
      this.#to = Math.min(bytes.length, start + lines.length);
      this.#lines = this.#kernel.lineStarts(start, this.#to);
      this.#at = 0;
    }
    while (this.#at < this.#lines && (lines[this.#at] ?? 0) <= start) this.#at++;
    return end <= this.#to && (this.#at >= this.#lines || (lines[this.#at] ?? 0) >= end);
  }
}

/**
 * Finds the values at a path of a JSON object in the kernel's text without parsing it: no strings and no objects are
 * created. Everything is validated on the way, because text that is no JSON is no context.
 */
class JsonPathReader {
  readonly #kernel: ScanKernel;
  readonly #path: Buffer;

  /** The kernel has one path: there may be only one reader at a time. */
  constructor(kernel: ScanKernel, path: string) {
    this.#kernel = kernel;
    this.#path = Buffer.from(path);
    kernel.path.set(this.#path);
  }

  static canRead(kernel: ScanKernel, path: string): boolean {
    return Buffer.byteLength(path) <= kernel.path.length;
  }

  /**
   * How many values the object in the line `[start, end)` has; negative if it must be parsed: it is no object, or
   * unusual, or has several lines.
   */
  readObject(start: number, end: number): number {
    return this.#kernel.jsonPath(start, end, this.#path.length);
  }

  /** The same for the context of a line of the native format. */
  readContext(start: number, end: number): number {
    return this.#kernel.contextPath(start, end, this.#path.length);
  }

  /** The first value, without quotes. */
  get start(): number {
    return this.#kernel.foundValue[0] ?? 0;
  }

  get end(): number {
    return this.#kernel.foundValue[1] ?? 0;
  }

  get isEscaped(): boolean {
    return this.#kernel.foundValue[2] === 1;
  }
}

/** Behind all positions, and small enough to be stored without an object. */
const NOWHERE = 2 ** 30;

/**
 * Whether a text occurs in a range of the kernel's text, for ranges that come in ascending order: each search runs on to
 * the next occurrence, which answers for all ranges before it.
 */
class ByteHits {
  readonly #kernel: ScanKernel;
  readonly #needle: Needle;
  #bytes: Buffer | undefined;
  /** No occurrence starts in `[#from, #next)`. */
  #from = 0;
  #next = 0;

  constructor(kernel: ScanKernel, text: string) {
    this.#kernel = kernel;
    this.#needle = makeNeedle(text, { caseSensitive: true });
  }

  /** Whether it starts and ends in `[start, end)` of the loaded text. */
  isIn(bytes: Buffer, start: number, end: number): boolean {
    if (bytes !== this.#bytes || start < this.#from || start > this.#next) {
      this.#bytes = bytes;
      this.#from = start;
      this.#kernel.setNeedle(this.#needle);
      const next = this.#kernel.find(start, bytes.length);
      this.#next = next < 0 ? NOWHERE : next;
    }
    return this.#next + this.#needle.bytes.length <= end;
  }
}
