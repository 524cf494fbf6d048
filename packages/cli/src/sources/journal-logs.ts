import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type AroundRequest,
  type AskedRange,
  type CallOptions,
  type ClusterFollowItem,
  type ClusterItem,
  type CountQueries,
  coverageOf,
  type FileRequest,
  type FollowOptions,
  type MemberSelection,
  PortholeError,
  type ResponseFacts,
  type SearchOptions,
} from '@porthole/contract';
import type { FollowQuery, FoundRecord, LogDir, LogSelection, RecordFilter, SearchQuery } from '@porthole/logs';
import { ONCE, Shared } from '@porthole/logs/shared';
import type { ScanReport } from '@porthole/logs/types';
import { type JournalRange, JournalSpool, parseUnitName, UNIT_NAMES } from '@porthole/server/journal';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { visibleText } from '../output/visible-text.ts';
import { journalUnit } from './find-path.ts';
import { LocalLogs } from './local-logs.ts';
import { type FileHolder, type LogState, ofFamily } from './log-source.ts';
import { OwnLogs } from './own-logs.ts';

/** The temporary copy that is queried has at most this size: the newest entries are kept. */
const MAX_BYTES = 256 * 1024 ** 2;

interface JournalDeps {
  /** The directory of the copy. */
  dir: string;
  fileName: string;
  openDir(dir: string): Promise<LogDir>;
  openSpool(range: ReadRange['range']): Promise<JournalSpool>;
}

/** The journal of this machine. `journalctl` runs when the first query says what is needed of it. */
export async function openJournal(
  invocation: Invocation,
  target: string,
  openDir: JournalDeps['openDir'],
): Promise<JournalLogs> {
  const { terminal, env } = invocation;
  const unit = parseUnit(target);
  const given = invocation.text('journal-dir') ?? (env.PORTHOLE_LOG_JOURNAL_DIR || undefined);
  const directory = given === undefined ? '' : resolve(given);
  const dir = await mkdtemp(join(tmpdir(), 'porthole-journal-'));
  const fileName = `${unit ?? 'journal'}.log`;
  const warn = (_tag: string, message: string, context: Readonly<Record<string, unknown>> = {}) =>
    terminal.warn(visibleText([target, message, ...Object.values(context)].join(': ')));
  const log = { info: () => {}, warn };
  const openSpool = (range: ReadRange['range']) =>
    JournalSpool.open({ dir, fileName, selection: { directory, unit }, maxBytes: MAX_BYTES, range, log });
  return new JournalLogs({ dir, fileName, openDir, openSpool });
}

function parseUnit(target: string): string | undefined {
  const given = journalUnit(target);
  if (given === undefined) return undefined;
  const unit = parseUnitName(given);
  if (unit === undefined)
    throw new ProgramError(
      `invalid unit ${JSON.stringify(given)} in ${JSON.stringify(target)}: expected ${UNIT_NAMES}`,
    );
  return unit;
}

/** What was copied for the first query. */
interface Copy {
  logs: OwnLogs;
  files: LocalLogs;
  dir: LogDir;
  spool: JournalSpool;
  /** Why records may be missing. */
  limits: string | undefined;
}

/**
 * Queries on a temporary copy of the entries they need: all of them work as on files. Cursors are those of journald, so
 * that they are still valid when the copy is gone.
 */
class JournalLogs implements LogState, FileHolder {
  readonly selection: LogSelection;
  readonly #deps: JournalDeps;
  readonly #remove = () => rmSync(this.#deps.dir, { recursive: true, force: true });
  readonly #copy = new Shared<Copy>({ ...ONCE, endsUnwatched: true });

  constructor(deps: JournalDeps) {
    this.#deps = deps;
    this.selection = ofFamily(deps.fileName);
    process.once('exit', this.#remove);
  }

  async logFiles(request?: MemberSelection, options?: CallOptions) {
    return (await this.#open(ALL, options)).logs.logFiles(request, options);
  }

  async openLog(request: FileRequest) {
    return (await this.#open(ALL)).files.openLog(request);
  }

  async *search(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<ClusterItem[], void, undefined> {
    const copy = await this.#open(queryRange(query), options);
    const { start, ...rest } = query;
    const from = start && 'cursor' in start ? { cursor: await findCursor(copy, start.cursor) } : start;
    const found = copy.logs.search({ ...rest, ...(from && { start: from }) }, options);
    yield* ofJournal(found, copy, query);
  }

  async *around(request: AroundRequest, options: CallOptions = {}): AsyncGenerator<ClusterItem[], void, undefined> {
    const { at, beforeMs, afterMs } = request;
    const range = 'timeMs' in at ? { fromMs: at.timeMs - beforeMs, toMs: at.timeMs + afterMs + 1 } : {};
    const copy = await this.#open(queryRange(range), options);
    yield* ofJournal(copy.logs.around(request, options), copy, range);
  }

  async *follow(query: FollowQuery, options: FollowOptions = {}): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    const copy = await this.#open(followRange(query), options);
    const { start } = query;
    const from =
      typeof start === 'object' && 'cursor' in start ? { cursor: await findCursor(copy, start.cursor) } : start;
    copy.spool.start();
    for await (const items of copy.logs.follow({ ...query, start: from }, options))
      yield items.map((item) => (item.type === 'record' ? withJournalCursor(item) : item));
  }

  histogram(query: CountQueries['logHistogram'], options: SearchOptions = {}) {
    return this.#count(query, options, (logs) => logs.histogram(query, options));
  }

  async digest(query: CountQueries['logDigest'], options: SearchOptions = {}) {
    const digest = await this.#count(query, options, (logs) => logs.digest(query, options));
    return { ...digest, groups: digest.groups.map((group) => ({ ...group, sample: withJournalCursor(group.sample) })) };
  }

  fields(query: CountQueries['logFields'], options: SearchOptions = {}) {
    return this.#count(query, options, (logs) => logs.fields(query, options));
  }

  top(query: CountQueries['logTop'], options: SearchOptions = {}) {
    return this.#count(query, options, (logs) => logs.top(query, options));
  }

  async #count<T extends LimitedResponse>(
    query: RecordFilter,
    options: SearchOptions,
    count: (logs: OwnLogs) => Promise<T>,
  ): Promise<T> {
    const copy = await this.#open(queryRange(query), options);
    return withLimits(await count(copy.logs), copy, query);
  }

  async close(): Promise<void> {
    try {
      const copy = await this.#copy.last();
      await copy?.dir.close();
      await copy?.spool.close();
    } finally {
      process.off('exit', this.#remove);
      this.#remove();
    }
  }

  #open(range: ReadRange, options: CallOptions = {}): Promise<Copy> {
    return this.#copy.run((signal) => this.#fill(range, signal), options);
  }

  async #fill({ range, isPart }: ReadRange, signal: AbortSignal): Promise<Copy> {
    const spool = await this.#deps.openSpool(range);
    try {
      await spool.catchUp(signal);
      signal.throwIfAborted();
    } catch (error) {
      await spool.close();
      throw error;
    }
    const dir = await this.#deps.openDir(this.#deps.dir);
    const files = new LocalLogs(dir);
    return { logs: new OwnLogs(files), files, dir, spool, limits: explainLimits(spool, { range, isPart }) };
  }
}

function explainLimits(spool: JournalSpool, { range, isPart }: ReadRange): string | undefined {
  const { incomplete } = spool.status;
  const isCut = typeof range === 'object' && 'lines' in range && !isPart && spool.entries >= range.lines;
  const cut = 'only the newest entries of the journal were read; narrow the time range with --since';
  const reasons = [...(incomplete === undefined ? [] : [incomplete]), ...(isCut || spool.isTrimmed ? [cut] : [])];
  return reasons.length === 0 ? undefined : reasons.join('; ');
}

/** Records with cursors of journald, and an end that says what the copy lacks. */
async function* ofJournal(
  found: AsyncIterable<ClusterItem[]>,
  copy: Copy,
  asked: AskedRange,
): AsyncGenerator<ClusterItem[], void, undefined> {
  for await (const items of found)
    yield items.map((item) => (item.type === 'end' ? withLimits(item, copy, asked) : withJournalCursor(item)));
}

type LimitedResponse = ResponseFacts & { end?: ScanReport };

function withLimits<T extends LimitedResponse>(response: T, { limits }: Copy, { fromMs, toMs }: AskedRange): T {
  if (limits === undefined) return response;
  const coverage = coverageOf({ ...response, coverage: undefined, limits }, { fromMs, toMs });
  const { end } = response;
  return { ...response, coverage, ...(end ? { end: { ...end, limits } } : { limits }) };
}

/** The cursor in the copy for one of journald; those of the copy are returned as they are. */
async function findCursor({ logs }: Copy, cursor: string): Promise<string> {
  if (!isJournalCursor(cursor)) return cursor;
  const terms = [`"__CURSOR":${JSON.stringify(cursor)}`];
  const query = { terms, caseSensitive: true, order: 'oldest', limit: 1, before: 0, after: 0 } as const;
  for await (const items of logs.search(query))
    for (const item of items) if (item.type === 'record') return item.cursor;
  throw new PortholeError(
    'CURSOR_GONE',
    'the journal no longer has the entry of this cursor; start from a time instead',
  );
}

function withJournalCursor<T extends FoundRecord>(record: T): T {
  const { before, after, context } = record;
  const cursor = context?.__CURSOR;
  return {
    ...record,
    ...(typeof cursor === 'string' && { cursor }),
    ...(before && { before: before.map(withJournalCursor) }),
    ...(after && { after: after.map(withJournalCursor) }),
  };
}

/** Entries that are read if the query does not say which: about as many as are kept. */
const MAX_ENTRIES = 262_144;

/** Entries are written up to this much out of order; the query itself is exact. */
const SLACK_MS = 60_000;

/** A cursor of journald. Those of the copy look different. */
const CURSOR = /^s=[0-9a-f]+;[\w=;-]{1,480}$/;

/** What has to be read for a query. */
export interface ReadRange {
  range: JournalRange;
  /** The query needs no more than that: nothing is missing where it ends. */
  isPart: boolean;
}

const ALL: ReadRange = { range: 'all', isPart: true };

export function isJournalCursor(cursor: string): boolean {
  return CURSOR.test(cursor);
}

/** For a search, histogram or digest. */
export function queryRange(query: RecordFilter & Partial<SearchQuery>): ReadRange {
  const { fromMs, toMs, start, order, limit, before = 0, after = 0 } = query;
  if (start && 'cursor' in start && order === 'oldest' && isJournalCursor(start.cursor))
    return { range: { cursor: start.cursor }, isPart: true };
  if (fromMs !== undefined || toMs !== undefined) return { range: timeRange(fromMs, toMs), isPart: true };
  const isTail = order === 'newest' && start === undefined && limit !== undefined && !isFiltered(query);
  return newest(isTail ? limit + before + after : undefined);
}

export function followRange(query: FollowQuery): ReadRange {
  const { start } = query;
  if (start === 'end') return newest(1);
  if ('cursor' in start && isJournalCursor(start.cursor)) return { range: { cursor: start.cursor }, isPart: true };
  if ('timeMs' in start && start.timeMs > 0) return { range: timeRange(start.timeMs, undefined), isPart: true };
  // At least one: what follows it is new.
  return newest('back' in start && !isFiltered(query) ? Math.max(1, start.back) : undefined);
}

function newest(count: number | undefined): ReadRange {
  const isPart = count !== undefined && count < MAX_ENTRIES;
  return { range: { lines: isPart ? count : MAX_ENTRIES }, isPart };
}

function timeRange(fromMs: number | undefined, toMs: number | undefined): JournalRange {
  return {
    sinceMs: fromMs === undefined ? undefined : fromMs - SLACK_MS,
    untilMs: toMs === undefined ? undefined : toMs + SLACK_MS,
  };
}

function isFiltered({ minLevel, terms, excluded, regex, source, component, query }: RecordFilter): boolean {
  return [minLevel, regex, source, component, query, terms?.[0], excluded?.[0]].some((value) => value !== undefined);
}
