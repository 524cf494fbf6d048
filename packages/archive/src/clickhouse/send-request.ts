import * as http from 'node:http';
import * as https from 'node:https';
import { errorMessage } from '@porthole/contract';
import { ArchiveError, type ArchiveErrorCode } from '../archive-error.ts';

/** Bytes of an error that are read. */
const MAX_ERROR_BYTES = 16 * 1024;

/** One for the batch in flight, some for queries. */
const MAX_SOCKETS = 16;

/** ClickHouse closes idle connections after 3 to 10 seconds, depending on the version: do not meet it at that. */
const KEEP_ALIVE_MS = 2000;

/** Connections to one server; `ca` replaces the usual authorities. */
export function createAgent(url: URL, ca: Buffer | undefined): http.Agent {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, timeout: KEEP_ALIVE_MS };
  return url.protocol === 'https:' ? new https.Agent({ ...options, ...(ca && { ca }) }) : new http.Agent(options);
}

interface SentRequest {
  url: URL;
  agent: http.Agent;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Where it goes, for messages: without credentials. */
  shownUrl: string;
  /** Without a byte for so long, it has failed. */
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request and returns the body of its response once that has succeeded so far. Everything else throws an
 * `ArchiveError` or the reason of the signal, here or from the body: one that ends early never looks complete. The
 * connection is closed unless the body is read to its end.
 */
export async function sendRequest(sent: SentRequest): Promise<AsyncGenerator<Buffer, void, undefined>> {
  const { url, agent, body, shownUrl, idleMs, signal } = sent;
  const headers = { ...sent.headers, 'Content-Length': body.length };
  const options = { method: 'POST', agent, headers, timeout: idleMs, ...(signal && { signal }) };
  const request = url.protocol === 'https:' ? https.request(url, options) : http.request(url, options);
  const connection: Connection = { request, shownUrl, idleMs, signal };
  // For life: a connection can also fail when nobody waits for it.
  request.on('error', (error) => {
    connection.failure ??= error;
  });
  request.end(body);
  const response = await receiveHead(connection);
  if (response === undefined) return sendRequest(sent);
  const chunks = readBody(connection, response);
  if (response.statusCode === 200 && response.headers['x-clickhouse-exception-code'] === undefined) return chunks;
  throw await responseError(chunks, response.statusCode ?? 0, shownUrl);
}

interface Connection extends Pick<SentRequest, 'shownUrl' | 'idleMs' | 'signal'> {
  request: http.ClientRequest;
  /** Why the request failed: what its response fails with afterwards says less. */
  failure?: unknown;
}

/** `undefined`: the server closed an idle connection at the moment it was used. Nothing was received; another one is to be used. */
async function receiveHead(connection: Connection): Promise<http.IncomingMessage | undefined> {
  const { request, shownUrl, signal } = connection;
  try {
    return await new Promise((resolve, reject) => {
      const onTimeout = () => request.destroy(idleError(connection));
      request.on('timeout', onTimeout).on('error', reject);
      request.on('response', (response) => {
        request.off('timeout', onTimeout); // the body has its own: see below
        resolve(response);
      });
      // Not every connection that is closed has failed: that of a 101 has not.
      request.on('close', () => reject(new Error('the connection was closed without a response')));
    });
  } catch (thrown) {
    const isStale = request.reusedSocket && (hasCode(thrown, 'ECONNRESET') || hasCode(thrown, 'EPIPE'));
    if (isStale && !signal?.aborted) return undefined;
    throw toArchiveError(thrown, shownUrl, signal);
  }
}

async function* readBody(
  connection: Connection,
  response: http.IncomingMessage,
): AsyncGenerator<Buffer, void, undefined> {
  // A reader may take its time: only waiting for the server counts.
  let isWaiting = true;
  const timer = setTimeout(() => {
    if (isWaiting) connection.request.destroy(idleError(connection));
  }, connection.idleMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      isWaiting = false;
      yield chunk;
      isWaiting = true;
      timer.refresh();
    }
  } catch (thrown) {
    throw toArchiveError(connection.failure ?? thrown, connection.shownUrl, connection.signal);
  } finally {
    clearTimeout(timer);
  }
}

function idleError({ shownUrl, idleMs }: Connection): ArchiveError {
  return new ArchiveError('ARCHIVE_TIMEOUT', `no response from ${shownUrl} in ${idleMs} ms`);
}

function hasCode(thrown: unknown, code: string): boolean {
  return (thrown as { code?: unknown } | null)?.code === code;
}

async function responseError(chunks: AsyncIterable<Buffer>, status: number, shownUrl: string): Promise<ArchiveError> {
  const known = parseServerError(await readText(chunks, MAX_ERROR_BYTES));
  if (known) return known;
  const isDenied = status === 401 || status === 403;
  const isAway = status === 502 || status === 503 || status === 504;
  const code = isDenied ? 'ARCHIVE_DENIED' : isAway ? 'ARCHIVE_UNREACHABLE' : 'ARCHIVE_FAILED';
  return new ArchiveError(code, `${shownUrl} responded with status ${status}, which is not a response of ClickHouse`);
}

/** A body as text; of a longer one the beginning. */
export async function readText(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk.toString();
    if (text.length > maxBytes) break;
  }
  return text;
}

/** Errors of sockets and of TLS by what they mean. */
function toArchiveError(thrown: unknown, shownUrl: string, signal: AbortSignal | undefined): unknown {
  if (thrown instanceof ArchiveError) return thrown;
  if (signal?.aborted) return signal.reason;
  const code = String((thrown as { code?: unknown } | null)?.code ?? '');
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ALTNAME/.test(code);
  return new ArchiveError(
    isCertificate ? 'ARCHIVE_DENIED' : 'ARCHIVE_UNREACHABLE',
    `${isCertificate ? 'cannot trust' : 'cannot reach'} ${shownUrl}: ${errorMessage(thrown) || code}`,
    { cause: thrown },
  );
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
export function parseServerError(text: string): ArchiveError | undefined {
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
