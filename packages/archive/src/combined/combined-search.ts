import {
  type ClusterEnd,
  type ClusterRecord,
  type ClusterState,
  codeOf,
  errorMessage,
  type MemberReport,
  type MemberSelection,
  ONLY_ARCHIVED,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import {
  invalidCursor,
  isCursorOf,
  packCursor,
  readList,
  readOptionalTime,
  readText,
  readTime,
  unpackCursor,
} from '@porthole/logs';
import type { SearchQuery, StartPoint } from '@porthole/logs/types';
import {
  cursorAt,
  EMPTY_BATCH,
  filterBatch,
  isBatch,
  joinBatches,
  type MergedRun,
  mergeByTime,
  originAt,
  type RecordBatch,
  sliceBatch,
  toBatches,
} from '@porthole/records';
import type { ArchiveState } from '../query/archive-state.ts';
import type { ArchivedLog } from '../query/archived-nodes.ts';
import { encodeArchiveCursor } from '../query/search-archive.ts';
import { archivePart, reportsOfUnasked, withArchive } from './combined-reports.ts';
import {
  type ClusterFacts,
  type Cuts,
  cutLog,
  cutOf,
  type Gap,
  isInStep,
  type Known,
  logKey,
  MAX_OWN_LOGS,
  MISSING_LOG,
  type PlannedRequest,
  type SourcePlan,
  toCutRequest,
  withoutArchivedLines,
} from './plan-sources.ts';

type CombinedSearch = SearchQuery & MemberSelection;

interface SearchDeps {
  cluster: Pick<ClusterState, 'search'>;
  archive: Pick<ArchiveState, 'searchLogs'>;
  plan: SourcePlan;
  facts: ClusterFacts;
  /** Where an earlier page stopped. */
  resumed: CombinedPosition | undefined;
  /** What may be missing since then. */
  gaps: MovedPosition['gaps'];
}

const BEGINNING: SidePosition = { page: null, after: null };

/** What a search emits. */
type Found = AsyncIterable<RecordBatch | ClusterEnd>;

/**
 * Searches members and archive, merged by time; an empty batch first, as soon as the side that is read first has accepted the
 * request. An archive that fails ends in a partial response that says so.
 */
export async function* searchBoth(
  deps: SearchDeps,
  request: CombinedSearch,
  options: SearchOptions,
): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
  const search = new CombinedSearchRun(deps, request, options);
  const { sides } = search;
  const lanes = sides.map((side) => side.read());
  const startsAt = sides.map((side) => side.startsAt);
  try {
    const first = Math.max(0, startsAt.findIndex(Number.isNaN));
    await lanes[first]?.next();
    if (lanes.length > 0) yield EMPTY_BATCH;
    for await (const runs of mergeByTime(lanes, { order: request.order, limit: request.limit, startsAt })) {
      // What is left of a side whose time ran out would be out of order.
      if (search.isOutOfTime) break;
      for (const run of runs) search.note(run);
      yield joinBatches(runs.map(({ batch, from, to }) => sliceBatch(batch, from, to)));
    }
  } finally {
    await Promise.all(lanes.map((lane) => lane.return()));
  }
  yield search.end();
}

class CombinedSearchRun {
  readonly #deps: SearchDeps;
  readonly #request: CombinedSearch;
  readonly #options: SearchOptions;
  readonly #startedMs = performance.now();
  readonly #members: SearchSide | undefined;
  readonly #archive: SearchSide | undefined;
  readonly sides: readonly SearchSide[];
  #problem: string | null = null;
  /** No member has the log. */
  #isMissing = false;
  #first: number | undefined;
  #last: number | undefined;
  #records = 0;

  constructor(deps: SearchDeps, request: CombinedSearch, options: SearchOptions) {
    this.#deps = deps;
    this.#request = request;
    this.#options = options;
    const { plan, resumed } = deps;
    const { members = BEGINNING, archive = BEGINNING } = resumed ?? {};
    const newestFirst = request.order === 'newest';
    const start = request.start && 'timeMs' in request.start ? request.start : undefined;
    const shared = { start, newestFirst, isStopped: () => this.isOutOfTime };
    if (plan.asksMembers && members)
      this.#members = new SearchSide({
        open: (from) => this.#openMembers(from),
        onFailure: (error) => this.#onMembersFailure(error),
        startsAt: newestFirst ? Number.NaN : plan.membersFromMs,
        position: members,
        ...shared,
      });
    if (plan.archive && archive)
      this.#archive = new SearchSide({
        open: (from) => this.#openArchive(from),
        onFailure: (error) => this.#onArchiveFailure(error),
        startsAt: newestFirst ? plan.archiveToMs : Number.NaN,
        position: archive,
        ...shared,
      });
    this.sides = [this.#members, this.#archive].filter((side) => side !== undefined);
  }

  /** The time of one of the sides ran out. */
  get isOutOfTime(): boolean {
    return this.sides.some(({ ends }) => ends.at(-1)?.reason === 'time budget');
  }

  /** Notes what is emitted. */
  note(run: MergedRun<RecordBatch>): void {
    this.sides[run.lane]?.note(run);
    const times = run.batch.times.subarray(run.from, run.to).filter((timeMs) => !Number.isNaN(timeMs));
    this.#first ??= times[0];
    this.#last = times.at(-1) ?? this.#last;
    this.#records += run.to - run.from;
  }

  end(): ClusterEnd {
    const { plan, facts, resumed } = this.#deps;
    const ends = this.sides.flatMap((side) => side.ends);
    const position = this.#position();
    const sum = (numberOf: (end: ClusterEnd) => number) => ends.reduce((total, end) => total + numberOf(end), 0);
    const share = { plan, facts: facts.members, counts: this.#archive?.taken ?? new Map(), problem: this.#problem };
    const lastEnd = this.#members?.ends.at(-1);
    return {
      type: 'end',
      reason: this.#reason(position, ends),
      records: this.#records,
      scannedBytes: sum(({ scannedBytes }) => scannedBytes),
      skippedBytes: sum(({ skippedBytes }) => skippedBytes),
      ...this.#coverage(position !== null || resumed !== undefined, ends),
      elapsedMs: Math.round(performance.now() - this.#startedMs),
      members: withArchive(this.#memberReports(lastEnd), { ...share, range: this.#range(), gaps: this.#deps.gaps }),
      membership: lastEnd?.membership ?? facts.membership,
      // What a member has only in the archive is read there.
      problems: ends.flatMap(({ problems = [] }) => problems.filter(({ code }) => code !== ONLY_ARCHIVED)),
      ...(lastEnd?.duplicates && { duplicates: lastEnd.duplicates }),
      cursor: position && encodeCombinedCursor(position),
      archive: archivePart(share),
    };
  }

  #openMembers(start: StartPoint | undefined): Found {
    const { cluster, plan } = this.#deps;
    const { start: _start, ...query } = this.#request;
    const request = { ...query, ...plan.members, store: 'nodes' as const, ...(start && { start }) };
    return withoutArchivedLines(cluster.search(request, this.#remaining()), plan);
  }

  #openArchive(start: StartPoint | undefined): Found {
    const { archive, plan } = this.#deps;
    const { start: _start, ...query } = this.#request;
    const found = archive.searchLogs({ ...query, ...(start && { start }) }, { ...plan.archive, ...this.#remaining() });
    return toBatches<ClusterRecord, ClusterEnd>(found);
  }

  /** The budget is that of the whole request. Batches are kept while the other side is read. */
  #remaining(): SearchOptions {
    const { budgetMs, reusesMemory: _reusesMemory, ...options } = this.#options;
    if (budgetMs === undefined) return options;
    return { ...options, budgetMs: Math.max(1, budgetMs - (performance.now() - this.#startedMs)) };
  }

  #onMembersFailure(error: unknown): void {
    this.#options.signal?.throwIfAborted();
    const hasOther = this.#archive !== undefined || this.#deps.resumed !== undefined;
    if (!hasOther || !MISSING_LOG.has(codeOf(error))) throw error;
    this.#isMissing = true;
  }

  #onArchiveFailure(error: unknown): void {
    this.#options.signal?.throwIfAborted();
    const code = codeOf(error);
    // A request that nobody can answer is refused, whoever finds out first.
    if (code !== 'ARCHIVE_UNAVAILABLE' && !this.#members && error instanceof PortholeError) throw error;
    if (code === 'INTERNAL') throw error;
    this.#problem = `${errorMessage(error)}; also of what disks have before the cut, records may be missing: ask again`;
  }

  /** Where the next page starts; `null`: there is none. */
  #position(): CombinedPosition | null {
    const { plan, resumed } = this.#deps;
    const members = this.#members && !this.#isMissing ? this.#members.position() : null;
    const archive = this.#archive ? this.#archive.position() : null;
    // Nothing remains but an archive that failed at once: paging must end.
    if (members === null && (archive === null || (this.#problem !== null && this.#records === 0))) return null;
    const { order } = this.#request;
    return { order: resumed?.order ?? order, cuts: plan.cuts, members, archive, reached: this.#reached() };
  }

  /** How far the pages have come, this one included. */
  #reached(): CombinedPosition['reached'] {
    const { membersMs = null, archiveMs = null } = this.#deps.resumed?.reached ?? {};
    return {
      membersMs: this.#members?.reachedMs ?? membersMs,
      archiveMs: this.#archive?.reachedMs ?? archiveMs,
    };
  }

  /** What the pages from this one on can have: what is missing before was reported there. */
  #range(): { fromMs?: number | undefined; toMs?: number | undefined } {
    const { fromMs, toMs, order } = this.#request;
    const { membersMs = null, archiveMs = null } = this.#deps.resumed?.reached ?? {};
    const times = [membersMs, archiveMs].flatMap((timeMs) => timeMs ?? []);
    if (times.length === 0) return { fromMs, toMs };
    if (order === 'newest') return { fromMs, toMs: Math.min(toMs ?? Infinity, Math.min(...times) + 1) };
    return { fromMs: Math.max(fromMs ?? -Infinity, Math.max(...times)), toMs };
  }

  #reason(position: CombinedPosition | null, ends: readonly ClusterEnd[]): ClusterEnd['reason'] {
    if (position !== null && this.#records >= this.#request.limit) return 'limit';
    return ends.some(({ reason }) => reason === 'time budget') ? 'time budget' : 'exhausted';
  }

  #memberReports(end: ClusterEnd | undefined): MemberReport[] {
    const reports = end?.members ?? reportsOfUnasked(this.#deps.facts.members, this.#request);
    return reports.map((report) => ({ ...report, count: this.#members?.taken.get(report.id) ?? 0 }));
  }

  /** A response that is not whole covers what it has: from its first record to its last. */
  #coverage(isPart: boolean, ends: readonly ClusterEnd[]): Pick<ClusterEnd, 'coveredFromMs' | 'coveredToMs'> {
    const none = { coveredFromMs: null, coveredToMs: null };
    if (!isPart) {
      const froms = ends.flatMap(({ coveredFromMs }) => coveredFromMs ?? []);
      const tos = ends.flatMap(({ coveredToMs }) => coveredToMs ?? []);
      if (froms.length === 0 || tos.length === 0) return none;
      return { coveredFromMs: Math.min(...froms), coveredToMs: Math.max(...tos) };
    }
    if (this.#first === undefined || this.#last === undefined) return none;
    const [fromMs, toMs] = [Math.min(this.#first, this.#last) + 1, Math.max(this.#first, this.#last) - 1];
    return fromMs <= toMs ? { coveredFromMs: fromMs, coveredToMs: toMs } : none;
  }
}

/** One of the two searches that are merged: of the members, or of the archive. */
interface SideOptions {
  /** Searches one page from here; `undefined`: from the beginning. */
  open(start: StartPoint | undefined): Found;
  /** Where the first page starts. */
  start: StartPoint | undefined;
  /** Where it is resumed. */
  position: SidePosition;
  newestFirst: boolean;
  /** The time before which it has nothing: until then it is not opened. `NaN`: it is at once. */
  startsAt: number;
  /** Handles an error: returns if the merge continues without this side. */
  onFailure(error: unknown): void;
  /** Nothing more is needed. */
  isStopped(): boolean;
}

/**
 * The records of one side, page after page. Because a merge may stop in the middle of a page, its position is the start of
 * that page and the last record that was taken: to resume, the page is read again up to that record.
 */
class SearchSide {
  readonly ends: ClusterEnd[] = [];
  /** Records taken, by node. */
  readonly taken = new Map<string, number>();
  /** The last time that was taken: of records out of order, the one furthest on. */
  reachedMs: number | null = null;
  readonly startsAt: number;
  readonly #options: SideOptions;
  #page: string | null;
  /** The last record that was taken of the page. */
  #last: { batch: RecordBatch; index: number } | SidePosition['after'];
  /** The end of the page, of which all was taken. */
  #end: ClusterEnd | undefined;

  constructor(options: SideOptions) {
    this.#options = options;
    this.startsAt = options.startsAt;
    this.#page = options.position.page;
    this.#last = options.position.after;
  }

  /** An empty batch first, when the request was accepted. */
  async *read(): AsyncGenerator<RecordBatch, void, undefined> {
    const { start, position, open, isStopped, onFailure } = this.#options;
    let { after } = position;
    try {
      for (let isAccepted = false; !isStopped(); ) {
        const page = open(this.#page === null ? start : { cursor: this.#page });
        this.#end = undefined;
        for await (const item of after ? this.#resumed(page, after) : page) {
          if (!isAccepted) yield EMPTY_BATCH;
          isAccepted = true;
          if (!isBatch(item)) this.#end = item;
          else if (item.ends.length > 0) yield item;
          if (isStopped()) return;
        }
        const end = this.#end as ClusterEnd | undefined;
        if (!end) throw new Error('a search ended without its end');
        this.ends.push(end);
        // Nothing more comes: all was found, or a limit other than that of a page ended it.
        if (end.reason !== 'limit' || end.cursor === null) return;
        this.#page = end.cursor;
        this.#last = after = null;
      }
    } catch (error) {
      onFailure(error);
    }
  }

  note({ batch, from, to }: MergedRun<RecordBatch>): void {
    for (let index = from; index < to; index++) {
      const { node = '' } = originAt(batch, index);
      this.taken.set(node, (this.taken.get(node) ?? 0) + 1);
      const atMs = batch.times[index] as number;
      if (this.reachedMs === null ? !Number.isNaN(atMs) : this.#isBehind(atMs, this.reachedMs)) this.reachedMs = atMs;
    }
    this.#last = { batch, index: to - 1 };
  }

  /** Where to resume; `null`: everything was taken. */
  position(): SidePosition | null {
    if (this.#end) return this.#end.cursor === null ? null : { page: this.#end.cursor, after: null };
    const last = this.#last;
    if (!last || !('batch' in last)) return { page: this.#page, after: last };
    const { node = '' } = originAt(last.batch, last.index);
    const atMs = last.batch.times[last.index] as number;
    const after = { node, cursor: cursorAt(last.batch, last.index), atMs: Number.isNaN(atMs) ? null : atMs };
    return { page: this.#page, after };
  }

  /** Whether a time comes after another one. */
  #isBehind(atMs: number, otherMs: number): boolean {
    return this.#options.newestFirst ? atMs < otherMs : atMs > otherMs;
  }

  /** Leaves out what was taken of a page before. If its last record is gone, what is behind its time is emitted. */
  async *#resumed(
    page: Found,
    { node, cursor, atMs }: NonNullable<SidePosition['after']>,
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    const held: RecordBatch[] = [];
    let isFound = false;
    for await (const item of page) {
      if (isFound) yield item;
      else if (isBatch(item)) {
        const found = item.ends.findIndex(
          (_, index) => originAt(item, index).node === node && cursorAt(item, index) === cursor,
        );
        isFound = found >= 0;
        if (!isFound) held.push(item);
        yield isFound ? sliceBatch(item, found + 1, item.ends.length) : EMPTY_BATCH;
      } else {
        const all = joinBatches(held);
        yield filterBatch(all, (index) => {
          const timeMs = all.times[index] as number;
          return atMs === null ? !Number.isNaN(timeMs) : this.#isBehind(timeMs, atMs);
        });
        yield item;
      }
    }
  }
}

/** Where to resume one side of a search. */
interface SidePosition {
  /** Start of the page it stopped in; `null`: the start of the search. */
  page: string | null;
  /** The last record that was emitted of this page: the page is read again up to it. `null`: none was. */
  after: { node: string; cursor: string; atMs: number | null } | null;
}

export interface CombinedPosition {
  order: 'newest' | 'oldest';
  cuts: Cuts;
  /** `null`: everything was emitted. */
  members: SidePosition | null;
  archive: SidePosition | null;
  /** The last times that each side has emitted; `null`: none. Of the archive by the clocks of nodes. */
  reached: { membersMs: number | null; archiveMs: number | null };
}

const MAX_CUTS = 10_000;

/** A page is a cursor of the cluster or of the archive, and a record has one of its member. */
const MAX_TEXT = 64 * 1024;

export function encodeCombinedCursor({ order, cuts, members, archive, reached }: CombinedPosition): string {
  const values = [cuts, writeSide(members), writeSide(archive), reached.membersMs, reached.archiveMs];
  return packCursor({ kind: 'combined', order }, values);
}

/** Where an earlier page of both stopped. Throws CURSOR_INVALID for what `encodeCombinedCursor` did not make for this order. */
export function resumedPosition({ start, order }: SearchQuery): CombinedPosition | undefined {
  if (!start || !('cursor' in start) || !isCursorOf('combined', start.cursor)) return undefined;
  const values = readList(unpackCursor({ kind: 'combined', order }, start.cursor), 5);
  const [cuts, members, archive, membersMs, archiveMs] = values;
  const reached = { membersMs: readOptionalTime(membersMs), archiveMs: readOptionalTime(archiveMs) };
  return { order, cuts: readCuts(cuts), members: readSide(members), archive: readSide(archive), reached };
}

function writeSide(side: SidePosition | null): unknown {
  return side && [side.page, side.after && [side.after.node, side.after.cursor, side.after.atMs]];
}

function readSide(value: unknown): SidePosition | null {
  if (value === null) return null;
  const [page, after] = readList(value, 2);
  const from = page === null ? null : readText(page, MAX_TEXT);
  if (after === null) return { page: from, after };
  const [node, cursor, atMs] = readList(after, 3);
  const last = { node: readText(node, MAX_TEXT), cursor: readText(cursor, MAX_TEXT), atMs: readOptionalTime(atMs) };
  return { page: from, after: last };
}

function readCuts(value: unknown): Cuts {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidCursor();
  const entries = Object.entries(value);
  if (entries.length > MAX_CUTS) throw invalidCursor();
  return Object.fromEntries(entries.map(([name, timeMs]) => [name, readTime(timeMs)]));
}

/** Where a search resumes, and what may be missing there. */
export interface MovedPosition {
  position: CombinedPosition;
  gaps: readonly (Gap & { node: string })[];
}

/** A log of which files above the cut were deleted since the last page. */
interface MovedLog {
  node: string;
  log: string;
  cutMs: number;
  toMs: number;
  /** Own time up to which its records were emitted. */
  emittedMs: number;
}

const WHY = 'they were deleted while pages were read';

/**
 * Rotation goes on between two pages: what it deleted above the cut, and no page has emitted yet, is read from the
 * archive, by moving the cut of its log. Where that would emit records again, the cut stays, and the gap is reported.
 */
export function moveCuts(position: CombinedPosition, known: Known, request: PlannedRequest): MovedPosition {
  const logs = findMoved(position, known, request);
  const room = MAX_OWN_LOGS - Object.keys(position.cuts).filter((key) => key.includes('/')).length;
  if (logs.length === 0 || logs.length > room) return { position, gaps: [] };
  return position.order === 'newest' ? moveNewest(position, logs) : moveOldest(position, logs);
}

function findMoved(
  { order, cuts, reached }: CombinedPosition,
  { facts, archived }: Known,
  request: PlannedRequest,
): MovedLog[] {
  const nodes = new Map(archived.map((node) => [node.node, node]));
  const times = [reached.membersMs, reached.archiveMs].flatMap((timeMs) => timeMs ?? []);
  const reachedMs = order === 'newest' ? Math.min(...times, Infinity) : Math.max(...times, -Infinity);
  return facts.flatMap((member) => {
    const logs = member.isAlive ? (nodes.get(member.id)?.logs ?? []) : [];
    const asked = toCutRequest(request, member);
    return logs.flatMap((shipped): MovedLog[] => {
      const { log } = shipped;
      if (!asked.logs.hasFamily(log)) return [];
      const cutMs = cutOf(cuts, member.id, log);
      const onDiskMs = member.logs.get(log);
      const toMs = cutLog(shipped, member, { ...asked, log }).fromMs;
      if (toMs <= cutMs || !isPassed(shipped, onDiskMs, cutMs)) return [];
      return [{ node: member.id, log, cutMs, toMs, emittedMs: reachedMs + member.offsetMs }];
    });
  });
}

/** Whether files were deleted that may have had records behind the cut. */
function isPassed(shipped: ArchivedLog, onDiskMs: number | null | undefined, cutMs: number): boolean {
  if (onDiskMs === undefined) return true;
  if (onDiskMs === null) return false;
  return isInStep(shipped, onDiskMs) ? shipped.gone.toMs >= cutMs : onDiskMs > cutMs;
}

/** Down to where pages have come, members have emitted their records; the archive has what is below. */
function moveNewest(position: CombinedPosition, logs: readonly MovedLog[]): MovedPosition {
  const { cuts, archive, reached } = position;
  const archiveMs = reached.archiveMs ?? Infinity;
  const moved = logs.flatMap(({ node, log, cutMs, toMs, emittedMs }) => {
    const timeMs = Math.floor(Math.min(toMs, emittedMs, archiveMs));
    return timeMs > cutMs ? [[logKey(node, log), timeMs] as const] : [];
  });
  // The archive had nothing more: what it has now is older than everything it has emitted.
  const from = archive ?? { page: pageAt('newest', reached.archiveMs), after: null };
  return {
    position: { ...position, cuts: withCuts(cuts, moved), archive: moved.length > 0 ? from : archive },
    gaps: [],
  };
}

/** Up to where pages have come, members have emitted their records: the archive is read from there. */
function moveOldest(position: CombinedPosition, logs: readonly MovedLog[]): MovedPosition {
  const { cuts, archive, reached } = position;
  const archiveMs = reached.archiveMs ?? -Infinity;
  if (archive) {
    // It is read on from its own position: only what is behind everything that was emitted can be added.
    const moved = logs.filter(({ cutMs, emittedMs }) => cutMs > emittedMs && cutMs > archiveMs);
    return { position: { ...position, cuts: withCuts(cuts, moved.map(toCut)) }, gaps: [] };
  }
  const startMs = logs
    .filter(({ cutMs, emittedMs }) => cutMs <= emittedMs)
    .reduce((latest, { emittedMs }) => Math.max(latest, Math.floor(emittedMs)), archiveMs);
  // Others of the same millisecond may not have been emitted.
  const gaps = logs.flatMap(({ node, log, cutMs, emittedMs }) => {
    const fromMs = Math.floor(Math.max(cutMs, emittedMs));
    return fromMs <= startMs ? [{ node, log, fromMs, toMs: startMs + 1, why: WHY }] : [];
  });
  const page = pageAt('oldest', startMs === -Infinity ? null : startMs + 1);
  return { position: { ...position, cuts: withCuts(cuts, logs.map(toCut)), archive: { page, after: null } }, gaps };
}

function toCut({ node, log, toMs }: MovedLog): readonly [string, number] {
  return [logKey(node, log), toMs];
}

function withCuts(cuts: Cuts, moved: readonly (readonly [string, number])[]): Cuts {
  return { ...cuts, ...Object.fromEntries(moved) };
}

function pageAt(order: CombinedPosition['order'], timeMs: number | null): string | null {
  return timeMs === null ? null : encodeArchiveCursor(order, { timeMs });
}
