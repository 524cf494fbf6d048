// owner: a listener from birth, a deadline, and a limit of bytes; an error is the answer
import { type IncomingHttpHeaders, type RequestOptions, request as requestHttp } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '@porthole/contract';
import type { ClientTls } from '../../sources/tls-files.ts';

/** No more of a response is read: a node under test may send anything. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A response that takes longer counts as a failure of the node. */
const TIMEOUT_MS = 30_000;

/** How long a view is left unread after `during`, so that what the node has read ahead is not all that it sends. */
const PAUSE_MS = 200;

/** The node under test. */
export interface Target {
  /** Without a slash at the end. */
  url: string;
  token: string | undefined;
  tls: ClientTls;
  signal: AbortSignal;
}

export interface Sent {
  method?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Runs after the first bytes of the body have come, while the rest is not read. */
  during?: () => Promise<void>;
}

export interface Received {
  /** 0: no response came. */
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Why the response is not complete, or has more than it announced. */
  failure: string | undefined;
  /** The end is announced by a length or by the last chunk, not just by a closed connection. */
  isDelimited: boolean;
  /** The code of the system for a connection that failed. */
  errorCode: string | undefined;
}

/**
 * Sends one request on a connection of its own and reads all of its response. It never rejects for what the node does; what
 * went wrong is in what was received.
 */
export async function exchange(target: Target, path: string, sent: Sent = {}): Promise<Received> {
  const { method = 'GET', query = {}, headers = {}, during } = sent;
  const parameters = new URLSearchParams(query).toString();
  const url = `${target.url}${path}${parameters && `?${parameters}`}`;
  const isTls = /^https:/i.test(url);
  // owner: a listener from birth, a deadline, and a limit of bytes; an error is the answer
  const request = isTls ? (await import('node:https')).request : requestHttp;
  const options: RequestOptions = {
    method,
    agent: false,
    signal: AbortSignal.any([target.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      connection: 'close',
      ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
      ...headers,
    },
    ...(isTls && target.tls),
  };
  const received: Received = {
    status: 0,
    headers: {},
    body: Buffer.alloc(0),
    failure: undefined,
    isDelimited: true,
    errorCode: undefined,
  };
  const fail = (reason: string) => {
    received.failure ??= reason;
  };
  await new Promise<void>((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isComplete = false;
    const outgoing = request(url, options, (response) => {
      received.status = response.statusCode ?? 0;
      received.headers = response.headers;
      received.isDelimited =
        response.headers['content-length'] !== undefined ||
        /\bchunked\b/i.test(response.headers['transfer-encoding'] ?? '') ||
        method === 'HEAD';
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BYTES) outgoing.destroy(new Error(`more than ${MAX_BYTES} bytes`));
        else if (during && chunks.length === 1) {
          response.pause();
          during()
            .then(() => sleep(PAUSE_MS))
            .then(() => response.resume())
            .catch((error: unknown) => outgoing.destroy(new Error(errorMessage(error), { cause: error })));
        }
      });
      response.on('end', () => {
        isComplete = response.complete;
      });
      response.on('error', (error) => fail(error.message));
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      received.errorCode = error.code;
      fail(target.signal.aborted ? 'interrupted' : error.message);
    });
    // Only now it is known that nothing follows the end of the response.
    outgoing.on('close', () => {
      received.body = Buffer.concat(chunks);
      if (!isComplete) fail('the connection was closed before the end of the response');
      resolve();
    });
    outgoing.end();
  });
  target.signal.throwIfAborted();
  return received;
}
