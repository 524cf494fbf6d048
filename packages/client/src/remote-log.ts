import { encodeFile, type FileRequest, isSameFile, PATHS } from '@porthole/contract';
import type { OpenLog, ReadOptions } from '@porthole/logs/types';
import { bodyBytes, contentLength } from './body-bytes.ts';
import { IDENTITY_ENCODING } from './client-options.ts';
import { ClientError } from './errors/client-error.ts';
import { type ClientDeps, Exchange } from './exchange.ts';
import { rejectPage, sendRequest } from './send-request.ts';

const PATH = PATHS.logRaw;

/** A file of a node. It is not held open there: each read checks that the name still refers to the same file. */
export async function openRemoteLog(request: FileRequest, deps: ClientDeps, signal?: AbortSignal): Promise<OpenLog> {
  const { file } = request;
  const head = await requestHead(request, deps, signal);
  head.close(); // it has no body
  rejectPage(head);
  const sizeBytes = contentLength(head);
  const etag = strongEtag(head.header('etag'));
  if (sizeBytes === undefined || etag === '') throw head.badResponse(`the response of ${PATH} has no size or no ETag`);
  const readings = new Set<AsyncGenerator<Uint8Array, void, undefined>>();
  const controller = new AbortController();
  return {
    name: file,
    sizeBytes,
    modifiedMs: modifiedMs(etag, head.header('last-modified')),
    etag,
    read(start, end, options = {}) {
      if (controller.signal.aborted) throw new TypeError(`${JSON.stringify(file)} is closed`);
      const range = { start: Math.max(0, start), end: Math.min(end, sizeBytes) };
      const reading = readRange({ ...request, etag, ...range }, deps, { ...options, closing: controller.signal });
      readings.add(reading);
      return reading;
    },
    async close() {
      controller.abort();
      await Promise.allSettled(Array.from(readings, (reading) => reading.return()));
    },
  };
}

/** An error response to HEAD has no body and so no code: a GET fetches it. */
async function requestHead(request: FileRequest, deps: ClientDeps, signal: AbortSignal | undefined): Promise<Exchange> {
  const httpRequest = { path: PATH, query: encodeFile(request), headers: IDENTITY_ENCODING, signal };
  try {
    return await sendRequest({ ...httpRequest, method: 'HEAD' }, deps);
  } catch (error) {
    if (!(error instanceof ClientError) || error.status === undefined || error.status < 400) throw error;
    const again = await Exchange.open({ ...httpRequest, headers: { ...IDENTITY_ENCODING, range: 'bytes=0-0' } }, deps);
    again.close();
    throw error;
  }
}

interface ByteRange extends FileRequest {
  etag: string;
  start: number;
  end: number;
}

async function* readRange(
  { etag, start, end, ...request }: ByteRange,
  deps: ClientDeps,
  { signal, closing }: ReadOptions & { closing: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  if (start >= end) return;
  const { file } = request;
  // Either signal aborts it; combined by hand, because `AbortSignal.any` outlives the reads.
  const controller = new AbortController();
  const leave = () => controller.abort(signal?.aborted ? signal.reason : closing.reason);
  if (signal?.aborted || closing.aborted) leave();
  signal?.addEventListener('abort', leave);
  closing.addEventListener('abort', leave);
  try {
    const headers = { ...IDENTITY_ENCODING, range: `bytes=${start}-${end - 1}` };
    const httpRequest = { path: PATH, query: encodeFile(request), headers, signal: controller.signal, isPaced: true };
    const exchange = await sendRequest(httpRequest, deps).catch(async (error: unknown) => {
      if (!(error instanceof ClientError) || error.status !== 416) throw error;
      // The error response does not identify the file.
      const head = await requestHead(request, deps, controller.signal);
      head.close();
      throw isSameFile(etag, strongEtag(head.header('etag'))) ? truncated(file, error) : replaced(file, error);
    });
    try {
      checkRange(exchange, { file, etag, start, end });
      yield* bodyBytes(exchange, { exactBytes: end - start }).chunks;
    } finally {
      exchange.close();
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    closing.removeEventListener('abort', leave);
  }
}

function checkRange(exchange: Exchange, { file, etag, start, end }: ByteRange): void {
  if (!isSameFile(etag, strongEtag(exchange.header('etag')))) throw replaced(file, exchange);
  if (exchange.status !== 206) throw exchange.badResponse(`${PATH} returned the whole file instead of a range`);
  const given = exchange.header('content-range') ?? '';
  if (given.startsWith(`bytes ${start}-${end - 1}/`)) return;
  if (given.startsWith(`bytes ${start}-`)) throw truncated(file, exchange);
  throw exchange.badResponse(`${PATH} did not return the requested range, bytes ${start}-${end - 1}`);
}

function replaced(file: string, { method, url, status }: Exchange | ClientError): ClientError {
  const message = `${JSON.stringify(file)} has changed since it was opened: another file has its name`;
  return new ClientError('PRECONDITION_FAILED', message, { method, url, status });
}

function truncated(file: string, { method, url, status }: Exchange | ClientError): ClientError {
  const message = `${JSON.stringify(file)} was truncated while it was being read`;
  return new ClientError('LOG_FILE_TRUNCATED', message, { method, url, status });
}

/** Proxies that change a response mark its ETag as weak. */
function strongEtag(etag: string | null): string {
  return (etag ?? '').replace(/^W\//, '');
}

/**
 * Last-Modified has only seconds. The last part of the ETag is the modification time in nanoseconds; it is used if both
 * agree.
 */
function modifiedMs(etag: string, lastModified: string | null): number {
  const secondsMs = Date.parse(lastModified ?? '');
  const [, digits = ''] = /^"[0-9a-z]+-[0-9a-z]+-([0-9a-z]{1,14})(?:-[0-9a-z]+)?"$/.exec(etag) ?? [];
  let nanoseconds = 0n;
  for (const digit of digits) nanoseconds = nanoseconds * 36n + BigInt(Number.parseInt(digit, 36));
  const preciseMs = Number(nanoseconds / 1_000_000n);
  return Math.floor(preciseMs / 1000) * 1000 === secondsMs || Number.isNaN(secondsMs) ? preciseMs : secondsMs;
}
