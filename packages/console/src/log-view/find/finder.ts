import type { Level } from '@porthole/client';
import { KEPT, Shared } from '@porthole/logs/shared';
import { toProblem } from '../../state/to-problem.ts';
import { formatBytes } from '../../ui/format.ts';
import { isPartialCount } from '../chart/level-counts.ts';
import { Attempt } from '../model/attempt.ts';
import type { Direction } from '../model/log-state.ts';
import type { WorkspaceDeps } from '../model/log-store.ts';
import type { FindQuery } from '../model/workspace-state.ts';
import type { RowFilter, ShownRecord } from '../source/log-source.ts';
import { createMatcher } from './create-matcher.ts';
import { isAtLeast, searchableText, withFind, withLevel } from './record-filters.ts';
import { type SeekRequest, type SeekResult, seekRecord } from './seek-record.ts';
import type { TextMatcher } from './text-pieces.ts';

/** Time limit for counting all matches; beyond it the number is not shown. */
const COUNT_MS = 5000;

/** Steps through matches and levels, among the loaded rows and beyond them. */
export class Finder {
  readonly #deps: WorkspaceDeps;
  /** Resolves to `undefined` if the query is invalid, which is reported. */
  #matcher: Shared<TextMatcher | undefined> | undefined;
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
    this.#deps.store.dispatch({ type: 'find-changed', query: isNothing ? null : query });
    if (isNothing) return;
    this.#matcher = new Shared(KEPT);
    const create = () =>
      createMatcher(query).catch((error) => {
        if (this.#deps.store.state.find.query === query) this.#report(toProblem(error).detail);
        return undefined;
      });
    void this.#matcher.run(create).then((matcher) => matcher && this.countAgain());
  }

  /** The filter has changed: the counts are no longer valid. */
  countAgain(): void {
    const { query } = this.#deps.store.state.find;
    const signal = this.#counting.begin();
    this.#deps.store.dispatch({ type: 'matches-counted', total: null });
    if (query) void this.#count(query, signal);
  }

  /** Cancels a running search. */
  stop(): void {
    this.#seeking.end();
    if (this.#deps.store.state.find.isSearching) this.#deps.store.dispatch({ type: 'find-ended' });
  }

  close(): void {
    this.#seeking.end();
    this.#counting.end();
  }

  async findNext(direction: Direction): Promise<void> {
    const { query } = this.#deps.store.state.find;
    if (!query || !this.#matcher) return;
    const matcher = await this.#matcher.last();
    if (!matcher || this.#deps.store.state.find.query !== query) return;
    const { filter } = this.#deps.store.state;
    const pushed = withFind(filter, query);
    const isWanted = (record: ShownRecord) => matcher(searchableText(record)).length > 0;
    const found = await this.#seek({ direction, isWanted, filter: pushed ?? filter, isExact: pushed !== undefined });
    if (!found) return;
    if (found.record === null) return this.#report(nothingFound('match', direction, found));
    // Read the position only now: the index of the previous match may have become known during the search.
    const { index } = this.#deps.store.state.find;
    await this.#deps.goTo(found.record);
    const step = direction === 'older' ? -1 : 1;
    this.#deps.store.dispatch({ type: 'match-reached', index: index === null ? null : index + step });
    if (index === null) await this.#findIndex(query, found.record);
  }

  async toLevel(level: Level, direction: Direction): Promise<void> {
    const { filter } = this.#deps.store.state;
    const isWanted = (record: ShownRecord) => isAtLeast(record.level, level);
    const found = await this.#seek({ direction, isWanted, filter: withLevel(filter, level), isExact: true });
    if (!found) return;
    if (found.record) await this.#deps.goTo(found.record);
    else this.#report(nothingFound(`record of level ${level} or higher`, direction, found));
  }

  /** `undefined` if it was cancelled, or failed, which is reported. */
  async #seek(sought: SeekRequest): Promise<SeekResult | undefined> {
    const { store } = this.#deps;
    const signal = this.#seeking.begin();
    store.dispatch({ type: 'find-started' });
    try {
      const found = await seekRecord(this.#deps, sought, signal);
      if (signal.aborted) return undefined;
      store.dispatch({ type: 'find-ended' });
      return found;
    } catch (error) {
      if (!signal.aborted) store.dispatch({ type: 'find-ended', message: toProblem(error).detail });
      return undefined;
    }
  }

  async #count(query: FindQuery, signal: AbortSignal): Promise<void> {
    const filter = withFind(this.#deps.store.state.filter, query);
    const total = filter && (await this.#countMatches(filter, signal));
    if (total !== undefined && !signal.aborted) this.#deps.store.dispatch({ type: 'matches-counted', total });
  }

  /** Counts the matches before a record by time; among those of the same time, the loaded ones. */
  async #findIndex(query: FindQuery, record: ShownRecord): Promise<void> {
    const { signal } = this.#counting;
    const { filter } = this.#deps.store.state;
    const pushed = withFind(filter, query);
    const matcher = await this.#matcher?.last();
    if (!pushed || !matcher || record.atMs === undefined || signal.aborted) return;
    const { atMs } = record;
    const isBefore = filter.fromMs === undefined || filter.fromMs < atMs;
    const before = isBefore ? await this.#countMatches({ ...pushed, toMs: atMs }, signal) : 0;
    const { rows, focusedKey, find } = this.#deps.store.state;
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
    this.#deps.store.dispatch({ type: 'match-reached', index: before + sameTime.length + 1 });
  }

  /** `undefined` if not all matches could be counted. */
  async #countMatches(filter: RowFilter, signal: AbortSignal): Promise<number | undefined> {
    try {
      const source = this.#deps.source();
      const result = await source?.histogram({ filter, buckets: 1 }, { signal, budgetMs: COUNT_MS });
      if (!result || isPartialCount(result)) return undefined;
      return result.buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, 0);
    } catch (error) {
      const { code, detail } = toProblem(error);
      if (!signal.aborted && (code === 'REGEX_INVALID' || code === 'REGEX_TOO_COMPLEX')) this.#report(detail);
      return undefined;
    }
  }

  #report(message: string): void {
    this.#deps.store.dispatch({ type: 'find-reported', message });
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
