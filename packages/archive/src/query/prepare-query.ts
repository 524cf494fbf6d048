import {
  isPattern,
  isSelected,
  LogSources,
  type MemberSelection,
  namedNodes,
  PortholeError,
  type SearchOptions,
  selectsMembers,
  sourcesOf,
  UNKNOWN_ROLE,
  withoutSelection,
} from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import { ArchiveError } from '../archive-error.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { quote, quoteTime } from '../clickhouse/quote.ts';
import { type ArchivedNode, fetchNodes, shippedRange } from './archived-nodes.ts';
import { type Bounds, filterToSql, isExact, joined, noneOf } from './query-to-sql.ts';
import { createRowFilter, IS_RECORD, type MatchRegex, type RowFilter } from './row-columns.ts';
import type { Window } from './windows.ts';

export interface QueryDeps {
  /** Connects as a user who needs no right to write. */
  reader: ClickHouse;
  /** As SQL, with its database. */
  records: string;
  progress: string;
  cluster: string;
  isHidden: ((log: string) => boolean) | undefined;
  matchRegex: MatchRegex | undefined;
  nowMs(): number;
}

export interface ArchiveOptions extends SearchOptions {
  ceilings?: Ceilings;
  /** Exact ids, instead of those that the request selects. */
  ids?: readonly string[];
}

type ArchiveRequest = LogSelection & RecordFilter & MemberSelection;

/** A request as SQL, and what it leaves to the engine. */
export interface PreparedQuery {
  run: ArchiveRun;
  /** The table, each record once: the one shipped last. */
  table: string;
  /** The same without that: for what duplicates do not change. */
  anyTable: string;
  /** Rows that may match, without a window. */
  where: string;
  /** Rows that match, as far as SQL can say; `undefined`: none for certain. */
  decided: string | undefined;
  /** Rows that may match and are none of those; `undefined`: there are none. */
  undecided: string | undefined;
  /** Rows of the logs and nodes in the range, whatever they contain. */
  scope: string;
  /** Rows of the logs and nodes of any time. */
  logs: string;
  /** Decides what SQL has left open; `undefined`: nothing. */
  filter: RowFilter | undefined;
  /** The selected nodes, as far as the archive knows them, by id. */
  nodes: readonly ArchivedNode[];
  range: Window;
  /** The times of what these nodes say they have shipped; `undefined`: nothing is known. */
  likely: Window | undefined;
  nowMs: number;
}

/** Rejects with REGEX_INVALID, REGEX_TOO_COMPLEX or ARCHIVE_UNAVAILABLE. */
export async function prepareQuery(
  deps: QueryDeps,
  request: ArchiveRequest,
  options: ArchiveOptions = {},
): Promise<PreparedQuery> {
  const { src: _src, ...filter } = withoutSelection(request);
  // Refuses an invalid regex before the archive is queried.
  const rowFilter = await createRowFilter(filter, deps.matchRegex);
  const bounds: Bounds = filterToSql(filter);
  const run = new ArchiveRun(deps.reader, options);
  const known = await fetchNodes(deps, run);
  const ids = options.ids ?? selectedIds(request, known);
  const logs = visibleLogs(request, known, deps.isHidden);
  const sources = sourcesToSql(request, known, ids);
  const scope = scopeToSql(request, { cluster: deps.cluster, ids, sources, logs, ceilings: options.ceilings });
  const { fromMs = -Infinity, toMs = Infinity } = request;
  const selected = known.filter(({ node }) => ids === undefined || ids.includes(node));
  return {
    run,
    table: `${deps.records} FINAL`,
    anyTable: deps.records,
    scope: joined('AND', [scope, IS_RECORD]),
    logs: joined('AND', [
      scopeToSql({}, { cluster: deps.cluster, ids, sources, logs, ceilings: undefined }),
      IS_RECORD,
    ]),
    where: joined('AND', [scope, IS_RECORD, bounds.may]),
    decided: bounds.must === '0' ? undefined : joined('AND', [scope, IS_RECORD, bounds.must]),
    undecided: isExact(bounds) ? undefined : joined('AND', [scope, IS_RECORD, bounds.may, noneOf(bounds).may]),
    filter: isExact(bounds) ? undefined : rowFilter,
    nodes: selected,
    likely: shippedRange(selected),
    range: { fromMs: Math.ceil(fromMs), toMs: Math.ceil(toMs) },
    nowMs: deps.nowMs(),
  };
}

/** `undefined`: all. Exact ids may be of nodes whose progress is not known. */
function selectedIds(request: MemberSelection, known: readonly ArchivedNode[]): readonly string[] | undefined {
  const { role, labels } = request;
  if (!selectsMembers(request)) return undefined;
  const named = namedNodes(request);
  if (role === undefined && labels === undefined && !named.some(isPattern)) return [...new Set(named)];
  return known.flatMap((each) => (isSelected({ ...each, id: each.node }, request) ? [each.node] : []));
}

/**
 * The logs that may be shown; `undefined`: all. Which ones there are is known from their progress: rows of others are left
 * out, rather than shown by mistake.
 */
function visibleLogs(
  { src }: LogSelection,
  known: readonly ArchivedNode[],
  isHidden: ((log: string) => boolean) | undefined,
): readonly string[] | undefined {
  if (!isHidden) return undefined;
  const { list, isAll, hasPatterns } = new LogSources(src);
  const logs =
    isAll || hasPatterns
      ? known.flatMap((node) => node.logs.map(({ log }) => log))
      : list.map(({ name }) => familyOf(name));
  return [...new Set(logs)].filter((log) => !isHidden(log));
}

/** Up to which own time rows are read; `null`, or not given: all. Rows without a time are left out where there is one. */
export interface Ceilings {
  nodes?: Readonly<Record<string, number | null>>;
  /** Logs whose ceiling is not that of their node. */
  logs?: readonly { node: string; log: string; ceiling: number | null }[];
}

/** Whose rows a query reads, and until when. */
interface ScopeOptions {
  cluster: string;
  /** Exact ids; `undefined`: all. */
  ids: readonly string[] | undefined;
  /** Which logs of which nodes, as a condition; `undefined`: all. */
  sources: string | undefined;
  /** Logs that may be shown; `undefined`: all. */
  logs: readonly string[] | undefined;
  ceilings: Ceilings | undefined;
}

type ScopeRequest = Pick<RecordFilter, 'fromMs' | 'toMs'>;

/** A condition on rows by everything but their content and the window. */
function scopeToSql({ fromMs, toMs }: ScopeRequest, options: ScopeOptions): string {
  const { cluster, ids, sources, logs, ceilings } = options;
  const conditions = [`cluster = ${quote(cluster)}`];
  if (ids) conditions.push(inList('node', ids));
  if (sources !== undefined) conditions.push(sources);
  if (logs) conditions.push(inList('log', logs));
  if (fromMs !== undefined || toMs !== undefined) conditions.push('has_time = 1');
  if (fromMs !== undefined) conditions.push(`time_ms >= ${quoteTime(Math.ceil(fromMs))}`);
  if (toMs !== undefined) conditions.push(`time_ms < ${quoteTime(Math.ceil(toMs))}`);
  if (ceilings) conditions.push(ceilingsToSql(ceilings));
  return joined('AND', conditions);
}

/** The logs that are asked for of each node; `undefined`: all logs of all of them. */
function sourcesToSql(
  request: MemberSelection,
  known: readonly ArchivedNode[],
  ids: readonly string[] | undefined,
): string | undefined {
  const { src = [] } = request;
  if (src.length === 0) return undefined;
  if (ids === undefined) return logsToSql(src);
  const facts = new Map(known.map((each) => [each.node, each]));
  const nodes = new Map<string, { src: readonly string[]; ids: string[] }>();
  for (const id of ids) {
    const { role = UNKNOWN_ROLE, labels = {} } = facts.get(id) ?? {};
    const own = sourcesOf({ id, role, labels }, request) ?? [];
    const key = JSON.stringify(own);
    const same = nodes.get(key);
    if (same) same.ids.push(id);
    else nodes.set(key, { src: own, ids: [id] });
  }
  const conditions = [...nodes.values()].map((each) =>
    joined('AND', [inList('node', each.ids), ...(each.src.length === 0 ? [] : [logsToSql(each.src)])]),
  );
  return conditions.length === 0 ? '0' : joined('OR', conditions);
}

/** A file is read as its log: the archive has no files. */
function logsToSql(src: readonly string[]): string {
  const { list } = new LogSources(src);
  const names = list.filter(({ name }) => !isPattern(name)).map(({ name }) => familyOf(name));
  const patterns = list.filter(({ name }) => isPattern(name));
  return joined('OR', [
    ...(names.length === 0 ? [] : [inList('log', names)]),
    ...patterns.map(({ name }) => `log LIKE ${quote(likePattern(name))}`),
  ]);
}

/** `*` and `?` as LIKE writes them. */
function likePattern(pattern: string): string {
  return pattern
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_');
}

/** The archive knows logs by the name of their live file. */
export function familyOf(file: string): string {
  return groupFamilies([file])[0]?.name ?? file;
}

function inList(column: string, texts: readonly string[]): string {
  return texts.length === 0 ? '0' : `${column} IN (${texts.map(quote).join(', ')})`;
}

function ceilingsToSql({ nodes = {}, logs = [] }: Ceilings): string {
  const limited = Object.entries(nodes).flatMap(([name, ceiling]) => (ceiling === null ? [] : [{ name, ceiling }]));
  const ids = limited.map(({ name }) => name);
  const ofNodes = limited.length === 0 ? '1' : joined('OR', [`NOT (${inList('node', ids)})`, isBelow('node', limited)]);
  if (logs.length === 0) return ofNodes;
  // Ids of nodes have no slash.
  const column = "concat(node, '/', log)";
  const named = logs.map(({ node, log, ceiling }) => ({ name: `${node}/${log}`, ceiling }));
  const names = named.map(({ name }) => name);
  const free = named.flatMap(({ name, ceiling }) => (ceiling === null ? [name] : []));
  const own = named.flatMap(({ name, ceiling }) => (ceiling === null ? [] : [{ name, ceiling }]));
  const others = joined('AND', [`NOT (${inList(column, names)})`, ofNodes]);
  return joined('OR', [others, inList(column, free), isBelow(column, own)]);
}

/** By one look-up per row, however many there are: a condition for each took minutes with ten thousand nodes. */
function isBelow(column: string, limited: readonly { name: string; ceiling: number }[]): string {
  const names = limited.map(({ name }) => name);
  if (names.length === 0) return '0';
  const ceilings = limited.map(({ ceiling }) => toDecimal(ceiling)).join(', ');
  const ceiling = `transform(${column}, [${names.map(quote).join(', ')}], [${ceilings}], ${toDecimal(0)})`;
  return joined('AND', [inList(column, names), 'has_time = 1', `time_ms < ${ceiling}`]);
}

/** All of one type, whatever their sign. */
function toDecimal(timeMs: number): string {
  return `${quoteTime(Math.ceil(timeMs))}.0`;
}

/** A query that its reader does not limit: the server must not work on it for ever. */
const MAX_BUDGET_MS = 10 * 60_000;

/** Results are read as they come; more than this is no answer to anything. */
const MAX_BYTES = 16 * 1024 ** 3;

/** Groups beyond this go to the server's disk. */
const MAX_GROUP_BYTES = 512 * 1024 ** 2;

/** A statement may name ten thousand nodes, each with its ceiling. */
const LARGE_STATEMENTS = {
  max_query_size: 16 * 1024 ** 2,
  max_ast_elements: 1_000_000,
  max_expanded_ast_elements: 2_000_000,
};

/** The statements of one query: its budget, its signal, and what its errors mean. */
export class ArchiveRun {
  /** Whether the budget has ended it. */
  isOver = false;
  readonly #reader: ClickHouse;
  readonly #signal: AbortSignal | undefined;
  readonly #startedMs = performance.now();
  readonly #budgetMs: number;
  /** When the step that runs has taken too long. */
  #stepEndMs: number | undefined;

  constructor(reader: ClickHouse, { signal, budgetMs = MAX_BUDGET_MS }: SearchOptions = {}) {
    this.#reader = reader;
    this.#signal = signal;
    this.#budgetMs = Math.min(budgetMs, MAX_BUDGET_MS);
  }

  get elapsedMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }

  /** For messages. */
  get archive(): string {
    return `the archive (${this.#reader.database} at ${this.#reader.shownUrl})`;
  }

  /**
   * A step without which there is no response. It gets its time, whatever is left of the budget; an archive that takes
   * longer does not respond.
   */
  async within<T>(mostMs: number, step: () => Promise<T>): Promise<T> {
    this.#stepEndMs = performance.now() + mostMs;
    const result = await step();
    this.#stepEndMs = undefined;
    if (this.isOver) throw this.silent();
    return result;
  }

  silent(): PortholeError {
    return new PortholeError('ARCHIVE_UNAVAILABLE', `${this.archive} did not respond within ${this.elapsedMs} ms`);
  }

  /** The rows of a statement in batches, as they arrive. After the budget has ended they are incomplete, and `isOver` is set. */
  async *rows<T>(sql: string): AsyncGenerator<T[], void, undefined> {
    const leftMs = (this.#stepEndMs ?? this.#startedMs + this.#budgetMs) - performance.now();
    if (leftMs <= 0) this.isOver = true;
    if (this.isOver) return;
    const controller = new AbortController();
    const { signal } = controller;
    const stop = () => controller.abort(this.#signal?.reason);
    this.#signal?.addEventListener('abort', stop, { once: true });
    if (this.#signal?.aborted) stop();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, Math.ceil(leftMs));
    try {
      for await (const lines of this.#reader.stream(sql, {
        signal,
        maxBytes: MAX_BYTES,
        timeoutMs: MAX_BUDGET_MS,
        settings: {
          // Whole seconds: older servers take nothing else. The deadline here is exact.
          max_execution_time: Math.ceil(leftMs / 1000),
          max_bytes_before_external_group_by: MAX_GROUP_BYTES,
          ...LARGE_STATEMENTS,
        },
      }))
        yield parseLines<T>(lines);
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (isLate || (error instanceof ArchiveError && error.code === 'ARCHIVE_TIMEOUT')) this.isOver = true;
      else throw this.#toPortholeError(error);
    } finally {
      clearTimeout(timer);
      this.#signal?.removeEventListener('abort', stop);
    }
  }

  async all<T>(sql: string): Promise<T[]> {
    const found: T[] = [];
    for await (const rows of this.rows<T>(sql)) for (const row of rows) found.push(row);
    return found;
  }

  /** Everything that is the archive's fault has one code; the message says what it was. */
  #toPortholeError(error: unknown): unknown {
    if (!(error instanceof ArchiveError)) return error;
    const hint = error.code === 'ARCHIVE_SCHEMA' ? ': run "porthole archive init"' : '';
    return new PortholeError('ARCHIVE_UNAVAILABLE', `${this.archive} cannot be read: ${error.message}${hint}`, {
      cause: error,
    });
  }
}

function parseLines<T>(lines: Buffer): T[] {
  const text = lines.toString();
  try {
    // One array is parsed faster than many lines.
    return JSON.parse(`[${text.trimEnd().replaceAll('}\n{', '},\n{')}]`) as T[];
  } catch (cause) {
    throw new PortholeError('ARCHIVE_UNAVAILABLE', 'the archive returned rows that are not valid JSON', { cause });
  }
}
