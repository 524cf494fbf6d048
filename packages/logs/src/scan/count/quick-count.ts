import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import { findColumns } from '../../parse/decode-record.ts';
import type { Format } from '../../parse/format.ts';
import { LEVELS_BY_RANK } from '../../parse/level.ts';
import { resolveField } from '../../query/index.ts';
import { createFindLeaf, type FindLeaf } from '../match/find-leaf.ts';
import type { MatchedRecord } from '../match/find-matches.ts';
import { type JsonColumnReader, jsonSources, jsonTags } from './json-columns.ts';
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
    if (format.name === 'json') {
      return jsonColumnCount(field.column === 'source' ? jsonSources(kernel) : jsonTags(kernel), table);
    }
    return isNative ? columnCount(field.column, counting) : () => false;
  }
  const find = createFindLeaf(field.leaf, counting);
  return find ? leafCount(find, counting) : () => false;
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

/** Counts the sources or the tags of records in JSON. */
function jsonColumnCount(reader: JsonColumnReader, table: TopTable): QuickCount {
  return (bytes, { start, end, isHeadless }, bucket) => {
    const isFound = isHeadless ? undefined : reader.find(bytes, start, end);
    if (isFound === undefined) return false;
    if (isFound) table.countBytes(bytes, reader.start, reader.end, bucket);
    else table.countMissing();
    return true;
  };
}

/** A leaf of the JSON of records with one line. */
function leafCount(find: FindLeaf, { table, kernel }: Counting): QuickCount {
  const { foundValue } = kernel;
  return (bytes, { start, end, isHeadless }, bucket) => {
    const isFound = isHeadless ? undefined : find(bytes, start, end);
    if (isFound === undefined) return false;
    if (isFound) table.countBytes(bytes, foundValue[0] ?? 0, foundValue[1] ?? 0, bucket);
    else table.countMissing();
    return true;
  };
}

function firstLineEnd(bytes: Buffer, start: number, end: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  return newline < 0 || newline >= end ? end : newline + 1;
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
