import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { ArchiveError } from '../archive-error.ts';
import { messageOf } from './credentials.ts';
import { parseServerError } from './server-error.ts';

/** Bytes of an error that are read. */
const MAX_ERROR_BYTES = 16 * 1024;

export interface SentRequest {
  request(options: RequestOptions): ClientRequest;
  options: RequestOptions;
  body: Uint8Array;
  /** Where it goes, for messages: without credentials. */
  shownUrl: string;
  /** Without a byte for so long, it has failed. */
  idleMs: number;
}

/** Sends a request and returns its response once that has succeeded so far; everything else throws an `ArchiveError`. */
export async function sendRequest({ request, options, body, shownUrl, idleMs }: SentRequest): Promise<IncomingMessage> {
  const sent = request({ ...options, timeout: idleMs });
  sent.on('timeout', () =>
    sent.destroy(new ArchiveError('ARCHIVE_TIMEOUT', `no response from ${shownUrl} in ${idleMs} ms`)),
  );
  sent.end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (response.statusCode === 200 && response.headers['x-clickhouse-exception-code'] === undefined) return response;
    throw await responseError(response, shownUrl);
  } catch (thrown) {
    // The server closed an idle connection at the moment it was used: nothing was received. Another one is used.
    const isStale = sent.reusedSocket && (hasCode(thrown, 'ECONNRESET') || hasCode(thrown, 'EPIPE'));
    if (isStale && !options.signal?.aborted) return sendRequest({ request, options, body, shownUrl, idleMs });
    throw toArchiveError(thrown, shownUrl, options.signal);
  }
}

function hasCode(thrown: unknown, code: string): boolean {
  return (thrown as { code?: unknown } | null)?.code === code;
}

async function responseError(response: IncomingMessage, shownUrl: string): Promise<ArchiveError> {
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.length > MAX_ERROR_BYTES) break;
  }
  const { statusCode = 0 } = response;
  const known = parseServerError(text);
  if (known) return known;
  const isDenied = statusCode === 401 || statusCode === 403;
  const isAway = statusCode === 502 || statusCode === 503 || statusCode === 504;
  const code = isDenied ? 'ARCHIVE_DENIED' : isAway ? 'ARCHIVE_UNREACHABLE' : 'ARCHIVE_FAILED';
  return new ArchiveError(
    code,
    `${shownUrl} responded with status ${statusCode}, which is not a response of ClickHouse`,
  );
}

/** Errors of sockets and of TLS by what they mean. */
export function toArchiveError(thrown: unknown, shownUrl: string, signal?: AbortSignal): unknown {
  if (thrown instanceof ArchiveError) return thrown;
  if (signal?.aborted) return signal.reason;
  const code = String((thrown as { code?: unknown } | null)?.code ?? '');
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ALTNAME/.test(code);
  return new ArchiveError(
    isCertificate ? 'ARCHIVE_DENIED' : 'ARCHIVE_UNREACHABLE',
    `${isCertificate ? 'cannot trust' : 'cannot reach'} ${shownUrl}: ${messageOf(thrown) || code}`,
    { cause: thrown },
  );
}
