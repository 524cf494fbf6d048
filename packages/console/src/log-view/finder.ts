import type { Level } from '@porthole/client';
import { formatBytes } from '../ui/format.ts';
import { Attempt } from './attempt.ts';
import { failureOf } from './failure-of.ts';
import type { RowFilter, ShownRecord } from './log-source.ts';
import { createMatcher } from './match-text.ts';
import { isAtLeast, withFind, withLevel } from './record-filters.ts';
import { searchedText } from './searched-text.ts';
import { type SeekResult, type Sought, seekRecord } from './seek-record.ts';
import { FIND_NOTHING } from './state-keeper.ts';
import type { TextMatcher } from './text-pieces.ts';
import type { WorkspaceParts } from './workspace-parts.ts';
import type { FindQuery, FindStatus } from './workspace-state.ts';

type Direction = 'older' | 'newer';

/** Counting all matches may take so long; where it takes longer, how many there are is not told. */
const COUNT_MS = 5000;

/** Steps through what is looked for, and through levels: among the rows and beyond them. */
export class Finder {
  readonly #parts: WorkspaceParts;
  #matcher: Promise<TextMatcher> | undefined;
  readonly #seeking = new Attempt();
  readonly #counting = new Attempt();

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  setQuery(query: FindQuery | null): void {
    this.stop();
    this.#counting.end();
    this.#matcher = undefined;
    const isNothing = query === null || query.text === '';
    this.#parts.keeper.change({ find: { ...FIND_NOTHING, query: isNothing ? null : query } });
    if (isNothing) return;
    this.#matcher = createMatcher(query);
    this.#matcher.then(
      () => this.countAgain(),
      (error) => {
        if (this.#parts.keeper.state.find.query === query) this.#tell({ message: failureOf(error).detail });
      },
    );
  }

  /** Other records are let through: what was counted is no longer so. */
  countAgain(): void {
    const { query } = this.#parts.keeper.state.find;
    const signal = this.#counting.begin();
    this.#tell({ total: null, index: null });
    if (query) void this.#count(query, signal);
  }

  /** Another record is in focus, not by a step of this. */
  focusMoved(): void {
    if (this.#parts.keeper.state.find.index !== null) this.#tell({ index: null });
  }

  /** Ends a search that is under way. */
  stop(): void {
    this.#seeking.end();
    if (this.#parts.keeper.state.find.isSearching) this.#tell({ isSearching: false });
  }

  close(): void {
    this.#seeking.end();
    this.#counting.end();
  }

  async findNext(direction: Direction): Promise<void> {
    const { query } = this.#parts.keeper.state.find;
    if (!query || !this.#matcher) return;
    const matcher = await this.#matcher.catch(() => undefined);
    if (!matcher || this.#parts.keeper.state.find.query !== query) return;
    const { filter } = this.#parts.keeper.state;
    const pushed = withFind(filter, query);
    const isWanted = (record: ShownRecord) => matcher(searchedText(record)).length > 0;
    const found = await this.#seek({ direction, isWanted, filter: pushed ?? filter, isExact: pushed !== undefined });
    if (!found) return;
    if (found.record === null) return this.#tell({ message: nothingFound('match', direction, found) });
    // Only now: while it was looked for, that of the record before may have become known.
    const { index } = this.#parts.keeper.state.find;
    await this.#parts.goTo(found.record);
    this.#tell({ index: index === null ? null : index + (direction === 'older' ? -1 : 1) });
    if (index === null) await this.#findIndex(query, found.record);
  }

  async toLevel(level: Level, direction: Direction): Promise<void> {
    const { filter } = this.#parts.keeper.state;
    const isWanted = (record: ShownRecord) => isAtLeast(record.level, level);
    const found = await this.#seek({ direction, isWanted, filter: withLevel(filter, level), isExact: true });
    if (!found) return;
    if (found.record) await this.#parts.goTo(found.record);
    else this.#tell({ message: nothingFound(`record of level ${level} or higher`, direction, found) });
  }

  /** `undefined` where it was given up, or failed, which is told. */
  async #seek(sought: Sought): Promise<SeekResult | undefined> {
    const signal = this.#seeking.begin();
    this.#tell({ isSearching: true, message: null });
    try {
      const found = await seekRecord(this.#parts, sought, signal);
      if (signal.aborted) return undefined;
      this.#tell({ isSearching: false });
      return found;
    } catch (error) {
      if (!signal.aborted) this.#tell({ isSearching: false, message: failureOf(error).detail });
      return undefined;
    }
  }

  async #count(query: FindQuery, signal: AbortSignal): Promise<void> {
    const filter = withFind(this.#parts.keeper.state.filter, query);
    const total = filter && (await this.#countOf(filter, signal));
    if (total !== undefined && !signal.aborted) this.#tell({ total });
  }

  /** By its time how many are before it; of those of the same time, the ones that are loaded. */
  async #findIndex(query: FindQuery, record: ShownRecord): Promise<void> {
    const { signal } = this.#counting;
    const { filter } = this.#parts.keeper.state;
    const pushed = withFind(filter, query);
    const matcher = await this.#matcher?.catch(() => undefined);
    if (!pushed || !matcher || record.atMs === undefined || signal.aborted) return;
    const { atMs } = record;
    const isBefore = filter.fromMs === undefined || filter.fromMs < atMs;
    const before = isBefore ? await this.#countOf({ ...pushed, toMs: atMs }, signal) : 0;
    const { rows, focusedKey, find } = this.#parts.keeper.state;
    const focused = rows.findIndex(({ key }) => key === focusedKey);
    const row = rows[focused];
    if (before === undefined || signal.aborted || find.query !== query) return;
    if (row?.kind !== 'record' || row.record.cursor !== record.cursor) return;
    const sameTime = rows
      .slice(0, focused)
      .filter(
        (other) =>
          other.kind === 'record' && other.record.atMs === atMs && matcher(searchedText(other.record)).length > 0,
      );
    this.#tell({ index: before + sameTime.length + 1 });
  }

  /** `undefined` where not all could be counted. */
  async #countOf(filter: RowFilter, signal: AbortSignal): Promise<number | undefined> {
    try {
      const source = this.#parts.source();
      const answer = await source?.histogram({ filter, buckets: 1 }, { signal, budgetMs: COUNT_MS });
      if (!answer || answer.counted !== null || answer.members.some(({ outcome }) => outcome !== 'ok'))
        return undefined;
      return answer.buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, 0);
    } catch (error) {
      const { code, detail } = failureOf(error);
      if (!signal.aborted && (code === 'REGEX_INVALID' || code === 'REGEX_TOO_COMPLEX'))
        this.#tell({ message: detail });
      return undefined;
    }
  }

  #tell(part: Partial<FindStatus>): void {
    const { keeper } = this.#parts;
    keeper.change({ find: { ...keeper.state.find, ...part } });
  }
}

function nothingFound(
  what: string,
  direction: Direction,
  { isStopped, scannedBytes }: Extract<SeekResult, { record: null }>,
): string {
  const looked = scannedBytes > 0 ? ` in ${formatBytes(scannedBytes)}` : '';
  return isStopped ? `No ${direction} ${what} yet${looked} · look on` : `No ${direction} ${what}${looked}`;
}
