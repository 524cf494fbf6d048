import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import { errorMessage } from '@porthole/contract';
import { ArchiveError } from '../archive-error.ts';
import { Credentials } from './credentials.ts';
import { readLines } from './read-lines.ts';
import { createAgent, sendRequest } from './send-request.ts';

export interface ClickHouseOptions {
  /** `http://host:8123` or `https://host:8443`. */
  url: string;
  database: string;
  user?: string | undefined;
  /** Read again when the password is refused. */
  passwordFile?: string | undefined;
  /** Authorities to trust instead of the usual ones, PEM. Read again when a certificate is refused. */
  caFile?: string | undefined;
  /** Without a byte from the server for so long, a request has failed. */
  timeoutMs?: number | undefined;
}

export interface StatementOptions {
  /** Of ClickHouse, for this statement. */
  settings?: Readonly<Record<string, string | number>> | undefined;
  signal?: AbortSignal | undefined;
  /** Instead of the timeout of the connection. */
  timeoutMs?: number | undefined;
  /** Run it without a database: the one of the options may not exist yet. */
  withoutDatabase?: boolean | undefined;
}

export interface InsertOptions extends StatementOptions {
  body: Uint8Array;
  /** The body is compressed. */
  isGzip?: boolean | undefined;
}

export interface QueryOptions extends StatementOptions {
  /** A larger result is an error. */
  maxBytes?: number | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_RESULT_BYTES = 64 * 1024 ** 2;

/** Connections to one ClickHouse server over HTTP. */
export class ClickHouse {
  readonly database: string;
  /** Where it is, without credentials. */
  readonly shownUrl: string;
  readonly #url: URL;
  readonly #credentials: Credentials;
  readonly #caFile: string | undefined;
  readonly #timeoutMs: number;
  #agent: Agent | undefined;

  constructor({ url, database, timeoutMs = TIMEOUT_MS, caFile, ...credentials }: ClickHouseOptions) {
    this.#url = new URL(url);
    this.shownUrl = `${this.#url.protocol}//${this.#url.host}`;
    this.database = database;
    this.#timeoutMs = timeoutMs;
    this.#caFile = caFile;
    this.#credentials = new Credentials(credentials);
  }

  /** Runs a statement without a result. */
  async execute(sql: string, options: StatementOptions = {}): Promise<void> {
    const settings = { wait_end_of_query: 1, ...options.settings };
    await collect(await this.#send({ ...options, settings, body: Buffer.from(sql) }), MAX_RESULT_BYTES);
  }

  /** Sends rows: `sql` ends with their format. Resolves once the server has stored them. */
  async insert(sql: string, options: InsertOptions): Promise<void> {
    const text = await collect(await this.#send({ ...options, query: sql }), 1024);
    // The status may have been sent before it failed.
    if (text.length > 0)
      throw new ArchiveError('ARCHIVE_FAILED', `unexpected response to an insert: ${text.slice(0, 200)}`);
  }

  /** The rows of a small result, whole or not at all. The statement has no format. */
  async query<T>(sql: string, options: QueryOptions = {}): Promise<T[]> {
    const rows: T[] = [];
    const settings = { wait_end_of_query: 1, ...options.settings };
    for await (const lines of this.stream(sql, { ...options, settings })) {
      for (const line of lines.toString().split('\n')) if (line !== '') rows.push(this.#parse<T>(line));
    }
    return rows;
  }

  /**
   * The rows as JSON lines, whole lines at a time, as the server finds them. An error in the middle throws; a result that
   * ends early never looks complete.
   */
  async *stream(sql: string, options: QueryOptions = {}): AsyncGenerator<Buffer, void, undefined> {
    const { maxBytes = MAX_RESULT_BYTES, ...rest } = options;
    const settings = { output_format_json_quote_64bit_integers: 0, ...rest.settings };
    const body = Buffer.from(`${sql}\nFORMAT JSONEachRow`);
    yield* readLines(await this.#send({ ...rest, settings, body }), maxBytes);
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #parse<T>(line: string): T {
    try {
      return JSON.parse(line) as T;
    } catch (cause) {
      throw new ArchiveError('ARCHIVE_FAILED', `invalid row in the response of ${this.shownUrl}`, { cause });
    }
  }

  /** Once more if a credential was refused that has been replaced since it was read. */
  async #send(statement: Statement): ReturnType<typeof sendRequest> {
    try {
      return await this.#sendOnce(statement);
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== 'ARCHIVE_DENIED') throw error;
      if (error.serverCode === undefined && error.cause !== undefined) this.close();
      if (!(await this.#credentials.hasChanged())) throw error;
      return this.#sendOnce(statement);
    }
  }

  async #sendOnce({ query, body, isGzip, settings, signal, timeoutMs, withoutDatabase }: Statement) {
    signal?.throwIfAborted();
    const url = new URL(this.#url);
    if (!withoutDatabase) url.searchParams.set('database', this.database);
    if (query !== undefined) url.searchParams.set('query', query);
    for (const [name, value] of Object.entries(settings ?? {})) url.searchParams.set(name, String(value));
    const headers = { ...(await this.#credentials.headers()), ...(isGzip && { 'Content-Encoding': 'gzip' }) };
    const caFile = url.protocol === 'https:' ? this.#caFile : undefined;
    this.#agent ??= createAgent(url, caFile === undefined ? undefined : await this.#readCa(caFile));
    const { shownUrl } = this;
    const idleMs = timeoutMs ?? this.#timeoutMs;
    return sendRequest({ url, agent: this.#agent, headers, body, shownUrl, idleMs, signal });
  }

  async #readCa(file: string): Promise<Buffer> {
    try {
      return await readFile(file);
    } catch (cause) {
      throw new ArchiveError('ARCHIVE_DENIED', `cannot read the CA file ${file}: ${errorMessage(cause)}`, { cause });
    }
  }
}

interface Statement extends InsertOptions {
  /** In the URL, if the body is data. */
  query?: string;
}

async function collect(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk.toString();
    if (text.length > maxBytes) break;
  }
  return text;
}
