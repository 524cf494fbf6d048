import type { Level } from '@porthole/client';
import { toProblem } from '../../state/to-problem.ts';
import { formatBytes } from '../../ui/format.ts';
import { Attempt } from '../model/attempt.ts';
import { FIND_NOTHING } from '../model/state-keeper.ts';
import type { WorkspaceDeps } from '../model/workspace-deps.ts';
import type { FindQuery, FindStatus } from '../model/workspace-state.ts';
import type { RowFilter, ShownRecord } from '../source/log-source.ts';
import { createMatcher } from './create-matcher.ts';
import { isAtLeast, searchableText, withFind, withLevel } from './record-filters.ts';
import { type SeekRequest, type SeekResult, seekRecord } from './seek-record.ts';
import type { TextMatcher } from './text-pieces.ts';

type Direction = 'older' | 'newer';

/** Time limit for counting all matches; beyond it the number is not shown. */
const COUNT_MS = 5000;

/** Steps through matches and levels, among the loaded rows and beyond them. */
export class Finder {
  readonly #deps: WorkspaceDeps;
  /** Resolves to `undefined` if the query is invalid, which is reported. */
  #matcher: Promise<TextMatcher | undefined> | undefined;
  readonly #seeking = new Attempt();
  readonly #counting = new Attempt();

  constructor(deps: WorkspaceDeps) {
    this.#deps = deps;
  }

  setQuery(query: FindQuery | null): void {
    this.stop();
    this.#counting.end();
    this.#matcher = undefined;
    const isNothing = query === null || query.text === '';
    this.#deps.keeper.change({ find: { ...FIND_NOTHING, query: isNothing ? null : query } });
    if (isNothing) return;
    this.#matcher = createMatcher(query).catch((error) => {
      if (this.#deps.keeper.state.find.query === query) this.#update({ message: toProblem(error).detail });
      return undefined;
    });
    void this.#matcher.then((matcher) => matcher && this.countAgain());
  }

  /** The filter has changed: the counts are no longer valid. */
  countAgain(): void {
    const { query } = this.#deps.keeper.state.find;
    const signal = this.#counting.begin();
    this.#update({ total: null, index: null });
    if (query) void this.#count(query, signal);
  }

  /** The focus moved for another reason than a step of this finder. */
  focusMoved(): void {
    if (this.#deps.keeper.state.find.index !== null) this.#update({ index: null });
  }

  /** Cancels a running search. */
  stop(): void {
    this.#seeking.end();
    if (this.#deps.keeper.state.find.isSearching) this.#update({ isSearching: false });
  }

  close(): void {
    this.#seeking.end();
    this.#counting.end();
  }

  async findNext(direction: Direction): Promise<void> {
    const { query } = this.#deps.keeper.state.find;
    if (!query || !this.#matcher) return;
    const matcher = await this.#matcher;
    if (!matcher || this.#deps.keeper.state.find.query !== query) return;
    const { filter } = this.#deps.keeper.state;
    const pushed = withFind(filter, query);
    const isWanted = (record: ShownRecord) => matcher(searchableText(record)).length > 0;
    const found = await this.#seek({ direction, isWanted, filter: pushed ?? filter, isExact: pushed !== undefined });
    if (!found) return;
    if (found.record === null) return this.#update({ message: nothingFound('match', direction, found) });
    // Read the position only now: the index of the previous match may have become known during the search.
    const { index } = this.#deps.keeper.state.find;
    await this.#deps.goTo(found.record);
    this.#update({ index: index === null ? null : index + (direction === 'older' ? -1 : 1) });
    if (index === null) await this.#findIndex(query, found.record);
  }

  async toLevel(level: Level, direction: Direction): Promise<void> {
    const { filter } = this.#deps.keeper.state;
    const isWanted = (record: ShownRecord) => isAtLeast(record.level, level);
    const found = await this.#seek({ direction, isWanted, filter: withLevel(filter, level), isExact: true });
    if (!found) return;
    if (found.record) await this.#deps.goTo(found.record);
    else this.#update({ message: nothingFound(`record of level ${level} or higher`, direction, found) });
  }

  /** `undefined` if it was cancelled, or failed, which is reported. */
  async #seek(sought: SeekRequest): Promise<SeekResult | undefined> {
    const signal = this.#seeking.begin();
    this.#update({ isSearching: true, message: null });
    try {
      const found = await seekRecord(this.#deps, sought, signal);
      if (signal.aborted) return undefined;
      this.#update({ isSearching: false });
      return found;
    } catch (error) {
      if (!signal.aborted) this.#update({ isSearching: false, message: toProblem(error).detail });
      return undefined;
    }
  }

  async #count(query: FindQuery, signal: AbortSignal): Promise<void> {
    const filter = withFind(this.#deps.keeper.state.filter, query);
    const total = filter && (await this.#countMatches(filter, signal));
    if (total !== undefined && !signal.aborted) this.#update({ total });
  }

  /** Counts the matches before a record by time; among those of the same time, the loaded ones. */
  async #findIndex(query: FindQuery, record: ShownRecord): Promise<void> {
    const { signal } = this.#counting;
    const { filter } = this.#deps.keeper.state;
    const pushed = withFind(filter, query);
    const matcher = await this.#matcher;
    if (!pushed || !matcher || record.atMs === undefined || signal.aborted) return;
    const { atMs } = record;
    const isBefore = filter.fromMs === undefined || filter.fromMs < atMs;
    const before = isBefore ? await this.#countMatches({ ...pushed, toMs: atMs }, signal) : 0;
    const { rows, focusedKey, find } = this.#deps.keeper.state;
    const focused = rows.findIndex(({ key }) => key === focusedKey);
    const row = rows[focused];
    if (before === undefined || signal.aborted || find.query !== query) return;
    if (row?.kind !== 'record' || row.record.cursor !== record.cursor) return;
    const sameTime = rows
      .slice(0, focused)
      .filter(
        (other) =>
          other.kind === 'record' && other.record.atMs === atMs && matcher(searchableText(other.record)).length > 0,
      );
    this.#update({ index: before + sameTime.length + 1 });
  }

  /** `undefined` if not all matches could be counted. */
  async #countMatches(filter: RowFilter, signal: AbortSignal): Promise<number | undefined> {
    try {
      const source = this.#deps.source();
      const result = await source?.histogram({ filter, buckets: 1 }, { signal, budgetMs: COUNT_MS });
      if (!result || result.counted !== null || result.members.some(({ outcome }) => outcome !== 'ok'))
        return undefined;
      return result.buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, 0);
    } catch (error) {
      const { code, detail } = toProblem(error);
      if (!signal.aborted && (code === 'REGEX_INVALID' || code === 'REGEX_TOO_COMPLEX'))
        this.#update({ message: detail });
      return undefined;
    }
  }

  #update(part: Partial<FindStatus>): void {
    const { keeper } = this.#deps;
    keeper.change({ find: { ...keeper.state.find, ...part } });
  }
}

function nothingFound(
  what: string,
  direction: Direction,
  { isStopped, scannedBytes }: Extract<SeekResult, { record: null }>,
): string {
  const scanned = scannedBytes > 0 ? ` in ${formatBytes(scannedBytes)}` : '';
  return isStopped ? `No ${direction} ${what} yet${scanned} · search on` : `No ${direction} ${what}${scanned}`;
}
