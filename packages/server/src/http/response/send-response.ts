import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { SizedBytes } from '@porthole/contract';
import { OneChunk } from '@porthole/logs';
import { ClientDisconnected, ReaderStalled } from '../../transport/deadline.ts';
import type { HttpResponse } from '../request/http-exchange.ts';
import { type RouteResponse, streamBytes } from './route-response.ts';

/** For responses without their own policy. The pages need one style sheet and one image of their own origin. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every response. */
const SECURITY_HEADERS = [
  'cross-origin-resource-policy',
  'same-origin',
  'referrer-policy',
  'no-referrer',
  'x-content-type-options',
  'nosniff',
  'x-frame-options',
  'DENY',
] as const;

/** Lists of header objects that are used again and again, which are frozen. */
const KNOWN_LISTS = new WeakMap<OutgoingHttpHeaders, readonly string[]>();

/** A flat list: merging header objects costs a tenth of the throughput of small responses. */
function toList(headers: OutgoingHttpHeaders): string[] {
  const list: string[] = [...SECURITY_HEADERS];
  if (headers['content-security-policy'] === undefined) list.push('content-security-policy', CONTENT_SECURITY_POLICY);
  if (headers['cache-control'] === undefined) list.push('cache-control', 'no-store');
  for (const name in headers) list.push(name, String(headers[name]));
  if (Object.isFrozen(headers)) KNOWN_LISTS.set(headers, list.slice());
  return list;
}

/**
 * Writes a response; resolves when the last byte is flushed, rejects when the client disconnects or the source fails. The
 * caller must call `writer.closed()` when the connection closes meanwhile. `undefined`: all of it is flushed already.
 */
export function sendResponse(
  writer: ResponseWriter,
  response: RouteResponse,
  { headOnly }: { headOnly: boolean },
): Promise<void> | undefined {
  const isStream = 'stream' in response;
  const sizeBytes = isStream ? streamBytes(response.stream) : Buffer.byteLength(response.body);
  const empty = response.status === 304 || response.status === 204;
  const head = () => writer.head(response.status, response.headers, empty ? undefined : sizeBytes);
  const hasBody = !(headOnly || empty || sizeBytes === 0);
  if (hasBody && isStream && response.stream.chunks instanceof SizedBytes)
    return sendSized(writer, head, response.stream.chunks);
  head();
  if (!hasBody) return writer.end();
  if (!isStream) return writer.end(typeof response.body === 'string' ? Buffer.from(response.body) : response.body);
  const { chunks } = response.stream;
  return chunks instanceof OneChunk ? writer.end(chunks.bytes) : sendOpenEnded(writer, chunks);
}

/** The head is sent with the first chunk: a source that fails before it still gets its status. */
async function sendSized(writer: ResponseWriter, head: () => void, bytes: SizedBytes): Promise<void> {
  let remainingBytes = bytes.sizeBytes;
  for await (const chunk of bytes) {
    if (remainingBytes === bytes.sizeBytes) head();
    remainingBytes -= chunk.length;
    // Waiting for the flush allows the chunk's memory to be reused, and provides backpressure.
    await (remainingBytes > 0 ? writer.write(chunk) : writer.end(chunk));
  }
}

/** The first chunk may take long; the head is sent at once. */
async function sendOpenEnded(writer: ResponseWriter, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  writer.flushHead();
  for await (const chunk of chunks) if (chunk.length > 0) await writer.write(chunk);
  return writer.end();
}

/**
 * Writes as promises, which settle with the callback of the write or, if the connection is lost, with the close. Ends the
 * response once: what is written to it after that is a mistake, which Node.js would emit as an event.
 */
export class ResponseWriter {
  readonly #response: HttpResponse;
  #isEnded = false;
  #pending: ((reason: Error) => void) | undefined;
  #sentBytes = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  /** Bytes of the body that are flushed. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  head(status: number, headers: OutgoingHttpHeaders, sizeBytes: number | undefined): void {
    const list = KNOWN_LISTS.get(headers)?.slice() ?? toList(headers);
    if (sizeBytes !== undefined) list.push('content-length', String(sizeBytes));
    this.#response.writeHead(status, list);
  }

  flushHead(): void {
    this.#response.flushHeaders();
  }

  write(bytes: Uint8Array): Promise<void> {
    this.#requireOpen();
    return this.#settled(bytes.length, (done) => this.#response.write(bytes, done));
  }

  /** `undefined`: everything is flushed. */
  end(bytes?: Uint8Array): Promise<void> | undefined {
    this.#requireOpen();
    this.#isEnded = true;
    const response = this.#response;
    const count = bytes?.length ?? 0;
    if (!(response instanceof ServerResponse) || response.destroyed)
      return this.#settled(count, (done) => response.end(bytes, done));
    // Most short responses are taken by the system at once: neither a listener nor a promise is needed for them.
    response.end(bytes);
    if (!isFlushed(response)) return this.#settled(count, (done) => response.once('finish', done));
    this.#sentBytes += count;
    return undefined;
  }

  /** `writableFinished` does not help: it is true when the connection is lost after `end`, although no callback is called. */
  closed(): void {
    this.#pending?.(this.#why());
  }

  #requireOpen(): void {
    if (this.#isEnded) throw new Error('the response has ended already');
  }

  #settled(count: number, start: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#response.destroyed) return reject(this.#why());
      this.#pending = reject;
      start((error) => {
        this.#pending = undefined;
        if (error) return reject(this.#why());
        this.#sentBytes += count;
        resolve();
      });
    });
  }

  /** Whatever error a write fails with, the connection is lost, unless we ended it because the client stalled. */
  #why(): Error {
    const { errored } = this.#response;
    return errored instanceof ReaderStalled ? errored : new ClientDisconnected();
  }
}

/** Right after `end`: whether the system has taken all of it. */
function isFlushed({ socket, writableFinished }: ServerResponse): boolean {
  return writableFinished && socket !== null && !socket.destroyed && socket.errored === null;
}
