import { encodeFile, type FileRequest, isSameFile, PATHS } from '@porthole/contract';
import type { OpenLog, ReadOptions } from '@porthole/logs/types';
import { askStream, refusePage } from './ask.ts';
import { announcedBytes, bodyBytes } from './body-bytes.ts';
import { ClientError } from './client-error.ts';
import { Exchange } from './exchange.ts';
import type { AskParts } from './question.ts';

const PATH = PATHS.logRaw;

/** Compressed on its way, ranges and lengths would be of something else. Browsers see to it themselves. */
export const AS_IT_IS = { 'accept-encoding': 'identity' } as const;

/** A file of a node. Nothing is held open there: each reading looks whether the name still leads to the same file. */
export async function openRemoteLog(request: FileRequest, parts: AskParts, signal?: AbortSignal): Promise<OpenLog> {
  const { file } = request;
  const head = await askHead(request, parts, signal);
  head.close(); // it has no body
  refusePage(head);
  const sizeBytes = announcedBytes(head);
  const etag = strong(head.header('etag'));
  if (sizeBytes === undefined || etag === '') throw head.badAnswer(`the answer of ${PATH} tells no size or no ETag`);
  const readings = new Set<AsyncGenerator<Uint8Array, void, undefined>>();
  const leaving = new AbortController();
  return {
    name: file,
    sizeBytes,
    modifiedMs: modifiedMs(etag, head.header('last-modified')),
    etag,
    read(start, end, options = {}) {
      if (leaving.signal.aborted) throw new TypeError(`${JSON.stringify(file)} is closed`);
      const range = { start: Math.max(0, start), end: Math.min(end, sizeBytes) };
      const reading = readRange({ ...request, etag, ...range }, parts, { ...options, closing: leaving.signal });
      readings.add(reading);
      return reading;
    },
    async close() {
      leaving.abort();
      await Promise.allSettled(Array.from(readings, (reading) => reading.return()));
    },
  };
}

/** An error that answers HEAD has no body and so no code: GET is asked for it. */
async function askHead(request: FileRequest, parts: AskParts, signal: AbortSignal | undefined): Promise<Exchange> {
  const question = { path: PATH, query: encodeFile(request), headers: AS_IT_IS, signal };
  try {
    return await askStream({ ...question, method: 'HEAD' }, parts);
  } catch (error) {
    if (!(error instanceof ClientError) || error.status === undefined || error.status < 400) throw error;
    const again = await Exchange.open({ ...question, headers: { ...AS_IT_IS, range: 'bytes=0-0' } }, parts);
    again.close();
    throw error;
  }
}

interface Part extends FileRequest {
  etag: string;
  start: number;
  end: number;
}

async function* readRange(
  { etag, start, end, ...request }: Part,
  parts: AskParts,
  { signal, closing }: ReadOptions & { closing: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  if (start >= end) return;
  const { file } = request;
  // Both end it; one that is listened to by hand, because a signal made of several outlives its readings.
  const leaving = new AbortController();
  const leave = () => leaving.abort(signal?.aborted ? signal.reason : closing.reason);
  if (signal?.aborted || closing.aborted) leave();
  signal?.addEventListener('abort', leave);
  closing.addEventListener('abort', leave);
  try {
    const headers = { ...AS_IT_IS, range: `bytes=${start}-${end - 1}` };
    const question = { path: PATH, query: encodeFile(request), headers, signal: leaving.signal, isPaced: true };
    const exchange = await askStream(question, parts).catch(async (error: unknown) => {
      if (!(error instanceof ClientError) || error.status !== 416) throw error;
      // The refusal does not tell of which file.
      const head = await askHead(request, parts, leaving.signal);
      head.close();
      throw isSameFile(etag, strong(head.header('etag'))) ? truncated(file, error) : replaced(file, error);
    });
    try {
      checkPart(exchange, { file, etag, start, end });
      yield* bodyBytes(exchange, { maxBytes: end - start }).chunks;
    } finally {
      exchange.close();
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    closing.removeEventListener('abort', leave);
  }
}

function checkPart(exchange: Exchange, { file, etag, start, end }: Part): void {
  if (!isSameFile(etag, strong(exchange.header('etag')))) throw replaced(file, exchange);
  if (exchange.status !== 206) throw exchange.badAnswer(`${PATH} answers a part with the whole file`);
  const given = exchange.header('content-range') ?? '';
  if (given.startsWith(`bytes ${start}-${end - 1}/`)) return;
  if (given.startsWith(`bytes ${start}-`)) throw truncated(file, exchange);
  throw exchange.badAnswer(`${PATH} gives another range than bytes ${start}-${end - 1}, which were asked for`);
}

function replaced(file: string, { method, url, status }: Exchange | ClientError): ClientError {
  const message = `${JSON.stringify(file)} has changed since it was opened: another file has its name`;
  return new ClientError('PRECONDITION_FAILED', message, { method, url, status });
}

function truncated(file: string, { method, url, status }: Exchange | ClientError): ClientError {
  const message = `${JSON.stringify(file)} became shorter while it was read`;
  return new ClientError('LOG_FILE_TRUNCATED', message, { method, url, status });
}

/** Proxies that change an answer mark its tag as weak. */
function strong(etag: string | null): string {
  return (etag ?? '').replace(/^W\//, '');
}

/**
 * Last-Modified has only seconds. The last part of a node's tag is the time of the last write in nanoseconds; it is
 * believed where both agree.
 */
function modifiedMs(etag: string, lastModified: string | null): number {
  const secondsMs = Date.parse(lastModified ?? '');
  const [, digits = ''] = /^"[0-9a-z]+-[0-9a-z]+-([0-9a-z]{1,14})(?:-[0-9a-z]+)?"$/.exec(etag) ?? [];
  let nanoseconds = 0n;
  for (const digit of digits) nanoseconds = nanoseconds * 36n + BigInt(Number.parseInt(digit, 36));
  const preciseMs = Number(nanoseconds / 1_000_000n);
  return Math.floor(preciseMs / 1000) * 1000 === secondsMs || Number.isNaN(secondsMs) ? preciseMs : secondsMs;
}
