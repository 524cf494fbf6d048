import { readFile } from 'node:fs/promises';
import { errorMessage } from '@porthole/contract';
import { ArchiveError, type ArchiveErrorCode } from '../archive-error.ts';
import { type Agent, createAgent, readStart, type SentRequest, sendRequest } from '../http/send-request.ts';

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

interface StatementOptions {
  /** Settings of ClickHouse for this statement. */
  settings?: Readonly<Record<string, string | number>> | undefined;
  signal?: AbortSignal | undefined;
  /** Instead of the timeout of the connection. */
  timeoutMs?: number | undefined;
  /** Run it without a database: the one of the options may not exist yet. */
  withoutDatabase?: boolean | undefined;
}

interface InsertOptions extends StatementOptions {
  body: Uint8Array;
  /** The body is compressed. */
  isGzip?: boolean | undefined;
}

interface QueryOptions extends StatementOptions {
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
    await readStart(await this.#send({ ...options, settings, body: Buffer.from(sql) }), MAX_RESULT_BYTES);
  }

  /** Sends rows: `sql` ends with their format. Resolves once the server has stored them. */
  async insert(sql: string, options: InsertOptions): Promise<void> {
    const text = (await readStart(await this.#send({ ...options, query: sql }), 1024)).toString();
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
  async #send(statement: Statement): Promise<Chunks> {
    try {
      return await this.#sendOnce(statement);
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== 'ARCHIVE_DENIED') throw error;
      if (error.serverCode === undefined && error.cause !== undefined) this.close();
      if (!(await this.#credentials.hasChanged())) throw error;
      return this.#sendOnce(statement);
    }
  }

  async #sendOnce({ query, body, isGzip, settings, signal, timeoutMs, withoutDatabase }: Statement): Promise<Chunks> {
    signal?.throwIfAborted();
    const url = new URL(this.#url);
    if (!withoutDatabase) url.searchParams.set('database', this.database);
    if (query !== undefined) url.searchParams.set('query', query);
    for (const [name, value] of Object.entries(settings ?? {})) url.searchParams.set(name, String(value));
    const headers = { ...(await this.#credentials.headers()), ...(isGzip && { 'Content-Encoding': 'gzip' }) };
    const caFile = url.protocol === 'https:' ? this.#caFile : undefined;
    this.#agent ??= createAgent(url, caFile === undefined ? {} : { ca: await this.#readCa(caFile) });
    const { shownUrl } = this;
    const idleMs = timeoutMs ?? this.#timeoutMs;
    const sent = { url, agent: this.#agent, headers, body, shownUrl, idleMs, signal, fail };
    const response = await sendRequest(sent);
    if (response.status === 200 && response.headers['x-clickhouse-exception-code'] === undefined) return response.body;
    throw await responseError(response.body, response.status, shownUrl);
  }

  async #readCa(file: string): Promise<Buffer> {
    try {
      return await readFile(file);
    } catch (cause) {
      throw new ArchiveError('ARCHIVE_DENIED', `cannot read the CA file ${file}: ${errorMessage(cause)}`, { cause });
    }
  }
}

type Chunks = AsyncGenerator<Buffer, void, undefined>;

const fail: SentRequest['fail'] = (kind, message, cause) => new ArchiveError(`ARCHIVE_${kind}`, message, { cause });

interface Statement extends InsertOptions {
  /** In the URL, if the body is data. */
  query?: string;
}

/** Longer files hold something else. */
const MAX_PASSWORD_BYTES = 4096;

/** A user and the file its password is in, which may be replaced at any time. */
class Credentials {
  readonly #user: string | undefined;
  readonly #file: string | undefined;
  #password: string | undefined;

  constructor({ user, passwordFile }: { user?: string | undefined; passwordFile?: string | undefined }) {
    this.#user = user;
    this.#file = passwordFile;
  }

  /** Headers, not parameters: addresses end up in logs. */
  async headers(): Promise<Record<string, string>> {
    if (this.#user === undefined) return {};
    this.#password ??= await this.#read();
    return { 'X-ClickHouse-User': this.#user, 'X-ClickHouse-Key': this.#password };
  }

  /** Reads the file again; whether it has another password than the one that was refused. */
  async hasChanged(): Promise<boolean> {
    if (this.#file === undefined) return false;
    const before = this.#password;
    this.#password = await this.#read();
    return this.#password !== before;
  }

  async #read(): Promise<string> {
    if (this.#file === undefined) return '';
    try {
      const text = await readFile(this.#file, 'utf8');
      if (text.length <= MAX_PASSWORD_BYTES) return text.replace(/\r?\n$/, '');
    } catch (cause) {
      throw new ArchiveError('ARCHIVE_DENIED', `cannot read the password file ${this.#file}: ${errorMessage(cause)}`, {
        cause,
      });
    }
    throw new ArchiveError(
      'ARCHIVE_DENIED',
      `the password file ${this.#file} has more than ${MAX_PASSWORD_BYTES} bytes`,
    );
  }
}

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** No row is longer: a record has at most 64 KiB, and escaped twice at most a few hundred. */
const MAX_LINE_BYTES = 8 * 1024 ** 2;

/**
 * Splits a response into buffers of whole rows. What is not a row is an error: once rows have been sent, the server can
 * only report it behind them, perhaps in the middle of one.
 */
async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let left = maxBytes;
  /** From the first byte on that is not of a row. */
  let failure: Buffer | undefined;
  for await (const chunk of chunks) {
    if (failure) {
      if (failure.length < MAX_ERROR_BYTES) failure = Buffer.concat([failure, chunk]);
      continue;
    }
    left -= chunk.length;
    if (left < 0)
      throw new ArchiveError('ARCHIVE_FAILED', `the response has more than ${maxBytes} bytes: narrow the query`);
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    held = bytes.subarray(end);
    if (held.length > MAX_LINE_BYTES)
      throw new ArchiveError('ARCHIVE_FAILED', 'the response has a row that is too long');
    if (end === 0) continue;
    const rows = rowsEnd(bytes, end);
    if (rows > 0) yield bytes.subarray(0, rows);
    if (rows < end) failure = bytes.subarray(rows);
  }
  const rest = failure ?? held;
  if (rest.length > 0) throw serverError(rest.toString());
}

/** How servers from 23.9 to 25.10 write an exception as the last row, unless they are told not to; older ones know no such setting. */
const EXCEPTION_ROW = Buffer.from('{"exception":');

/** The end of the rows at the start of some lines. */
function rowsEnd(bytes: Buffer, end: number): number {
  for (let start = 0; start < end; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (bytes[start] !== OPEN_BRACE || bytes[newline - 1] !== CLOSE_BRACE) return start;
    if (bytes.subarray(start, start + EXCEPTION_ROW.length).equals(EXCEPTION_ROW)) return start;
    start = newline + 1;
  }
  return end;
}

/**
 * An exception behind rows: as a row, or from 25.11 on as `__exception__ TAG MESSAGE SIZE TAG __exception__` on lines of their
 * own, perhaps in the middle of a row. What is in front of it may be of a record, and look like one.
 */
const TAGGED = /__exception__\s*(\w+)\r?\n([\s\S]*?)\r?\n\d+ \1\s*__exception__\s*$/;

function serverError(text: string): ArchiveError {
  const [, , tagged] = TAGGED.exec(text) ?? [];
  const message = tagged ?? text.replace(/"}\s*$/, '');
  const at = message.search(/Code: \d{1,5}[,.] /);
  const found = at < 0 ? undefined : parseServerError(message.slice(at));
  return found ?? new ArchiveError('ARCHIVE_FAILED', 'the response ends in the middle of a row');
}

/** Bytes of an error that are read. */
const MAX_ERROR_BYTES = 16 * 1024;

async function responseError(chunks: AsyncIterable<Buffer>, status: number, shownUrl: string): Promise<ArchiveError> {
  const known = parseServerError((await readStart(chunks, MAX_ERROR_BYTES)).toString());
  if (known) return known;
  const isDenied = status === 401 || status === 403;
  const isAway = status === 502 || status === 503 || status === 504;
  const code = isDenied ? 'ARCHIVE_DENIED' : isAway ? 'ARCHIVE_UNREACHABLE' : 'ARCHIVE_FAILED';
  return new ArchiveError(code, `${shownUrl} responded with status ${status}, which is not a response of ClickHouse`);
}

/** ClickHouse's numbers of errors that call for something else than "it failed". */
const CODES: ReadonlyMap<number, ArchiveErrorCode> = new Map([
  [192, 'ARCHIVE_DENIED'], // unknown user
  [193, 'ARCHIVE_DENIED'], // wrong password
  [194, 'ARCHIVE_DENIED'], // a password is required
  [195, 'ARCHIVE_DENIED'], // the address is not allowed
  [497, 'ARCHIVE_DENIED'], // a grant is missing
  [516, 'ARCHIVE_DENIED'], // authentication failed
  [164, 'ARCHIVE_DENIED'], // the user may only read
  [291, 'ARCHIVE_DENIED'], // the database is not allowed
  [243, 'ARCHIVE_FULL'], // no space
  [76, 'ARCHIVE_FULL'], // a file cannot be opened for writing
  [75, 'ARCHIVE_FULL'], // a file cannot be written
  [16, 'ARCHIVE_SCHEMA'], // no such column
  [47, 'ARCHIVE_SCHEMA'], // unknown identifier
  [60, 'ARCHIVE_SCHEMA'], // unknown table
  [81, 'ARCHIVE_SCHEMA'], // unknown database
  [117, 'ARCHIVE_SCHEMA'], // a field of a row has no column
  [159, 'ARCHIVE_TIMEOUT'],
  [160, 'ARCHIVE_TIMEOUT'], // estimated to be too slow
  [209, 'ARCHIVE_TIMEOUT'], // on a socket
  [201, 'ARCHIVE_BUSY'], // quota
  [202, 'ARCHIVE_BUSY'], // simultaneous queries
  [241, 'ARCHIVE_BUSY'], // memory
  [252, 'ARCHIVE_BUSY'], // parts
  [242, 'ARCHIVE_BUSY'], // the replica is read-only: it has no ZooKeeper
  [319, 'ARCHIVE_BUSY'], // not known whether the insert has reached a quorum
]);

/** What texts of errors are cut to: they may repeat the query, or rows. */
const MAX_DETAIL = 300;

/** The error in the body of a response, or in the middle of one: the status was sent before it happened. */
function parseServerError(text: string): ArchiveError | undefined {
  const [, number] = /^Code: (\d{1,5})[,.]/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const serverCode = Number(number);
  // Without the dialect of the version around it, and without the stack trace.
  const detail = text
    .replace(/^Code: \d+[,.]\s*(e\.displayText\(\) = )?/, '')
    .replace(/, e\.what\(\) = [\s\S]*$/, '')
    .replace(/\s*Stack trace:[\s\S]*$/, '')
    .replace(/^DB::(Net)?Exception: /, '')
    .trim();
  const code = isFull(detail) ? 'ARCHIVE_FULL' : (CODES.get(serverCode) ?? 'ARCHIVE_FAILED');
  return new ArchiveError(code, `ClickHouse error ${serverCode}: ${shorten(detail)}`, { serverCode });
}

/** Reported by several numbers, some of them of the operating system. */
function isFull(detail: string): boolean {
  return /No space left on device|errno: 28\b|not enough space/i.test(detail);
}

function shorten(detail: string): string {
  return detail.length <= MAX_DETAIL ? detail : `${detail.slice(0, MAX_DETAIL)}…`;
}
