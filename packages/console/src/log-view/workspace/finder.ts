import type { Level } from '@porthole/client';
import { escapeRegex } from '@porthole/logs/query';
import { KEPT, Shared } from '@porthole/logs/shared';
import { toProblem } from '../../state/to-problem.ts';
import { formatBytes } from '../../ui/format.ts';
import { isMatch, lastOf, shownIndex } from '../model/fold-rows.ts';
import type { FindQuery, Row, TextMatcher } from '../model/workspace-state.ts';
import {
  type Direction,
  isAtLeast,
  isPartialCount,
  type PagePosition,
  type RowFilter,
  recordKey,
  type ShownRecord,
} from '../source/log-source.ts';
import { createMatcher } from './text-matcher.ts';
import { Attempt, PAGE_RECORDS, SCAN_MS, SLICE_MS, type WorkspaceDeps } from './workspace-deps.ts';

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

  /** The query of the state has changed. */
  setQuery(query: FindQuery | null): void {
    this.stop();
    this.#counting.end();
    this.#matcher = undefined;
    if (query === null) return;
    this.#matcher = new Shared(KEPT);
    const create = () =>
      createMatcher(query).catch((error) => {
        if (this.#deps.store.state.find.query === query) this.#report(toProblem(error).detail);
        return undefined;
      });
    void this.#matcher.run(create).then((matcher) => {
      if (!matcher || this.#deps.store.state.find.query !== query) return;
      this.#deps.store.find({ matcher });
      this.countAgain();
    });
  }

  /** The filter has changed: the counts are no longer valid. */
  countAgain(): void {
    const { query } = this.#deps.store.state.find;
    const signal = this.#counting.begin();
    this.#deps.store.find({ total: null, index: null });
    if (query) void this.#count(query, signal);
  }

  stop(): void {
    this.#seeking.end();
    if (this.#deps.store.state.find.isSearching) this.#deps.store.find({ isSearching: false });
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
    const isWanted = (record: ShownRecord) => isMatch(record, matcher);
    const found = await this.#seek({ direction, isWanted, filter: pushed ?? filter, isExact: pushed !== undefined });
    if (!found) return;
    if (found.record === null) return this.#report(nothingFound('match', direction, found));
    // Read the position only now: the index of the previous match may have become known during the search.
    const { index } = this.#deps.store.state.find;
    await this.#deps.goTo(found.record);
    const step = direction === 'older' ? -1 : 1;
    this.#deps.store.find({ index: index === null ? null : index + step });
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
    store.find({ isSearching: true, message: null });
    try {
      const found = await seekRecord(this.#deps, sought, signal);
      if (signal.aborted) return undefined;
      store.find({ isSearching: false });
      return found;
    } catch (error) {
      if (!signal.aborted) store.find({ isSearching: false, message: toProblem(error).detail });
      return undefined;
    }
  }

  async #count(query: FindQuery, signal: AbortSignal): Promise<void> {
    const filter = withFind(this.#deps.store.state.filter, query);
    const total = filter && (await this.#countMatches(filter, signal));
    if (total !== undefined && !signal.aborted) this.#deps.store.find({ total });
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
      .filter((other) => other.kind === 'record' && other.record.atMs === atMs && isMatch(other.record, matcher));
    this.#deps.store.find({ index: before + sameTime.length + 1 });
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
    this.#deps.store.find({ message });
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

interface SeekRequest {
  direction: Direction;
  isWanted(record: ShownRecord): boolean;
  /** Matches the target records, or more if one filter cannot express them. */
  filter: RowFilter;
  /** Whether the filter matches exactly the target records. */
  isExact: boolean;
}

type SeekResult = { record: ShownRecord } | { record: null; isStopped: boolean; scannedBytes: number };

/** The next target record from the focused one: among the rows, then in the log. */
async function seekRecord(deps: WorkspaceDeps, sought: SeekRequest, signal: AbortSignal): Promise<SeekResult> {
  // What is folded differs in numbers only: it has the same level, and no match.
  const { shown: rows, top, buffer } = deps.store.state;
  const { found, reached, isAtGap } = seekInRows(rows, startIndex(deps, sought.direction), sought);
  if (found) return { record: found };
  if (sought.direction === 'older' && top.kind === 'done' && !isAtGap && rows.length > 0)
    return { record: null, isStopped: false, scannedBytes: top.scannedBytes };
  const last = reached ?? (sought.direction === 'older' ? buffer.first : buffer.last);
  return seekInLog(deps, sought, {
    from: last ? { next: last } : sought.direction === 'older' ? 'end' : 'start',
    signal,
  });
}

/** The row the search starts after; without a focus, the row in view is included. */
function startIndex({ store }: WorkspaceDeps, direction: Direction): number {
  const { shown: rows, focusedKey, anchor } = store.state;
  const step = direction === 'older' ? -1 : 1;
  const focused = shownIndex(rows, focusedKey);
  if (focused >= 0) return focused + step;
  const inView = shownIndex(rows, anchor?.key ?? null);
  if (inView >= 0) return inView;
  return direction === 'older' ? rows.length - 1 : 0;
}

function seekInRows(rows: readonly Row[], start: number, { direction, isWanted }: SeekRequest) {
  const step = direction === 'older' ? -1 : 1;
  const recordAt = (row: Row | undefined) => {
    const last = row && step > 0 ? lastOf(row) : row;
    return last?.kind === 'record' ? last.record : undefined;
  };
  let reached = recordAt(rows[start - step]);
  for (let index = start; index >= 0 && index < rows.length; index += step) {
    const row = rows[index];
    // A gap may contain a target record: search the log instead.
    if (row?.kind === 'gap' && row.range) return { found: undefined, reached, isAtGap: true };
    if (row?.kind !== 'record' || row.isContext) continue;
    if (isWanted(row.record)) return { found: row.record, reached, isAtGap: false };
    reached = recordAt(row);
  }
  return { found: undefined, reached, isAtGap: false };
}

async function seekInLog(
  deps: WorkspaceDeps,
  { direction, isWanted, filter, isExact }: SeekRequest,
  { from, signal }: { from: PagePosition; signal: AbortSignal },
): Promise<SeekResult> {
  const { clock } = deps;
  const source = deps.source();
  const sinceMs = clock.now();
  const passed = new Set(passedKeys(deps, from, direction));
  let position: PagePosition = from;
  let scannedBytes = 0;
  while (source) {
    const limit = isExact ? 1 : PAGE_RECORDS;
    const page = await source.page({ direction, from: position, limit, filter }, { signal, budgetMs: SLICE_MS });
    signal.throwIfAborted();
    scannedBytes += page.scannedBytes;
    const inOrder = direction === 'older' ? page.records.toReversed() : page.records;
    const found = inOrder.find((record) => !passed.has(recordKey(record)) && (isExact || isWanted(record)));
    if (found) return { record: found };
    if (page.next === null) return { record: null, isStopped: false, scannedBytes };
    if (clock.now() - sinceMs >= SCAN_MS) return { record: null, isStopped: true, scannedBytes };
    position = { page: page.next };
  }
  return { record: null, isStopped: deps.rowsSignal().aborted, scannedBytes };
}

/** Rows on the other side: records of the same millisecond may be returned again. */
function passedKeys({ store }: WorkspaceDeps, from: PagePosition, direction: Direction): string[] {
  if (typeof from === 'string' || !('next' in from)) return [];
  const { rows } = store.state;
  const index = rows.findIndex(({ key }) => key === recordKey(from.next));
  return (direction === 'older' ? rows.slice(index) : rows.slice(0, index + 1)).map(({ key }) => key);
}

/** The filter for records of at least this level within another filter. */
export function withLevel(filter: RowFilter, level: Level): RowFilter {
  return isAtLeast(filter.minLevel, level) ? filter : { ...filter, minLevel: level };
}

/**
 * The filter for the matches of a query within another filter; `undefined` if one filter cannot express both: it has a
 * single regex and a single case rule for all of its texts.
 */
export function withFind(filter: RowFilter, { text, isRegex, isCaseSensitive }: FindQuery): RowFilter | undefined {
  const hasTexts =
    filter.regex !== undefined ||
    filter.query !== undefined ||
    (filter.terms ?? []).length + (filter.excluded ?? []).length > 0;
  const isSameCase = !hasTexts || (filter.caseSensitive ?? false) === isCaseSensitive;
  const cased = isSameCase ? { ...filter, caseSensitive: isCaseSensitive } : filter;
  if (!isRegex && isSameCase) return { ...cased, terms: [...(filter.terms ?? []), text] };
  if (filter.regex !== undefined) return undefined;
  const pattern = isRegex ? text : escapeRegex(text);
  return { ...cased, regex: isSameCase ? pattern : `(?${isCaseSensitive ? '-i' : 'i'}:${pattern})` };
}
