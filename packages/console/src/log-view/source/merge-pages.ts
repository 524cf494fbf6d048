import { codeOf, type MemberReport, PortholeError } from '@porthole/client';
import { errorMessage } from '@porthole/contract';
import type { LogSource, Page, PageOptions, PagePosition, PageRequest, ShownRecord } from './log-source.ts';

/** One of the merged sources and its position; `null`: nothing left. */
export interface PageStart {
  source: LogSource;
  from: PagePosition | null;
}

interface PartPage {
  part: PageStart;
  page: Page | undefined;
  error: unknown;
  /** In the requested direction. */
  records: ShownRecord[];
}

/** Requests a page from every source and merges them by time, as far as the order is certain. */
export async function mergePages(
  parts: readonly PageStart[],
  request: PageRequest,
  options: PageOptions,
): Promise<Page> {
  const fetched = await Promise.all(parts.map((part) => fetchPage(part, request, options)));
  options.signal?.throwIfAborted();
  const failed = fetched.filter(({ error }) => error !== undefined);
  if (failed.length > 0 && failed.length === parts.filter(({ from }) => from !== null).length) throw failed[0]?.error;
  const { merged, taken } = mergeRecords(fetched, request);
  const pages = fetched.flatMap(({ page }) => (page ? [page] : []));
  const positions = fetched.map((one, index) => positionAfter(one, taken[index] ?? 0));
  const isLeft = fetched.some(({ page }, index) => page !== undefined && positions[index] !== null);
  return {
    records: request.direction === 'older' ? merged.reverse() : merged,
    next: isLeft ? JSON.stringify(positions) : null,
    isOutOfTime: pages.some(({ isOutOfTime }) => isOutOfTime),
    scannedBytes: pages.reduce((sum, { scannedBytes }) => sum + scannedBytes, 0),
    reachedMs: reachedMs(fetched, taken, request.direction),
    problems: pages.flatMap(({ problems }) => problems),
    duplicates: pages.flatMap(({ duplicates }) => duplicates),
    members: fetched.flatMap(
      ({ page, part, error }) => page?.members ?? (part.from === null ? [] : failedReports(part.source, error)),
    ),
  };
}

/** Up to where no source lacks records: neither not loaded yet, nor loaded but not taken. */
function reachedMs(
  pages: readonly PartPage[],
  taken: readonly number[],
  direction: PageRequest['direction'],
): number | null {
  const sign = direction === 'older' ? 1 : -1;
  let reached = -Infinity;
  pages.forEach(({ page, records }, index) => {
    if (page === undefined) return;
    for (const { atMs } of records.slice(taken[index]))
      if (atMs !== undefined) reached = Math.max(reached, sign * atMs + 1);
    if (page.next !== null) reached = Math.max(reached, page.reachedMs === null ? Infinity : sign * page.reachedMs);
  });
  return Number.isFinite(reached) ? sign * reached : null;
}

/** Decodes the positions in a page of `mergePages`. */
export function parsePositions(text: string, count: number): (PagePosition | null)[] {
  try {
    const positions: unknown = JSON.parse(text);
    if (Array.isArray(positions) && positions.length === count) return positions as (PagePosition | null)[];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new PortholeError('CURSOR_INVALID', 'this page position belongs to other logs');
}

async function fetchPage(part: PageStart, request: PageRequest, options: PageOptions): Promise<PartPage> {
  if (part.from === null) return { part, page: undefined, error: undefined, records: [] };
  try {
    const page = await part.source.page({ ...request, from: part.from }, options);
    const records = request.direction === 'older' ? page.records.toReversed() : page.records;
    return { part, page, error: undefined, records };
  } catch (error) {
    return { part, page: undefined, error: error ?? new Error('unknown error'), records: [] };
  }
}

/** Records in the requested direction, and how many of each source are among them. */
function mergeRecords(
  pages: readonly PartPage[],
  { direction, limit }: PageRequest,
): { merged: ShownRecord[]; taken: number[] } {
  const sign = direction === 'older' ? -1 : 1;
  const lanes = pages.map(({ records, page }) => new Lane(records, page, sign));
  const merged: ShownRecord[] = [];
  while (merged.length < limit) {
    let first: Lane | undefined;
    for (const lane of lanes) if (lane.key < (first?.key ?? Infinity)) first = lane;
    const record = first?.take();
    // Nothing is known about the records after this one: the order is uncertain from here on.
    if (record === undefined) break;
    merged.push(record);
  }
  return { merged, taken: lanes.map(({ taken }) => taken) };
}

/** The records of one source. A record without a timestamp, or out of order, stays after the one before it. */
class Lane {
  taken = 0;
  key: number;
  readonly #records: readonly ShownRecord[];
  readonly #sign: number;
  readonly #endKey: number;

  constructor(records: readonly ShownRecord[], page: Page | undefined, sign: number) {
    this.#records = records;
    this.#sign = sign;
    // If there are more, they are after what was reached.
    const reachedMs = page?.reachedMs ?? null;
    this.#endKey =
      page === undefined || page.next === null ? Infinity : reachedMs === null ? -Infinity : sign * reachedMs;
    this.key = -Infinity;
    this.#updateKey();
  }

  take(): ShownRecord | undefined {
    const record = this.#records[this.taken];
    if (record === undefined) return undefined;
    this.taken++;
    this.#updateKey();
    return record;
  }

  #updateKey(): void {
    const record = this.#records[this.taken];
    if (record === undefined) this.key = this.#endKey === Infinity ? Infinity : Math.max(this.key, this.#endKey);
    else if (record.atMs !== undefined) this.key = Math.max(this.key, this.#sign * record.atMs);
  }
}

function positionAfter({ part, page, error, records }: PartPage, taken: number): PagePosition | null {
  if (error !== undefined) return part.from;
  if (page === undefined) return null;
  if (taken === records.length) return page.next === null ? null : { page: page.next };
  const last = records[taken - 1];
  return last === undefined ? part.from : { next: trimRecord(last) };
}

/** The part of a record that a source needs to continue; the rest would only make the position long. */
function trimRecord({
  raw: _raw,
  context: _context,
  contextText: _contextText,
  before: _before,
  after: _after,
  ...record
}: ShownRecord): ShownRecord {
  return { ...record, message: '' };
}

/** The report for a source that failed as a whole. */
export function failedReports(source: LogSource, error: unknown): MemberReport[] {
  const detail = `${codeOf(error)}: ${errorMessage(error)}`;
  return source.nodes.map((id) => ({ id, outcome: 'failed', detail, elapsedMs: 0, count: 0, asOfMs: null }));
}
