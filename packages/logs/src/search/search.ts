import { countRecords, EMPTY_BATCH, joinCursors, type MergedRun, type RecordBatch, TimeMerge } from '@porthole/records';
import { decodeCursor, START_CURSOR } from '../cursor/cursor.ts';
import { LogSources } from '../query/log-sources.ts';
import { SMALL_FILE_BYTES } from '../scan/job-queue.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import type { SearchEnd, SearchQuery } from '../types.ts';
import { type CoveredPart, computeCoverage } from './coverage.ts';
import { type FoundStep, familyRecords } from './family-records.ts';
import { listDuplicates, listProblems, type OpenFamily, releaseFamily } from './files/open-family.ts';
import { JoinedTexts } from './joined-texts.ts';
import { Lane, type TakenRecords } from './lane.ts';
import type { FamilyProgress } from './plan/file-parts.ts';
import { FIRST_POSITION, type PositionRange, type RecordPosition } from './plan/file-parts.ts';
import type { TimeRange } from './plan/scan-tally.ts';
import { ScanTally } from './plan/scan-tally.ts';
import { type FamilyPart, findRange, recordGone } from './position.ts';
import { recordRest } from './record-rest.ts';
import { ResultRooms } from './result-rooms.ts';
import type { ScanContext } from './scan-context.ts';
import { type SearchOptions, StopReason } from './stop-reason.ts';
import { withContext } from './with-context.ts';

/**
 * The matching records of some families in batches as they are found, and the end. An empty batch comes first, as soon as the
 * query has been validated. Takes ownership of the families and releases them.
 */
export async function* search(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  requested: SearchQuery,
  options: SearchOptions = {},
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const query = fromBeginning(requested);
  const { asText = false } = options;
  const texts = new JoinedTexts();
  const tally = new ScanTally();
  const stop = new StopReason(options);
  const scans: FamilyScan[] = [];
  try {
    await scanContext.checkRegex(query, stop.newFlag());
    const parts = await findParts(scanContext, families, { query, stop, tally });
    yield EMPTY_BATCH;
    const emit = (taken: readonly TakenRecords[]) =>
      asText ? texts.add(taken) : withContext(scanContext, families, query, { taken, stop });
    let emitted = 0;
    const shown = { filter: query, asText, raw: query.raw ?? false, fields: query.fields };
    const hints = { onlyRaw: options.onlyRaw, rooms: new ResultRooms(options) };
    const recordsOptions = { ...shown, ...hints, wanted: () => query.limit - emitted };
    const [newestFirst, matcher] = [query.order === 'newest', new RecordMatcher(query)];
    let batch: TakenRecords[] = [];
    for (const [number, { range, cursor, restFrom }] of (parts ?? []).entries()) {
      const family = families[number] as OpenFamily;
      const progress = { reached: FIRST_POSITION, isComplete: false };
      const task = { scanContext, family, range, matcher, newestFirst, flag: stop.newFlag(), tally };
      const rest = restFrom && (await recordRest(task, { ...shown, position: restFrom }));
      if (rest) {
        batch.push(rest.taken);
        emitted++;
      }
      const records = familyRecords({ ...task, progress }, recordsOptions);
      const lane = new Lane(records, { index: number, newestFirst, cursor: rest?.cursor ?? cursor, range });
      scans.push({ family, range, progress, lane });
    }
    const lanes = scans.map(({ lane }) => lane);
    const merge = new TimeMerge<MergedRun<FoundStep>, Lane>();
    for (const lane of lanes) merge.add(lane);
    /** Those whose memory may be free when all that was taken is emitted. */
    const used = new Set<Lane>();
    const ahead = new LanesAhead(scans);
    for (let { first } = merge; first && !stop.poll() && emitted < query.limit; { first } = merge) {
      const runs = merge.take(query.limit - emitted);
      batch = batch.concat(runs);
      emitted += countRecords(runs);
      for (const { lane } of runs) used.add(lanes[lane] as Lane);
      if (runs.length > 0) continue;
      if (batch.length > 0) yield* emit(batch);
      batch = [];
      recordsOptions.rooms.putAll(used);
      used.clear();
      ahead.begin(first);
      await first.pull();
      used.add(first);
      if (first.isDone) merge.remove();
      else merge.update();
    }
    if (batch.length > 0) yield* emit(batch);
    const reason = stop.reason ?? (lanes.every(({ isDone }) => isDone) ? 'exhausted' : 'limit');
    const covered = await searchCoverage(scanContext, scans, { query, stop, tally });
    tally.checkUnread();
    const problems = listProblems(families, { isNewestPage: newestFirst && reason === 'limit' });
    const end = tally.end({ reason, records: emitted, problems, covered });
    const cursor = nextCursor(reason, lanes, query);
    yield* texts.rest();
    yield { type: 'end', ...end, cursor, ...listDuplicates(families) };
  } finally {
    stop.end();
    await Promise.all(scans.map(({ lane }) => lane.close()));
    for (const family of families) releaseFamily(family);
  }
}

/** Logs of one small file each that are scanned at the same time, before it is known which has the next record. */
const SCANNED_AHEAD = 64;

/** Begins the first steps of the lanes of small logs, some of them at a time: their order is known only after that. */
class LanesAhead {
  readonly #scans: readonly FamilyScan[];
  #begun = 0;
  #pulled = 0;

  constructor(scans: readonly FamilyScan[]) {
    this.#scans = scans;
  }

  /** Call before a lane is pulled. */
  begin(lane: Lane): void {
    if (lane.batch === undefined) this.#pulled++;
    if (this.#pulled < this.#begun - SCANNED_AHEAD / 2) return;
    const end = Math.min(this.#pulled + SCANNED_AHEAD, this.#scans.length);
    for (; this.#begun < end; this.#begun++) {
      const scan = this.#scans[this.#begun];
      if (scan && isSmallLog(scan.family)) scan.lane.begin();
    }
  }
}

function isSmallLog({ files }: OpenFamily): boolean {
  const [file] = files;
  return files.length === 1 && !file?.compressed && (file?.handle.sizeBytes ?? 0) <= SMALL_FILE_BYTES;
}

/** The scan of one family for a search. */
interface FamilyScan {
  family: OpenFamily;
  range: PositionRange;
  progress: FamilyProgress;
  lane: Lane;
}

/**
 * The part of each family that the query covers; `undefined` if it was cancelled meanwhile: nothing is scanned then.
 */
async function findParts(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  { query, stop, tally }: { query: SearchQuery; stop: StopReason; tally: ScanTally },
): Promise<FamilyPart[] | undefined> {
  const finder = { scanContext, flag: stop.newSeekFlag(), tally };
  try {
    const parts = await allSettled(families.map((family) => findRange(finder, family, query)));
    if (stop.reason === 'cancelled') return undefined;
    assertFound(parts, query);
    return parts;
  } catch (error) {
    if (stop.reason === 'cancelled') return undefined;
    throw error;
  }
}

async function searchCoverage(
  scanContext: ScanContext,
  scans: readonly FamilyScan[],
  { query, stop, tally }: { query: SearchQuery; stop: StopReason; tally: ScanTally },
): Promise<TimeRange | null> {
  if (stop.reason === 'cancelled') return null;
  const parts = scans.map((scan) => coveredPart(scan, query.order === 'newest'));
  const { fromMs, toMs } = query;
  return stop.unlessCancelled(
    computeCoverage({ scanContext, flag: stop.newSeekFlag() }, parts, { fromMs, toMs, tally }),
  );
}

function coveredPart({ family, range, progress, lane }: FamilyScan, newestFirst: boolean): CoveredPart {
  if (progress.isComplete && !lane.hasNext) return { family, ...range };
  const known = { insideMs: lane.nextMs, outsideMs: lane.boundMs };
  const { emittedTo } = lane;
  // The record that a range ends before may have been scanned, too.
  if (newestFirst) {
    const isInside = isUpTo(range.from, emittedTo);
    return { family, from: isInside ? emittedTo : range.from, to: range.to, ...(isInside && { knownFrom: known }) };
  }
  const isInside = isUpTo(emittedTo, range.to);
  return { family, from: range.from, to: isInside ? emittedTo : range.to, ...(isInside && { knownTo: known }) };
}

function isUpTo(first: RecordPosition, second: RecordPosition): boolean {
  return first.file < second.file || (first.file === second.file && first.offset <= second.offset);
}

/** The cursor of a response that ended before it reached any record means no position at all. */
function fromBeginning(query: SearchQuery): SearchQuery {
  const { start, ...rest } = query;
  return start && 'cursor' in start && start.cursor === START_CURSOR ? rest : query;
}

/** Like `Promise.all`, but rejects only when none is pending any more: they use the files, which are released then. */
async function allSettled<T>(promises: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * A record that the query names must be found in one of the families. If a cursor names several and several logs are
 * queried, every one must be: otherwise a log whose record no longer exists would be returned from its start again.
 */
function assertFound(parts: readonly FamilyPart[], { src, start, until }: SearchQuery): void {
  if (parts.length === 0) return;
  const named = { start: start && 'cursor' in start ? start.cursor : undefined, until };
  for (const name of ['start', 'until'] as const) {
    const cursor = named[name];
    const least = cursor !== undefined && !new LogSources(src).only ? decodeCursor(cursor).length : 1;
    if (parts.filter(({ found }) => found[name]).length < least) throw recordGone();
  }
}

/** Continues exactly where a search stopped; `null` if nothing is left. */
function nextCursor(reason: SearchEnd['reason'], lanes: readonly Lane[], { start }: SearchQuery): string | null {
  if (reason === 'exhausted') return null;
  const cursors = lanes.flatMap(({ cursor }) => (cursor === undefined ? [] : [cursor]));
  if (cursors.length > 0) return joinCursors(cursors);
  // Nothing was scanned yet: continue where this search began.
  return start && 'cursor' in start ? start.cursor : START_CURSOR;
}
