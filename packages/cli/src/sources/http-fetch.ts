// owner: a listener from birth; the reader of the body gets what comes after the head
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { PortholeError } from '@porthole/contract';
import type { ClientTls } from './tls-files.ts';

/** What the SDK uses of a request and of its response. */
type Init = Pick<RequestInit, 'method' | 'body' | 'signal'> & { headers?: Record<string, string> };
type FetchResponse = Pick<Response, 'status' | 'ok' | 'type'> & {
  headers: Pick<Headers, 'get'>;
  body: { getReader(): Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'> };
};

/**
 * A fetch on node:http with what the SDK uses of one. The global one compiles its parser at the first call, which takes longer
 * than most commands. Failures of TLS are explained and not retried: they last.
 */
export function createHttpFetch(tls: ClientTls = {}): typeof fetch {
  return ((url: string, init?: Init): Promise<FetchResponse> => send(url, init, tls)) as typeof fetch;
}

async function send(
  url: string,
  { method = 'GET', body, headers, signal }: Init = {},
  tls: ClientTls,
): Promise<FetchResponse> {
  const isTls = /^https:/i.test(url);
  const options: RequestOptions & ClientTls = {
    method,
    ...(headers && { headers }),
    ...(signal && { signal }),
    ...(isTls && tls),
  };
  // owner: a listener from birth; the reader of the body gets what comes after the head
  const request = isTls ? (await import('node:https')).request : requestHttp;
  return new Promise((resolve, reject) => {
    /** It has a response, or a reason why not. */
    let isSettled = false;
    const sent = request(url, options, (response) => {
      isSettled = true;
      resolve(describeResponse(response));
    });
    sent.on('error', (cause) => {
      // Once the response has come, its reader gets the error.
      if (!isSettled) explainFailure(cause).then(reject, reject);
      isSettled = true;
    });
    sent.on('close', () => {
      // Not every connection that is closed has failed: that of a 101 has not.
      if (!isSettled) reject(new TypeError('fetch failed', { cause: new Error('closed without a response') }));
    });
    sent.end(body);
  });

  async function explainFailure(cause: Error): Promise<Error> {
    if (!signal?.aborted) {
      const { explainTlsFailure } = await import('./explain-tls.ts');
      const reason = await explainTlsFailure({ url, hasCertificate: tls.cert !== undefined, error: cause });
      if (reason !== undefined) return new PortholeError('UNREACHABLE', reason, { cause });
    }
    // As the global one: the cause is what the SDK shows.
    return new TypeError('fetch failed', { cause });
  }
}

function describeResponse(response: IncomingMessage): FetchResponse {
  const status = response.statusCode ?? 0;
  return {
    status,
    ok: status >= 200 && status < 300,
    type: 'default',
    headers: { get: (name) => response.headersDistinct[name.toLowerCase()]?.join(', ') ?? null },
    body: { getReader: () => createReader(response) },
  };
}

function createReader(response: IncomingMessage): ReturnType<FetchResponse['body']['getReader']> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array<ArrayBuffer>, undefined>;
  return {
    async read() {
      const { done, value } = await chunks.next();
      return value === undefined || done ? { done: true, value: undefined } : { done: false, value };
    },
    async cancel() {
      response.destroy();
    },
  };
}
