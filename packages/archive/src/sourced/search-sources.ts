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
import type { ArchiveReader } from './archive-reader.ts';
import { withoutArchived } from './cuts.ts';
import type { ClusterFacts } from './member-facts.ts';
import { type MergedSide, mergeSides } from './merge-sides.ts';
import type { MovedPosition } from './move-cuts.ts';
import type { SourcePlan } from './plan-sources.ts';
import { SearchSide } from './search-side.ts';
import { encodeSourcedCursor, type SidePosition, type SourcedPosition } from './sourced-cursor.ts';
import { archivePart, reportsOfUnasked, withArchive } from './sourced-reports.ts';

export type SourcedSearch = SearchQuery & MemberSelection;

export interface SearchDeps {
  cluster: Pick<ClusterState, 'search'>;
  archive: Pick<ArchiveReader, 'searchLogs'>;
  plan: SourcePlan;
  facts: ClusterFacts;
  /** Where an earlier page stopped. */
  resumed: SourcedPosition | undefined;
  /** What may be missing since then. */
  gaps: MovedPosition['gaps'];
}

/** A log that no member has any more may be in the archive. */
const MISSING_LOG: ReadonlySet<string> = new Set(['LOG_FILE_NOT_FOUND', 'LOG_FAMILY_NOT_FOUND']);

const BEGINNING: SidePosition = { page: null, after: null };

/** Searches members and archive, merged by time. An archive that fails ends in a partial response that says so. */
export async function* searchSources(
  deps: SearchDeps,
  request: SourcedSearch,
  options: SearchOptions,
): AsyncGenerator<ClusterItem[], void, undefined> {
  const search = new SourcedSearchRun(deps, request, options);
  for await (const records of mergeSides(search.sides(), request.limit)) yield search.count(records);
  yield [search.end()];
}

class SourcedSearchRun {
  readonly #deps: SearchDeps;
  readonly #request: SourcedSearch;
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

  constructor(deps: SearchDeps, request: SourcedSearch, options: SearchOptions) {
    this.#deps = deps;
    this.#request = request;
    this.#options = options;
    const { plan, resumed } = deps;
    const { members = BEGINNING, archive = BEGINNING } = resumed ?? {};
    const newestFirst = request.order === 'newest';
    const start = request.start && 'timeMs' in request.start ? request.start : undefined;
    if (plan.asksMembers && members) {
      const open = (from: StartPoint | undefined) => this.#openMembers(from);
      this.#members = new SearchSide({ open, start, position: members, newestFirst });
    }
    if (plan.archive && archive) {
      const open = (from: StartPoint | undefined) => this.#openArchive(from);
      this.#archive = new SearchSide({ open, start, position: archive, newestFirst });
    }
  }

  sides(): MergedSide[] {
    const { plan } = this.#deps;
    const newestFirst = this.#request.order === 'newest';
    const sides: MergedSide[] = [];
    if (this.#members)
      sides.push({
        side: this.#members,
        startsAt: newestFirst ? -Infinity : plan.membersFromMs,
        onFailure: (error) => this.#onMembersFailure(error),
      });
    if (this.#archive)
      sides.push({
        side: this.#archive,
        startsAt: newestFirst ? -plan.archiveToMs : -Infinity,
        onFailure: (error) => this.#onArchiveFailure(error),
      });
    return sides;
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
    const ends = [...(this.#members?.ends ?? []), ...(this.#archive?.ends ?? [])];
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
      cursor: position && encodeSourcedCursor(position),
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
  #position(): SourcedPosition | null {
    const { plan, resumed } = this.#deps;
    const members = this.#members && !this.#isMissing ? this.#members.position() : null;
    const archive = this.#archive ? this.#archive.position() : null;
    // Nothing remains but an archive that failed at once: paging must end.
    if (members === null && (archive === null || (this.#problem !== null && this.#records === 0))) return null;
    const { order } = this.#request;
    return { order: resumed?.order ?? order, cuts: plan.cuts, members, archive, reached: this.#reached() };
  }

  /** How far the pages have come, this one included. */
  #reached(): SourcedPosition['reached'] {
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

  #reason(position: SourcedPosition | null, ends: readonly ClusterEnd[]): ClusterEnd['reason'] {
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
