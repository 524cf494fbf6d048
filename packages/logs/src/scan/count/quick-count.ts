import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import type { Format } from '../../parse/format.ts';
import { BYTE_LIST_START } from '../../parse/formats/json-format.ts';
import { isTakenKey } from '../../parse/formats/lines/known-keys.ts';
import { LEVELS_BY_RANK } from '../../parse/level.ts';
import { findColumns, type Span } from '../../parse/record-columns.ts';
import { resolveField } from '../../query/index.ts';
import type { MatchedRecord } from '../tasks/scan-matches.ts';
import { ByteHits } from './byte-hits.ts';
import { JsonPathReader } from './json-path-reader.ts';
import { OneLine } from './one-line.ts';
import type { TopTable } from './top-table.ts';

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Counts a record without decoding it. `false`: it was not counted, it must be decoded. */
export type QuickCount = (bytes: Buffer, record: MatchedRecord, bucket: number) => boolean;

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
  const isContract = format.name === 'contract';
  if ('column' in field) {
    if (field.column === 'level') return levelCount(table);
    return isContract && field.column !== 'message' ? columnCount(field.column, table) : () => false;
  }
  if (!isPlain(field.leaf) || !JsonPathReader.canRead(kernel, field.leaf)) return () => false;
  if (isContract) return leafCount(field.leaf, counting, contextStart);
  return format.name === 'json' && !isTaken(field.leaf) ? leafCount(field.leaf, counting, jsonStart) : () => false;
}

/** Levels are read with the heads of records. */
function levelCount(table: TopTable): QuickCount {
  const values = LEVELS_BY_RANK.map((level) => (level === undefined ? [] : [level]));
  return (_bytes, { rank }, bucket) => {
    table.count(values[rank] ?? [], bucket);
    return true;
  };
}

/** Of the contract's format. */
function columnCount(column: 'source' | 'component', table: TopTable): QuickCount {
  return (bytes, { start, end, isHeadless }, bucket) => {
    if (isHeadless) return false;
    const { source, tags } = findColumns(bytes, start, firstLineEnd(bytes, start, end));
    const span = column === 'source' ? source : tags;
    if (span.end === span.start) table.countMissing();
    else if (column === 'source') table.countBytes(bytes, span.start, span.end, bucket);
    else table.count(splitTags(bytes, tags), bucket);
    return true;
  };
}

/** Where the JSON object starts that ends at `end`, in the line from `start` on; -1: there is none, -2: it is unclear. */
type FindObject = (bytes: Buffer, start: number, end: number, kernel: ScanKernel) => number;

/** A leaf of the JSON of records with one line. */
function leafCount(path: string, { format, table, kernel }: Counting, findObject: FindObject): QuickCount {
  const lines = new OneLine(kernel);
  const isJson = format.name === 'json';
  const reader = new JsonPathReader(kernel, path);
  // Of every key that leads to it, whether with dots or in another object.
  const keys = new ByteHits(`${path.slice(path.lastIndexOf('.') + 1)}"`);
  const pairs = new ByteHits(`${path}=`);
  // Other escapes stand for characters that the path does not have.
  const unicodes = new ByteHits('\\u');
  const lists = new ByteHits(BYTE_LIST_START);
  const slashes = new ByteHits('\\/');
  // Searching for a key that most records have takes longer than reading their JSON.
  let isFrequent = true;
  return (bytes, { start, end, isHeadless }, bucket) => {
    if (isHeadless || !lines.isOne(bytes, start, end)) return false;
    const lineEnd = textEnd(bytes, start, end);
    const isEscaped = unicodes.isIn(bytes, start, lineEnd) || slashes.isIn(bytes, start, lineEnd);
    if (isFrequent || isEscaped || keys.isIn(bytes, start, lineEnd)) {
      const objectAt = findObject(bytes, start, lineEnd, kernel);
      if (objectAt === UNCLEAR) return false;
      const count = objectAt < 0 ? 0 : reader.read(objectAt, lineEnd);
      if (count < 0) return false;
      if (count > 0) {
        isFrequent = true;
        if (count > 1 || reader.isEscaped) return false;
        table.countBytes(bytes, reader.start, reader.end, bucket);
        return true;
      }
    }
    isFrequent = false;
    if (isEscaped || pairs.isIn(bytes, start, lineEnd)) return false;
    // A message written as a list of bytes, as journalctl does, may contain anything.
    if (isJson && lists.isIn(bytes, start, lineEnd)) return false;
    table.countMissing();
    return true;
  };
}

const NONE = -1;
const UNCLEAR = -2;

/** The context of a line of the contract's format: its last column. */
function contextStart(bytes: Buffer, start: number, end: number, kernel: ScanKernel): number {
  if (bytes[end - 1] !== CLOSE_BRACE) return NONE;
  const tab = kernel.lastTab(start, end);
  // Behind a space, it is a matter of the columns before it.
  return tab >= 0 && bytes[tab + 1] === OPEN_BRACE ? tab + 1 : UNCLEAR;
}

function jsonStart(bytes: Buffer, start: number): number {
  return bytes[start] === OPEN_BRACE ? start : UNCLEAR;
}

/** As `decodeRecord` does. */
function splitTags(bytes: Buffer, { start, end }: Span): string[] {
  return bytes.toString('utf8', start + 1, end - 1).split(/\] ?\[/);
}

/** The end of a line without its line break. */
function textEnd(bytes: Buffer, start: number, end: number): number {
  let lineEnd = end;
  if (lineEnd > start && bytes[lineEnd - 1] === NEWLINE) lineEnd--;
  if (lineEnd > start && bytes[lineEnd - 1] === CARRIAGE_RETURN) lineEnd--;
  return lineEnd;
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
