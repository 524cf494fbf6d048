import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type CallOptions,
  type FileRequest,
  familySource,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type {
  DigestQuery,
  FieldsQuery,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  HistogramQuery,
  LogDir,
  LogSelection,
  RecordFilter,
  SearchItem,
  SearchQuery,
  TopQuery,
} from '@porthole/logs';
import { ONCE, Shared } from '@porthole/logs/shared';
import { type JournalRange, JournalSpool, parseUnitName, UNIT_NAMES } from '@porthole/server/journal';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { visibleText } from '../output/visible-text.ts';
import { journalUnit } from './find-path.ts';
import { LocalLogs } from './local-logs.ts';
import type { FileHolder, LogState } from './log-source.ts';

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
  logs: LocalLogs;
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
    this.selection = { src: [familySource(deps.fileName)] };
    process.once('exit', this.#remove);
  }

  async logFiles(options?: CallOptions) {
    return (await this.#open({ range: 'all', isPart: true }, options)).logs.logFiles(options);
  }

  async openLog(request: FileRequest) {
    return (await this.#open({ range: 'all', isPart: true })).logs.openLog(request);
  }

  async *searchLogs(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<SearchItem[], void, undefined> {
    const copy = await this.#open(queryRange(query), options);
    const { start, ...rest } = query;
    const from = start && 'cursor' in start ? { start: { cursor: await findCursor(copy, start.cursor) } } : { start };
    const found = { ...rest, ...(from.start && { start: from.start }) };
    for await (const items of copy.logs.searchLogs(found, options))
      yield items.map((item) => (item.type === 'end' ? withLimits(item, copy) : withJournalCursor(item)));
  }

  async *followLogs(query: FollowQuery, options: CallOptions = {}): AsyncGenerator<FollowItem[], void, undefined> {
    const copy = await this.#open(followRange(query), options);
    const { start } = query;
    const from =
      typeof start === 'object' && 'cursor' in start ? { cursor: await findCursor(copy, start.cursor) } : start;
    copy.spool.start();
    for await (const items of copy.logs.followLogs({ ...query, start: from }, options))
      yield items.map((item) => (item.type === 'record' ? withJournalCursor(item) : item));
  }

  logHistogram(query: HistogramQuery, options: SearchOptions = {}) {
    return this.#count(query, options, (logs) => logs.logHistogram(query, options));
  }

  async logDigest(query: DigestQuery, options: SearchOptions = {}) {
    const digest = await this.#count(query, options, (logs) => logs.logDigest(query, options));
    return { ...digest, groups: digest.groups.map((group) => ({ ...group, sample: withJournalCursor(group.sample) })) };
  }

  logTop(query: TopQuery, options: SearchOptions = {}) {
    return this.#count(query, options, (logs) => logs.logTop(query, options));
  }

  logFields(query: FieldsQuery, options: SearchOptions = {}) {
    return this.#count(query, options, (logs) => logs.logFields(query, options));
  }

  async #count<T extends Pick<Histogram, 'end'>>(
    query: RecordFilter,
    options: SearchOptions,
    count: (logs: LocalLogs) => Promise<T>,
  ): Promise<T> {
    const copy = await this.#open(queryRange(query), options);
    const counted = await count(copy.logs);
    return { ...counted, end: withLimits(counted.end, copy) };
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
    return { logs: new LocalLogs(dir), dir, spool, limits: explainLimits(spool, { range, isPart }) };
  }
}

function explainLimits(spool: JournalSpool, { range, isPart }: ReadRange): string | undefined {
  const { incomplete } = spool.status;
  const isCut = typeof range === 'object' && 'lines' in range && !isPart && spool.entries >= range.lines;
  const cut = 'only the newest entries of the journal were read; narrow the time range with --since';
  const reasons = [...(incomplete === undefined ? [] : [incomplete]), ...(isCut || spool.isTrimmed ? [cut] : [])];
  return reasons.length === 0 ? undefined : reasons.join('; ');
}

function withLimits<T extends Histogram['end']>(end: T, { limits }: Copy): T {
  return limits === undefined ? end : { ...end, limits };
}

/** The cursor in the copy for one of journald; those of the copy are returned as they are. */
async function findCursor({ logs }: Copy, cursor: string): Promise<string> {
  if (!isJournalCursor(cursor)) return cursor;
  const terms = [`"__CURSOR":${JSON.stringify(cursor)}`];
  const query = { terms, caseSensitive: true, order: 'oldest', limit: 1, before: 0, after: 0 } as const;
  for await (const items of logs.searchLogs(query))
    for (const item of items) if (item.type === 'record') return item.cursor;
  throw new PortholeError(
    'CURSOR_GONE',
    'the journal no longer has the entry of this cursor; start from a time instead',
  );
}

function withJournalCursor(record: FoundRecord): FoundRecord {
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
