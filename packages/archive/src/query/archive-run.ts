import { PortholeError, type SearchOptions } from '@porthole/contract';
import { ArchiveError } from '../archive-error.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';

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
