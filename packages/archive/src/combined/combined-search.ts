import {
  type ClusterEnd,
  type ClusterItem,
  type ClusterRecord,
  type ClusterState,
  clusterItems,
  codeOf,
  errorMessage,
  type MemberReport,
  type MemberSelection,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type { SearchQuery, StartPoint } from '@porthole/logs/types';
import type { ArchiveState } from '../ask/archive-state.ts';
import { archivePart, reportsOfUnasked, withArchive } from './combined-reports.ts';
import { withoutArchived } from './cuts.ts';
import type { ClusterFacts } from './known-sources.ts';
import { MISSING_LOG, type SourcePlan } from './plan-sources.ts';
import { type CombinedPosition, encodeCombinedCursor, type MovedPosition, type SidePosition } from './resume-search.ts';

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

/** Searches members and archive, merged by time. An archive that fails ends in a partial response that says so. */
export async function* searchBoth(
  deps: SearchDeps,
  request: CombinedSearch,
  options: SearchOptions,
): AsyncGenerator<ClusterItem[], void, undefined> {
  const search = new CombinedSearchRun(deps, request, options);
  for await (const records of mergeSides(search.sides, request.limit)) yield search.count(records);
  yield [search.end()];
}

class CombinedSearchRun {
  readonly #deps: SearchDeps;
  readonly #request: CombinedSearch;
  readonly #options: SearchOptions;
  readonly #startedMs = performance.now();
  readonly #members: SearchSide | undefined;
  readonly #archive: SearchSide | undefined;
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
    if (plan.asksMembers && members)
      this.#members = new SearchSide({
        open: (from) => this.#openMembers(from),
        onFailure: (error) => this.#onMembersFailure(error),
        startsAt: newestFirst ? -Infinity : plan.membersFromMs,
        position: members,
        ...{ start, newestFirst },
      });
    if (plan.archive && archive)
      this.#archive = new SearchSide({
        open: (from) => this.#openArchive(from),
        onFailure: (error) => this.#onArchiveFailure(error),
        startsAt: newestFirst ? -plan.archiveToMs : -Infinity,
        position: archive,
        ...{ start, newestFirst },
      });
  }

  get sides(): SearchSide[] {
    return [this.#members, this.#archive].filter((side) => side !== undefined);
  }

  /** Notes what is emitted. */
  count(records: ClusterRecord[]): ClusterRecord[] {
    for (const { atMs } of records) {
      this.#first ??= atMs;
      this.#last = atMs ?? this.#last;
    }
    this.#records += records.length;
    return records;
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
      problems: ends.flatMap(({ problems = [] }) => problems.filter(({ code }) => code !== 'ONLY_ARCHIVED')),
      ...(lastEnd?.duplicates && { duplicates: lastEnd.duplicates }),
      cursor: position && encodeCombinedCursor(position),
      archive: archivePart(share),
    };
  }

  #openMembers(start: StartPoint | undefined): AsyncIterable<ClusterItem[]> {
    const { cluster, plan } = this.#deps;
    const { start: _start, ...query } = this.#request;
    const request = { ...query, ...plan.members, store: 'nodes' as const, ...(start && { start }) };
    const found = clusterItems(cluster, request, this.#remaining());
    return plan.logCuts.size === 0 ? found : withoutArchived(found, plan);
  }

  #openArchive(start: StartPoint | undefined): AsyncIterable<ClusterItem[]> {
    const { archive, plan } = this.#deps;
    const { start: _start, ...query } = this.#request;
    const request = { ...query, ...(start && { start }) };
    return archive.searchLogs(request, { ...plan.archive, ...this.#remaining() });
  }

  /** The budget is that of the whole request. */
  #remaining(): SearchOptions {
    const { budgetMs, ...options } = this.#options;
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
  open(start: StartPoint | undefined): AsyncIterable<ClusterItem[]>;
  /** Where the first page starts. */
  start: StartPoint | undefined;
  /** Where it is resumed. */
  position: SidePosition;
  newestFirst: boolean;
  /** The key before which it has nothing: until then it is not opened. */
  startsAt: number;
  /** Handles an error: returns if the merge continues without this side. */
  onFailure(error: unknown): void;
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
  readonly #options: SideOptions;
  #page: string | null;
  #after: SidePosition['after'];
  #batches: AsyncIterator<ClusterItem[]> | undefined;
  #buffer: readonly ClusterRecord[] = [];
  #next = 0;
  #lastKey = Number.NEGATIVE_INFINITY;
  /** The end of the page that is being taken from. */
  #end: ClusterEnd | undefined;
  /** While the page is read again: what comes before the record to resume after, and may have to be emitted. */
  #held: ClusterRecord[] | undefined;

  readonly startsAt: number;

  constructor(options: SideOptions) {
    this.#options = options;
    this.startsAt = options.startsAt;
    const { page, after } = options.position;
    this.#page = page;
    this.#after = after;
    if (after) this.#held = [];
  }

  get hasNext(): boolean {
    return this.#next < this.#buffer.length;
  }

  /** Nothing more comes: all was found, or a limit other than that of a page ended it. */
  get isOver(): boolean {
    const end = this.#end;
    return !this.hasNext && end !== undefined && (end.reason !== 'limit' || end.cursor === null);
  }

  /** Time of the next record, negated for newest first; one without a time stays behind its predecessor. */
  get key(): number {
    const atMs = this.#buffer[this.#next]?.atMs;
    return atMs === undefined ? this.#lastKey : this.#keyOf(atMs);
  }

  take(): ClusterRecord {
    this.#lastKey = this.key;
    const record = this.#buffer[this.#next++] as ClusterRecord;
    this.#after = { node: record.node, cursor: record.cursor, atMs: record.atMs ?? null };
    this.#reach(record.atMs);
    this.taken.set(record.node, (this.taken.get(record.node) ?? 0) + 1);
    return record;
  }

  /** Reads the next batch; `false` if that failed and the merge continues without this side. */
  async tryPull(): Promise<boolean> {
    try {
      await this.#pull();
      return true;
    } catch (error) {
      this.#options.onFailure(error);
      return false;
    }
  }

  /** Reads the next batch, which may have no records. Only when the last one was taken. */
  async #pull(): Promise<void> {
    if (this.hasNext || this.isOver) return;
    if (this.#end) {
      this.#page = this.#end.cursor;
      this.#after = null;
      this.#end = undefined;
      this.#batches = undefined;
    }
    const start = this.#page === null ? this.#options.start : { cursor: this.#page };
    this.#batches ??= this.#options.open(start)[Symbol.asyncIterator]();
    const { value = [], done } = await this.#batches.next();
    if (done) throw new Error('a search ended without its end');
    const records: ClusterRecord[] = [];
    for (const item of value) {
      if (item.type === 'record') records.push(item);
      else this.#end = item;
    }
    if (this.#end) this.ends.push(this.#end);
    this.#buffer = this.#held ? this.#resume(this.#held, records) : records;
    this.#next = 0;
  }

  async close(): Promise<void> {
    await this.#batches?.return?.();
  }

  /** Where to resume; `null`: everything was taken. */
  position(): SidePosition | null {
    if (this.#end === undefined || this.hasNext) return { page: this.#page, after: this.#after };
    return this.#end.cursor === null ? null : { page: this.#end.cursor, after: null };
  }

  #reach(atMs: number | undefined): void {
    if (atMs === undefined) return;
    const isFurther = this.reachedMs === null || this.#keyOf(atMs) > this.#keyOf(this.reachedMs);
    if (isFurther) this.reachedMs = atMs;
  }

  #keyOf(atMs: number): number {
    return this.#options.newestFirst ? -atMs : atMs;
  }

  /** Leaves out what was taken before. If its last record is gone, what is behind its time is emitted. */
  #resume(held: ClusterRecord[], records: readonly ClusterRecord[]): readonly ClusterRecord[] {
    const { node, cursor, atMs } = this.#after ?? { node: '', cursor: '', atMs: null };
    const found = records.findIndex((record) => record.node === node && record.cursor === cursor);
    if (found >= 0) {
      this.#held = undefined;
      return records.slice(found + 1);
    }
    held.push(...records);
    if (!this.#end) return [];
    this.#held = undefined;
    const reached = atMs === null ? Number.NEGATIVE_INFINITY : this.#keyOf(atMs);
    return held.filter((record) => record.atMs !== undefined && this.#keyOf(record.atMs) > reached);
  }
}

/** Maximum batch. */
const BATCH_RECORDS = 1024;

/** Emits the records of all sides by time; an empty batch first, as soon as one of them has accepted the request. */
async function* mergeSides(
  sides: readonly SearchSide[],
  limit: number,
): AsyncGenerator<ClusterRecord[], void, undefined> {
  const open = new Set(sides);
  let remaining = limit;
  let isFirst = true;
  try {
    while (remaining > 0) {
      const batch = takeBatch([...open], Math.min(remaining, BATCH_RECORDS));
      remaining -= batch.length;
      if (batch.length > 0) {
        yield batch;
        continue;
      }
      const waited = [...open].filter((side) => mustWaitFor(side, [...open]));
      if (waited.length === 0) break;
      const areThere = await Promise.all(waited.map((side) => side.tryPull()));
      for (const [index, side] of waited.entries()) if (!areThere[index]) open.delete(side);
      if (isFirst) yield [];
      isFirst = false;
      // What is left of a side whose time ran out would be out of order.
      for (const side of open) if (side.isOver && side.ends.at(-1)?.reason === 'time budget') return;
    }
  } finally {
    await Promise.all(sides.map((side) => side.close()));
  }
}

/** The records that can be emitted without waiting for a side. */
function takeBatch(sides: readonly SearchSide[], most: number): ClusterRecord[] {
  const batch: ClusterRecord[] = [];
  while (batch.length < most) {
    const next = firstOf(sides);
    if (!next || sides.some((other) => other !== next && isNeededBefore(other, next.key))) break;
    batch.push(next.take());
  }
  return batch;
}

function firstOf(sides: readonly SearchSide[]): SearchSide | undefined {
  let first: SearchSide | undefined;
  for (const side of sides) if (side.hasNext && (first === undefined || side.key < first.key)) first = side;
  return first;
}

/** Whether a side that has nothing at hand may have a record up to this key. */
function isNeededBefore(side: SearchSide, key: number): boolean {
  return !side.hasNext && !side.isOver && side.startsAt <= key;
}

function mustWaitFor(side: SearchSide, open: readonly SearchSide[]): boolean {
  if (side.hasNext || side.isOver) return false;
  const next = firstOf(open);
  if (next) return isNeededBefore(side, next.key);
  // Nothing is at hand: the side that may have the earliest record.
  return open.every((other) => other.isOver || side.startsAt <= other.startsAt);
}
