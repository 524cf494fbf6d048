import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ClientDisconnected, ReaderStalled } from '../../transport/client-disconnected.ts';
import type { RouteResponse } from './route-response.ts';

/** Of every answer that has none of its own. The pages need one style sheet and one image of their own origin. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What every answer carries, whatever it is. */
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

/**
 * Writes an answer; resolves when the last byte is with the system, rejects when the client is gone or the source fails.
 * The caller tells the writer when the connection closes.
 */
export async function sendResponse(
  writer: ResponseWriter,
  response: RouteResponse,
  { headOnly }: { headOnly: boolean },
): Promise<void> {
  const isStream = 'stream' in response;
  const sizeBytes = isStream ? response.stream.sizeBytes : Buffer.byteLength(response.body);
  const empty = response.status === 304 || response.status === 204;
  writer.head(response.status, response.headers, empty ? undefined : sizeBytes);
  if (headOnly || empty || sizeBytes === 0) return writer.end();
  if (!isStream) return writer.end(typeof response.body === 'string' ? Buffer.from(response.body) : response.body);
  if (sizeBytes === undefined) return sendOpenEnded(writer, response.stream.chunks);
  return sendStream(writer, response.stream.chunks, sizeBytes);
}

async function sendStream(writer: ResponseWriter, chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void> {
  let remainingBytes = sizeBytes;
  for await (const chunk of chunks) {
    remainingBytes -= chunk.length;
    // Waiting until the bytes are with the system lets the chunk's memory be used again, and a slow reader slow us.
    await (remainingBytes > 0 ? writer.write(chunk) : writer.end(chunk));
  }
}

/** The first chunk may be long in coming; that the question was a good one is told at once. */
async function sendOpenEnded(writer: ResponseWriter, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  writer.flushHead();
  for await (const chunk of chunks) if (chunk.length > 0) await writer.write(chunk);
  return writer.end();
}

/** Promises that settle on the write's own callback or, where a lost connection swallows that, on the close. */
export class ResponseWriter {
  readonly #response: ServerResponse;
  #pending: ((reason: Error) => void) | undefined;
  #sentBytes = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Bytes of the body that are with the system. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  head(status: number, headers: OutgoingHttpHeaders, sizeBytes: number | undefined): void {
    // As one flat list: merging objects of headers costs a tenth of the rate of small answers.
    const list: string[] = [...SECURITY_HEADERS];
    if (headers['content-security-policy'] === undefined) list.push('content-security-policy', CONTENT_SECURITY_POLICY);
    if (headers['cache-control'] === undefined) list.push('cache-control', 'no-store');
    if (sizeBytes !== undefined) list.push('content-length', String(sizeBytes));
    for (const name in headers) list.push(name, String(headers[name]));
    this.#response.writeHead(status, list);
  }

  flushHead(): void {
    this.#response.flushHeaders();
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#settled(bytes.length, (done) => this.#response.write(bytes, done));
  }

  end(bytes?: Uint8Array): Promise<void> {
    return this.#settled(bytes?.length ?? 0, (done) => this.#response.end(bytes, done));
  }

  /** `writableFinished` is no help: it turns true when the connection is lost after `end`, though no callback comes. */
  closed(): void {
    this.#pending?.(this.#why());
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

  /** Whatever a write fails with, the connection is gone; only we ourselves end one that still stands. */
  #why(): Error {
    const { errored } = this.#response;
    return errored instanceof ReaderStalled ? errored : new ClientDisconnected();
  }
}
