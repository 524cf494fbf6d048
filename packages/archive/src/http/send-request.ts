// owner: a listener from birth; the body is read with an idle time and fails if it is cut
import * as http from 'node:http';
// owner: a listener from birth; the body is read with an idle time and fails if it is cut
import * as https from 'node:https';
import { errorMessage } from '@porthole/contract';
import { SinkError } from '../sink-error.ts';

/** One for the batch in flight, some for queries. */
const MAX_SOCKETS = 16;

/** ClickHouse closes idle connections after 3 to 10 seconds, depending on the version: do not meet it at that. */
const KEEP_ALIVE_MS = 2000;

export type Agent = http.Agent;

/** Connections to one server; `ca` replaces the usual authorities. */
export function createAgent(url: URL, tls: { ca?: Buffer; cert?: Buffer; key?: Buffer }): Agent {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, timeout: KEEP_ALIVE_MS };
  return url.protocol === 'https:' ? new https.Agent({ ...options, ...tls }) : new http.Agent(options);
}

export interface SentRequest {
  url: URL;
  agent: Agent;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Where it goes, for messages: without credentials. */
  shownUrl: string;
  /** Without a byte for so long, it has failed. */
  idleMs: number;
  signal?: AbortSignal | undefined;
  /** What is thrown if the server cannot be reached, not be trusted, or is too slow. */
  fail(kind: 'UNREACHABLE' | 'DENIED' | 'TIMEOUT', message: string, cause?: unknown): SinkError;
}

export interface ReceivedResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: AsyncGenerator<Buffer, void, undefined>;
}

/**
 * Sends a request and returns its response, whatever its status. What fails throws what `fail` makes of it or the reason
 * of the signal, here or from the body: one that ends early never looks complete. The connection is closed unless the body
 * is read to its end.
 */
export async function sendRequest(sent: SentRequest): Promise<ReceivedResponse> {
  const { url, agent, body, shownUrl, idleMs, signal, fail } = sent;
  const headers = { ...sent.headers, 'Content-Length': body.length };
  const options = { method: 'POST', agent, headers, timeout: idleMs, ...(signal && { signal }) };
  const request = url.protocol === 'https:' ? https.request(url, options) : http.request(url, options);
  const connection: Connection = { request, shownUrl, idleMs, signal, fail };
  // For life: a connection can also fail when nobody waits for it.
  request.on('error', (error) => {
    connection.failure ??= error;
  });
  request.end(body);
  const response = await receiveHead(connection);
  if (response === undefined) return sendRequest(sent);
  return { status: response.statusCode ?? 0, headers: response.headers, body: readBody(connection, response) };
}

interface Connection extends Pick<SentRequest, 'shownUrl' | 'idleMs' | 'signal' | 'fail'> {
  request: http.ClientRequest;
  /** Why the request failed: what its response fails with afterwards says less. */
  failure?: unknown;
}

/** `undefined`: the server closed an idle connection at the moment it was used. Nothing was received; another one is to be used. */
async function receiveHead(connection: Connection): Promise<http.IncomingMessage | undefined> {
  const { request, signal } = connection;
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
    throw toSinkError(thrown, connection);
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
    throw toSinkError(connection.failure ?? thrown, connection);
  } finally {
    clearTimeout(timer);
  }
}

function idleError({ shownUrl, idleMs, fail }: Connection): SinkError {
  return fail('TIMEOUT', `no response from ${shownUrl} in ${idleMs} ms`);
}

function hasCode(thrown: unknown, code: string): boolean {
  return (thrown as { code?: unknown } | null)?.code === code;
}

/** A body; of a longer one the beginning. */
export async function readStart(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    read.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(read);
}

/** Errors of sockets and of TLS by what they mean. */
function toSinkError(thrown: unknown, { shownUrl, signal, fail }: Connection): unknown {
  if (thrown instanceof SinkError) return thrown;
  if (signal?.aborted) return signal.reason;
  const code = String((thrown as { code?: unknown } | null)?.code ?? '');
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ALTNAME/.test(code);
  const what = isCertificate ? 'cannot trust' : 'cannot reach';
  const message = `${what} ${shownUrl}: ${errorMessage(thrown) || code}`;
  return fail(isCertificate ? 'DENIED' : 'UNREACHABLE', message, thrown);
}
