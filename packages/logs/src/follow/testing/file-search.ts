import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { CHECK_BYTES, decodeCursor, encodeMark, fnv1a, type RecordMark } from '../../cursor/cursor.ts';
import { isMarked, markFile } from '../../cursor/file-mark.ts';
import { groupFamilies } from '../../file/families.ts';
import { isSystemError, LogError } from '../../log-error.ts';
import { BUILT_IN_FORMATS } from '../../parse/detect-format.ts';
import type { Zone } from '../../parse/zone.ts';
import { RecordMatcher } from '../../scan/match/record-matcher.ts';
import type { FoundRecord, SearchItem, SearchQuery } from '../../types.ts';
import type { Search } from '../history/search-history.ts';

interface Text {
  name: string;
  bytes: Buffer;
}

/** The slow, obvious search: reads whole files one by one; does not support regexes. */
export function fileSearch(dir: string, zone: Zone): Search {
  return async function* search(query: SearchQuery): AsyncGenerator<SearchItem[]> {
    const texts = readTexts(dir, query);
    const all = texts.flatMap((text, file) => parseRecords(text, zone, query).map((record) => ({ ...record, file })));
    const findPosition = (cursor: string) => findMark(texts, cursor);
    const { start, until, order } = query;
    let chosen = all;
    const compare = (a: TextPosition, b: TextPosition) => a.file - b.file || a.offset - b.offset;
    if (start && 'cursor' in start) {
      const at = findPosition(start.cursor);
      chosen = chosen.filter((record) => (order === 'newest' ? compare(record, at) < 0 : compare(record, at) > 0));
    } else if (start && 'record' in start) {
      const at = findPosition(start.record);
      chosen = chosen.filter((record) => compare(record, at) >= 0);
    } else if (start && 'timeMs' in start) {
      const first = chosen.findIndex(({ timeMs }) => timeMs >= start.timeMs);
      chosen = first < 0 ? [] : chosen.slice(first);
    }
    if (until !== undefined) {
      const at = findPosition(until);
      chosen = chosen.filter((record) => compare(record, at) < 0);
    }
    const matching = chosen.filter(({ matches }) => matches).map(({ show }) => show());
    if (order === 'newest') matching.reverse();
    for (let from = 0; from < Math.min(matching.length, query.limit); from += 500) {
      yield matching.slice(from, Math.min(from + 500, query.limit));
    }
    yield [searchEnd(Math.min(matching.length, query.limit))];
  };
}

interface TextPosition {
  file: number;
  offset: number;
}

function readTexts(dir: string, { src = [] }: SearchQuery): Text[] {
  const [text = ''] = src;
  // All at one moment: nothing is renamed between listing and reading.
  const members = groupFamilies(readdirSync(dir)).find(({ name }) => name === text)?.files ?? [];
  const wanted = text.startsWith('=') ? [text.slice(1)] : members.map(({ name }) => name);
  return wanted.flatMap((name) => {
    try {
      const bytes = readFileSync(join(dir, name));
      return [{ name, bytes: name.endsWith('.gz') ? gunzipSync(bytes) : bytes }];
    } catch (error) {
      // Deleted or renamed since it was listed.
      if (!isSystemError(error)) throw error;
      return [];
    }
  });
}

function findMark(texts: readonly Text[], cursor: string): TextPosition {
  for (const mark of decodeCursor(cursor)) {
    const file = texts.findIndex(({ bytes }) => holds(bytes, mark));
    if (file >= 0) return { file, offset: mark.offset };
  }
  throw new LogError('CURSOR_GONE', 'the record no longer exists');
}

function holds(bytes: Buffer, mark: RecordMark): boolean {
  const { offset, check, checkBytes } = mark;
  if (!isMarked(mark, bytes.subarray(0, 1024)) || offset + checkBytes > bytes.length) return false;
  return checkBytes === 0 || fnv1a(bytes, offset, offset + checkBytes) === check;
}

interface Found {
  offset: number;
  timeMs: number;
  matches: boolean;
  show(): FoundRecord;
}

function parseRecords({ name, bytes }: Text, zone: Zone, query: SearchQuery): Found[] {
  const format = BUILT_IN_FORMATS.detect(bytes.subarray(0, 64 * 1024), { zone, writtenMs: Date.now() });
  const matcher = new RecordMatcher(query);
  const mark = markFile(bytes);
  const starts: { offset: number; timeMs: number; rank: number }[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const head = { timeMs: Number.NaN, rank: 0 };
    if (format.readHead(bytes, start, end, head) || start === 0) starts.push({ offset: start, ...head });
    start = end;
  }
  return starts.map(({ offset, timeMs, rank }, index) => {
    const end = starts[index + 1]?.offset ?? bytes.length;
    const matches = matcher.matchesHead({ timeMs, rank }) && matcher.matchesText(bytes, offset, end, format);
    const show = (): FoundRecord => {
      const checkBytes = Math.min(CHECK_BYTES, end - offset);
      const check = fnv1a(bytes, offset, offset + checkBytes);
      return {
        type: 'record',
        ...format.decode(bytes, offset, end),
        ...(query.raw && { raw: bytes.toString('utf8', offset, end).replace(/\r?\n$/, '') }),
        file: name,
        offset,
        bytes: end - offset,
        cursor: encodeMark({ ...mark, file: name, offset, check, checkBytes }),
      };
    };
    return { offset, timeMs, matches, show };
  });
}

function searchEnd(records: number): SearchItem {
  const counts = { scannedBytes: 0, skippedBytes: 0, scannedFiles: 0, elapsedMs: 0 };
  const covered = { coveredFromMs: null, coveredToMs: null, problems: [], cursor: null };
  return { type: 'end', reason: 'exhausted', records, ...counts, ...covered };
}
