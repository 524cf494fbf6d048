import { PortholeError } from '@porthole/contract';
import { createRecordFilter } from '@porthole/logs';
import type { FoundRecord, LogSelection, RecordFilter, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import type { MemberWords } from '../state/member-words.ts';
import { givenBefore, positionAfter } from './snapshot-position.ts';

/** The snapshot of a member as the answer to a search. */
export async function* searchWords(
  words: MemberWords,
  query: SearchQuery,
): AsyncGenerator<SearchItem[], void, undefined> {
  const matches = await snapshotFilter(words, query);
  yield [];
  const { order, limit, start, raw = false } = query;
  const timeMs = start && 'timeMs' in start ? start.timeMs : undefined;
  const isInside = (at: number) => timeMs === undefined || (order === 'newest' ? at < timeMs : at >= timeMs);
  const inOrder = order === 'newest' ? words.records : words.records.toReversed();
  // Without a time it stands nowhere: it is told only where no time is asked for.
  const matching = inOrder
    .slice(beginOf(words, query))
    .filter((record) => matches(record) && isInside(record.timeMs ?? Number.NaN));
  const told = matching.slice(0, limit);
  const last = told.at(-1);
  const isCut = matching.length > told.length && last !== undefined;
  const end = snapshotEnd(told);
  yield [
    ...told.map((record) => (raw ? record : withoutRaw(record))),
    isCut ? { ...end, reason: 'limit', cursor: positionAfter(words, last) } : end,
  ];
}

/** A snapshot keeps the text of each record; responses have it only where it was requested. */
function withoutRaw({ raw: _raw, ...record }: FoundRecord): FoundRecord {
  return record;
}

/** The filter of the engine; which files are one log is decided by all names that are known of the member. */
export function snapshotFilter(
  { records, files }: MemberWords,
  query: LogSelection & RecordFilter,
): Promise<(record: FoundRecord) => boolean> {
  const names = [...(files ?? []).map(({ name }) => name), ...records.map(({ file }) => file)];
  return createRecordFilter(query, names);
}

/** How many records, in the order of the query, stand before those it begins with. */
function beginOf(words: MemberWords, { start, order }: SearchQuery): number {
  if (start === undefined || 'timeMs' in start || 'offset' in start) return 0;
  const cursor = 'cursor' in start ? start.cursor : start.record;
  const given = givenBefore(words, cursor, order);
  if (given === undefined)
    throw new PortholeError('CURSOR_GONE', `the snapshot of "${words.member.id}" does not hold this record`);
  // The record itself belongs to what is asked for, unless those before it are.
  return 'record' in start && order === 'oldest' ? given - 1 : given;
}

/** What a search, or a count, of a snapshot says at its end: there is nothing behind it. */
export function snapshotEnd(told: readonly FoundRecord[]): SearchEnd {
  return {
    type: 'end',
    reason: 'exhausted',
    records: told.length,
    scannedBytes: 0,
    skippedBytes: 0,
    scannedFiles: 0,
    coveredFromMs: null,
    coveredToMs: null,
    problems: [],
    cursor: null,
    elapsedMs: 0,
  };
}
