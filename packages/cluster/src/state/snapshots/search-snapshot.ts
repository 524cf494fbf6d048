import { setImmediate as nextTurn } from 'node:timers/promises';
import { PortholeError } from '@porthole/contract';
import { createRecordFilter, RegexConditions, searchableText } from '@porthole/logs';
import { fieldJson } from '@porthole/logs/query';
import type { FoundRecord, LogSelection, RecordFilter, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { batchOf, EMPTY_BATCH, type RecordBatch } from '@porthole/records';
import type { MatchRegex } from '../../fan-out/peers.ts';
import type { MemberSnapshot } from '../../membership/snapshots/member-snapshot.ts';

/** Records to process before yielding to the event loop. */
const TURN_MS = 10;

/** The matching records of a snapshot. */
export type SnapshotFilter = (records: readonly FoundRecord[]) => Promise<FoundRecord[]>;

/** Prefix of snapshot positions; cursors of members never start with it. */
const MARK = '@';

/** Joins cursors into a position in several logs. */
const CURSOR_SEPARATOR = '~';

export interface SnapshotSearchOptions {
  matchRegex?: MatchRegex | undefined;
  /** Which of the matching records to emit, in the order of the search; default: all. */
  select?(matching: FoundRecord[]): FoundRecord[];
}

/** Searches the snapshot of a member. */
export async function* searchSnapshot(
  snapshot: MemberSnapshot,
  query: SearchQuery,
  { matchRegex, select = (matching) => matching }: SnapshotSearchOptions = {},
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const filter = await snapshotFilter(snapshot, query, matchRegex);
  yield EMPTY_BATCH;
  const { order, limit, start, raw = false, fields } = query;
  const timeMs = start && 'timeMs' in start ? start.timeMs : undefined;
  const isInside = (at: number) => timeMs === undefined || (order === 'newest' ? at < timeMs : at >= timeMs);
  const inOrder = order === 'newest' ? snapshot.records : snapshot.records.toReversed();
  // Records without a timestamp match only without a time range.
  const inside = inOrder.slice(startIndex(snapshot, query)).filter(({ timeMs: at = Number.NaN }) => isInside(at));
  const matching = select(await filter(inside));
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const isCut = matching.length > page.length && last !== undefined;
  const end = snapshotEnd(page);
  yield batchOf(page.map((record) => withFields(raw ? record : withoutRaw(record), fields)));
  yield isCut ? { ...end, reason: 'limit', cursor: positionAfter(snapshot, last) } : end;
}

/** A snapshot has the raw text of each record; responses include it only on request. */
function withoutRaw({ raw: _raw, ...record }: FoundRecord): FoundRecord {
  return record;
}

/** With the fields that were asked for. */
function withFields(record: FoundRecord, names: readonly string[] | undefined): FoundRecord {
  return names === undefined ? record : { ...record, fields: fieldJson(record, names) };
}

/** Filters the records, yielding to the event loop in between: there may be many. */
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

/** The filter of the engine; families are determined by all known file names of the member. */
export async function snapshotFilter(
  { records, files }: MemberSnapshot,
  query: LogSelection & RecordFilter,
  matchRegex?: MatchRegex,
): Promise<SnapshotFilter> {
  const names = [...(files ?? []).map(({ name }) => name), ...records.map(({ file }) => file)];
  // Rejects an invalid regex even if there are no records.
  const matches = await createRecordFilter(query, names);
  const regexes = RegexConditions.of(query);
  if (!regexes || !matchRegex) return (some) => filterInTurns(some, matches);
  const matchesOthers = await createRecordFilter(query, names, { withRegexes: false });
  return async (some) => {
    const candidates = await filterInTurns(some, matchesOthers);
    const decoded = candidates.map((record) => ({
      fields: () => record,
      text: () => searchableText(record).toString(),
    }));
    const isMatch = await regexes.decide(decoded, matchRegex);
    return candidates.filter((_, index) => isMatch[index]);
  };
}

/** Number of records to skip, in the order of the query. */
function startIndex(snapshot: MemberSnapshot, { start, order }: SearchQuery): number {
  if (start === undefined || 'timeMs' in start || 'offset' in start) return 0;
  const cursor = 'cursor' in start ? start.cursor : start.record;
  const given = deliveredBefore(snapshot, cursor, order);
  if (given === undefined)
    throw new PortholeError('CURSOR_GONE', `the snapshot of "${snapshot.member.id}" does not contain this record`);
  // The record itself is included, except in newest-first order.
  return 'record' in start && order === 'oldest' ? given - 1 : given;
}

/** The end of a search or count over a snapshot: always exhausted. */
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

/** The position after this record; valid only for the same snapshot. */
export function positionAfter({ asOfMs, records }: MemberSnapshot, last: Pick<FoundRecord, 'file' | 'offset'>): string {
  const index = records.findIndex(({ file, offset }) => file === last.file && offset === last.offset);
  return `${MARK}${asOfMs}.${index}`;
}

/**
 * The number of records of a snapshot before the position, which may also be a record that the member itself sent last.
 * `undefined` if the snapshot does not contain it: then only the time can be used.
 */
export function deliveredBefore(
  { asOfMs, records }: MemberSnapshot,
  cursor: string,
  order: 'newest' | 'oldest',
): number | undefined {
  const newest = cursor.startsWith(MARK) ? parseIndex(cursor, asOfMs) : findCursorIndex(records, cursor, order);
  if (newest === undefined || newest < 0 || newest >= records.length) return undefined;
  return order === 'newest' ? newest + 1 : records.length - newest;
}

function parseIndex(position: string, asOfMs: number): number | undefined {
  const [, asOf, index] = /^@(-?\d+)\.(\d+)$/.exec(position) ?? [];
  return Number(asOf) === asOfMs ? Number(index) : undefined;
}

/** The earliest of several: better a repeated record than a lost one. */
function findCursorIndex(
  records: readonly FoundRecord[],
  cursor: string,
  order: 'newest' | 'oldest',
): number | undefined {
  const wanted = new Set(cursor.split(CURSOR_SEPARATOR));
  const found = [...records.keys()].filter((index) => wanted.has(records[index]?.cursor ?? ''));
  return order === 'newest' ? found[0] : found.at(-1);
}
