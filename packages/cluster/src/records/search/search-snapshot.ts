import { setImmediate as nextTurn } from 'node:timers/promises';
import { PortholeError } from '@porthole/contract';
import { createRecordFilter, searchableText } from '@porthole/logs';
import type { FoundRecord, LogSelection, RecordFilter, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import { deliveredBefore, positionAfter } from './snapshot-position.ts';

/** Work before others get their turn. */
const TURN_MS = 10;

/** Tests the regex of a filter on texts, in other threads: a single long one may take seconds. */
export type MatchRegex = (filter: RecordFilter, texts: readonly Buffer[]) => Promise<boolean[]>;

/** Those of the records of a snapshot that match. */
export type SnapshotFilter = (records: readonly FoundRecord[]) => Promise<FoundRecord[]>;

/** The snapshot of a member as the answer to a search. */
export async function* searchSnapshot(
  snapshot: MemberSnapshot,
  query: SearchQuery,
  matchRegex?: MatchRegex,
): AsyncGenerator<SearchItem[], void, undefined> {
  const filter = await snapshotFilter(snapshot, query, matchRegex);
  yield [];
  const { order, limit, start, raw = false } = query;
  const timeMs = start && 'timeMs' in start ? start.timeMs : undefined;
  const isInside = (at: number) => timeMs === undefined || (order === 'newest' ? at < timeMs : at >= timeMs);
  const inOrder = order === 'newest' ? snapshot.records : snapshot.records.toReversed();
  // Without a time it stands nowhere: it is told only where no time is asked for.
  const inside = inOrder.slice(startIndex(snapshot, query)).filter(({ timeMs: at = Number.NaN }) => isInside(at));
  const matching = await filter(inside);
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const isCut = matching.length > page.length && last !== undefined;
  const end = snapshotEnd(page);
  yield [
    ...page.map((record) => (raw ? record : withoutRaw(record))),
    isCut ? { ...end, reason: 'limit', cursor: positionAfter(snapshot, last) } : end,
  ];
}

/** A snapshot keeps the text of each record; responses have it only where it was requested. */
function withoutRaw({ raw: _raw, ...record }: FoundRecord): FoundRecord {
  return record;
}

/** Those that match. There may be many, and this thread serves others too: they get their turn in between. */
export async function filterInTurns(
  records: readonly FoundRecord[],
  matches: (record: FoundRecord) => boolean,
): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  let turnMs = performance.now();
  for (const record of records) {
    if (matches(record)) found.push(record);
    if (performance.now() - turnMs < TURN_MS) continue;
    await nextTurn();
    turnMs = performance.now();
  }
  return found;
}

/** The filter of the engine; which files are one log is decided by all names that are known of the member. */
export async function snapshotFilter(
  { records, files }: MemberSnapshot,
  query: LogSelection & RecordFilter,
  matchRegex?: MatchRegex,
): Promise<SnapshotFilter> {
  const names = [...(files ?? []).map(({ name }) => name), ...records.map(({ file }) => file)];
  // Rejects a regex that is none, whatever there is to test it on.
  const matches = await createRecordFilter(query, names);
  const { regex, caseSensitive = false, ...others } = query;
  if (regex === undefined || !matchRegex) return (some) => filterInTurns(some, matches);
  const matchesOthers = await createRecordFilter({ ...others, caseSensitive }, names);
  return async (some) => {
    const candidates = await filterInTurns(some, matchesOthers);
    const isMatch = await matchRegex({ regex, caseSensitive }, candidates.map(searchableText));
    return candidates.filter((_, index) => isMatch[index]);
  };
}

/** How many records, in the order of the query, stand before those it begins with. */
function startIndex(snapshot: MemberSnapshot, { start, order }: SearchQuery): number {
  if (start === undefined || 'timeMs' in start || 'offset' in start) return 0;
  const cursor = 'cursor' in start ? start.cursor : start.record;
  const given = deliveredBefore(snapshot, cursor, order);
  if (given === undefined)
    throw new PortholeError('CURSOR_GONE', `the snapshot of "${snapshot.member.id}" does not hold this record`);
  // The record itself belongs to what is asked for, unless those before it are.
  return 'record' in start && order === 'oldest' ? given - 1 : given;
}

/** What a search, or a count, of a snapshot says at its end: there is nothing behind it. */
export function snapshotEnd(records: readonly FoundRecord[]): SearchEnd {
  return {
    type: 'end',
    reason: 'exhausted',
    records: records.length,
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
