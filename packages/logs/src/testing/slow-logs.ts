/* The reference results of queries, computed in the slow and obvious way: all text in memory, no index. */
import { BUILT_IN_FORMATS, createFormat } from '../parse/detect-format.ts';
import type { Format, LineHead, RecordFields } from '../parse/format.ts';
import { levelRank } from '../parse/level.ts';
import type { Zone } from '../parse/zone.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { SHOWN_BYTES } from '../scan/block/record-formatter.ts';
import type { FoundRecord, RecordFilter, SearchQuery } from '../types.ts';
import { slowMatches } from './slow-query.ts';

/** This much of a file's text determines its format and its first time. */
const SAMPLE_BYTES = 64 * 1024;

export interface SlowFile {
  name: string;
  /** Its text, uncompressed. */
  text: Buffer;
  writtenMs: number;
}

/** A family's files in the order of their names, oldest first. */
export interface SlowFamily {
  name: string;
  files: SlowFile[];
}

export interface SlowRecord {
  file: string;
  /** Whether the file can be queried by time at all. */
  timedFile: boolean;
  offset: number;
  end: number;
  timeMs: number;
  rank: number;
  continued: boolean;
  text: string;
  /** As it was written; of a hole behind it, one newline. */
  bytes: Buffer;
  /** As in a response. */
  shown: RecordFields;
  /** The fields of the whole record, however long. */
  whole: RecordFields;
}

/** The fields of a record in a response, except for its cursor and context. */
export type ComparableRecord = Omit<FoundRecord, 'cursor' | 'before' | 'after'>;

export function toComparable({ file, offset, end, continued, shown }: SlowRecord): ComparableRecord {
  return {
    type: 'record',
    file,
    offset,
    bytes: end - offset,
    ...shown,
    ...(end - offset > SHOWN_BYTES && { cut: true as const }),
    ...(continued && { continued: true as const }),
  };
}

/** All records of a family, oldest file first. */
export function readFamilyRecords({ files }: SlowFamily, zone: Zone): SlowRecord[] {
  const read = files.filter(({ text }) => text.length > 0).map((file) => readFile(file, zone));
  const byTime = read.every(({ firstMs }) => firstMs !== null);
  if (byTime) read.sort((a, b) => (a.firstMs ?? 0) - (b.firstMs ?? 0));
  return read.flatMap(({ records }) => records);
}

function readFile(file: SlowFile, zone: Zone): { firstMs: number | null; records: SlowRecord[] } {
  const { text, writtenMs } = file;
  const { spec } = BUILT_IN_FORMATS.detect(text.subarray(0, SAMPLE_BYTES), { zone, writtenMs });
  const format = createFormat(spec, { zone, writtenMs });
  const heads = findHeads(text.subarray(0, SAMPLE_BYTES), format);
  const firstMs = heads.map(({ timeMs }) => timeMs).find((timeMs) => !Number.isNaN(timeMs)) ?? null;
  return {
    firstMs,
    records: readRecords({ ...file, text: format.name === 'text' ? text : withoutHoles(text) }, format),
  };
}

/** Holes of NULs are read as newlines: see scan/block/nul-holes.ts. */
function withoutHoles(text: Buffer): Buffer {
  const newlines = (hole: string) => '\n'.repeat(hole.length);
  return Buffer.from(text.toString('latin1').replace(/\0{256,}/g, newlines), 'latin1');
}

interface Start {
  offset: number;
  timeMs: number;
  rank: number;
  continued: boolean;
}

function findLineStarts(text: Buffer): number[] {
  const starts = [0];
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) starts.push(at + 1);
  return starts.filter((start) => start < text.length);
}

function findHeads(text: Buffer, format: Format): Start[] {
  const lines = findLineStarts(text);
  return lines.flatMap((offset, index) => {
    const lineEnd = lines[index + 1] ?? text.length;
    const head: LineHead = { timeMs: Number.NaN, rank: 0 };
    const starts = format.readHead(text, offset, lineEnd, head);
    return starts ? [{ offset, ...head, continued: false }] : [];
  });
}

/**
 * Records start at heads and at the start of the text. One that fills a whole block is split in it: see
 * scan/block/blocks.ts.
 */
export function recordStarts(text: Buffer, format: Format): Start[] {
  const starts = findHeads(text, format);
  const lines = findLineStarts(text);
  const blocksWithHead = new Set(starts.map(({ offset }) => Math.floor(offset / BLOCK_BYTES)));
  const forced = { timeMs: Number.NaN, rank: 0 };
  if (text.length > 0 && !starts.some(({ offset }) => offset === 0)) {
    starts.push({ offset: 0, ...forced, continued: false });
  }
  for (let block = 1; (block + 1) * BLOCK_BYTES <= text.length; block++) {
    if (blocksWithHead.has(block)) continue;
    const from = block * BLOCK_BYTES;
    if (text.subarray(from, from + BLOCK_BYTES).every((byte) => byte === 10)) continue;
    const line = lines.find((offset) => offset >= from && offset < from + BLOCK_BYTES);
    starts.push({ offset: line ?? characterFrom(text, from + BLOCK_BYTES / 2), ...forced, continued: true });
  }
  return starts.sort((a, b) => a.offset - b.offset);
}

/** The first UTF-8 character from here on; this very byte if the bytes are not text. */
function characterFrom(text: Buffer, offset: number): number {
  const skipped = [...text.subarray(offset, offset + 4)].findIndex((byte) => byte >> 6 !== 2);
  return offset + Math.max(0, skipped);
}

function readRecords({ name, text }: SlowFile, format: Format): SlowRecord[] {
  const starts = recordStarts(text, format);
  return starts.map(({ offset, timeMs, rank, continued }, index) => {
    const next = starts[index + 1]?.offset ?? text.length;
    // What follows is a hole.
    const end = Math.min(next, (Math.floor(offset / BLOCK_BYTES) + 2) * BLOCK_BYTES);
    const decode = (to: number): RecordFields =>
      continued
        ? { message: text.toString('utf8', offset, to).replace(/\r?\n$/, '') }
        : format.decode(text, offset, to);
    const position = { file: name, timedFile: format.timed, offset, end };
    const hole = /\n{256,}$/.exec(text.toString('latin1', offset, end))?.[0] ?? '';
    const written = end - (hole.length < end - offset ? hole.length : 0);
    const shown = decode(shownEnd(text, offset, written));
    return {
      ...position,
      timeMs,
      rank,
      continued,
      text: text.toString('utf8', offset, end),
      bytes: text.subarray(offset, Math.min(end, written + 1)),
      shown,
      whole: decode(written),
    };
  });
}

function shownEnd(text: Buffer, offset: number, end: number): number {
  if (end - offset <= SHOWN_BYTES) return end;
  let cut = offset + SHOWN_BYTES;
  while (cut > offset + SHOWN_BYTES - 4 && ((text[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return cut;
}

export function matches(record: SlowRecord, filter: RecordFilter): boolean {
  const { fromMs = -Infinity, toMs = Infinity, terms = [], excluded = [], caseSensitive = false } = filter;
  const asksTimes = filter.fromMs !== undefined || filter.toMs !== undefined;
  if (asksTimes && !(record.timeMs >= fromMs && record.timeMs < toMs)) return false;
  if (record.rank < levelRank(filter.minLevel)) return false;
  const fold = (text: string) => (caseSensitive ? text : text.toLowerCase());
  if (!terms.every((term) => fold(record.text).includes(fold(term)))) return false;
  if (excluded.some((term) => fold(record.text).includes(fold(term)))) return false;
  if (filter.regex !== undefined) {
    if (!new RegExp(filter.regex, caseSensitive ? 'mu' : 'imu').test(record.text)) return false;
  }
  if (filter.query && !slowMatches(filter.query, { fields: record.whole, text: record.text }, caseSensitive))
    return false;
  return matchesColumns(record.whole, filter);
}

function matchesColumns({ source, tags = [] }: RecordFields, filter: RecordFilter): boolean {
  const { source: wanted, component } = filter;
  if (component !== undefined && !tags.map((tag) => tag.toLowerCase()).includes(component.toLowerCase())) return false;
  if (wanted === undefined) return true;
  const file = source?.replace(/:\d+$/, '');
  return [source, file].some((candidate) => candidate === wanted || candidate?.endsWith(`/${wanted}`));
}

/** A position in a family: the number of records before it. */
export type SlowStart = { offset: number } | { timeMs: number } | { after: SlowRecord } | { at: SlowRecord };

export interface SlowSearch extends RecordFilter {
  order: SearchQuery['order'];
  start?: SlowStart | undefined;
  until?: SlowRecord | undefined;
}

/** The matching records of one family in the requested order, without a limit. */
export function slowSearch(records: readonly SlowRecord[], search: SlowSearch): SlowRecord[] {
  const newest = search.order === 'newest';
  let from = 0;
  let to = records.length;
  if (search.start) {
    const position = startIndex(records, search.start);
    if (newest) to = position;
    else from = 'after' in search.start ? position + 1 : position;
  }
  if (search.until) {
    const position = records.indexOf(search.until);
    if (newest) from = position + 1;
    else to = position;
  }
  const found = records.slice(from, Math.max(from, to)).filter((record) => matches(record, search));
  return newest ? found.reverse() : found;
}

function startIndex(records: readonly SlowRecord[], start: SlowStart): number {
  if ('after' in start) return records.indexOf(start.after);
  if ('at' in start) return records.indexOf(start.at);
  const position =
    'timeMs' in start
      ? records.findIndex(({ timeMs, timedFile }) => timedFile && timeMs >= start.timeMs)
      : records.findIndex(({ end }) => end > start.offset);
  return position < 0 ? records.length : position;
}

/**
 * Merges the records of several logs: always from the one with the newest (oldest) next time, the first of equal ones.
 */
export function slowMerge(lanes: readonly (readonly SlowRecord[])[], order: SearchQuery['order']): SlowRecord[] {
  const sign = order === 'newest' ? 1 : -1;
  const left = lanes.map((records) => ({ records: [...records], bound: Infinity }));
  const merged: SlowRecord[] = [];
  const laneBound = ({ records, bound }: { records: SlowRecord[]; bound: number }) => {
    const timeMs = records[0]?.timeMs ?? Number.NaN;
    return Number.isNaN(timeMs) ? bound : Math.min(bound, timeMs * sign);
  };
  for (;;) {
    const ready = left.filter(({ records }) => records.length > 0);
    const best = Math.max(...ready.map(laneBound));
    const lane = ready.find((candidate) => laneBound(candidate) === best);
    const record = lane?.records[0];
    if (!lane || !record) return merged;
    lane.bound = best;
    lane.records.shift();
    merged.push(record);
  }
}

/** A log without timestamps is not included in a search of all logs. */
export function timedOnly<T extends { timeMs: number }>(records: T[]): T[] {
  return records.every(({ timeMs }) => Number.isNaN(timeMs)) ? [] : records;
}
