import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { chooseEncoding } from './console-files.ts';
import { type RouteResponse, type StreamBody, streamBytes } from './route-response.ts';

/** Shorter bodies fit into one packet anyway. */
const MIN_BODY_BYTES = 1024;

/** Shorter ends of files are sent as they are: compressing takes longer than the transfer in most networks. */
const MIN_FILE_BYTES = 64 * 1024;

const COMPRESSIBLE = /^(text\/(?!event-stream)|application\/(json|x-ndjson))/;

/** Windows of 256 KiB: the memory of a response is about twice that. Larger ones hardly make logs smaller. */
const WINDOW_BITS = 18;

const { constants } = zlib;

/** A compressor with the methods of those of zlib. */
interface Compressor extends Transform {
  flush(kind: number, done: () => void): void;
}

interface Coding {
  create(): Compressor;
  /** Makes what was written so far readable for the client. */
  flushKind: number;
}

type CodingName = 'zstd' | 'br' | 'gzip';

/** Not in the types of the oldest version that is supported, nor in its zlib. */
interface ZstdZlib {
  createZstdCompress?(options: object): Compressor;
  constants: { ZSTD_c_windowLog?: number; ZSTD_e_flush?: number };
}

/** The preferred one first. Levels by measurement on logs: brotli 1 is twice as fast as gzip and smaller than its level 4. */
const CODINGS: ReadonlyMap<CodingName, Coding> = new Map([...zstdCoding(), ...standardCodings()]);

const CODING_NAMES = [...CODINGS.keys()];

function zstdCoding(): [CodingName, Coding][] {
  const { createZstdCompress, constants: zstd } = zlib as unknown as ZstdZlib;
  const { ZSTD_c_windowLog: windowLog, ZSTD_e_flush: flushKind } = zstd;
  if (createZstdCompress === undefined || windowLog === undefined || flushKind === undefined) return [];
  return [['zstd', { create: () => createZstdCompress({ params: { [windowLog]: WINDOW_BITS } }), flushKind }]];
}

function standardCodings(): [CodingName, Coding][] {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: 1, [BROTLI_PARAM_LGWIN]: WINDOW_BITS };
  return [
    ['br', { create: () => zlib.createBrotliCompress({ params }), flushKind: BROTLI_OPERATION_FLUSH }],
    ['gzip', { create: () => zlib.createGzip({ level: 3 }), flushKind: Z_SYNC_FLUSH }],
  ];
}

/**
 * Text of some length, compressed as the client asks. Events are not: each must arrive at once. Nor is what has an entity
 * tag or ranges, which refer to the bytes as they are, or what is compressed already.
 */
export function compressResponse(response: RouteResponse, requestHeaders: IncomingHttpHeaders): RouteResponse {
  if (response.status !== 200 || !isCompressible(response)) return response;
  const accepted = requestHeaders['accept-encoding'];
  const name =
    accepted === undefined || isCrossSite(requestHeaders) ? undefined : chooseEncoding(accepted, CODING_NAMES);
  const coding = name && CODINGS.get(name);
  const varied = withVary(response.headers);
  if (!coding) return { ...response, headers: varied };
  const headers = { ...varied, 'content-encoding': name };
  const { chunks, close, isLive } = toStream(response);
  return { status: 200, headers, stream: { chunks: compress(chunks, coding, { isLive }), close } };
}

/** What was made of header objects that are used again and again, which are frozen. */
const VARIED = new WeakMap<OutgoingHttpHeaders, OutgoingHttpHeaders>();

function withVary(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const known = VARIED.get(headers);
  if (known) return known;
  const vary = headers.vary === undefined ? 'Accept-Encoding' : `${headers.vary}, Accept-Encoding`;
  const varied = { ...headers, vary };
  if (Object.isFrozen(headers)) VARIED.set(headers, Object.freeze(varied));
  return varied;
}

/** Its size first: most responses are short, and this is asked of every one. */
function isCompressible(response: RouteResponse): boolean {
  const { headers } = response;
  const isLong =
    'body' in response
      ? response.body.length >= MIN_BODY_BYTES
      : (streamBytes(response.stream) ?? MIN_FILE_BYTES) >= MIN_FILE_BYTES;
  if (!isLong || headers['content-encoding'] !== undefined || headers.etag !== undefined) return false;
  return COMPRESSIBLE.test(String(headers['content-type']));
}

/**
 * A page of another site can make a browser send a request with its certificate or cookie, and who listens on the network
 * could learn from the compressed size how much of a text of the page's choice is in the response (BREACH).
 */
function isCrossSite({ 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return site === 'cross-site' || site === 'same-site';
}

function toStream(response: RouteResponse): StreamBody & { isLive: boolean } {
  if ('stream' in response) return { ...response.stream, isLive: streamBytes(response.stream) === undefined };
  const { body } = response;
  async function* chunks() {
    yield typeof body === 'string' ? Buffer.from(body) : body;
  }
  return { chunks: chunks(), close: async () => {}, isLive: false };
}

/**
 * One chunk at a time: the memory of each is used again after it. What is `live` is passed on with every chunk, so that
 * matches arrive when they are found.
 */
async function* compress(
  chunks: AsyncIterable<Uint8Array>,
  { create, flushKind }: Coding,
  { isLive }: { isLive: boolean },
): AsyncGenerator<Uint8Array> {
  const compressor = create();
  let output: Uint8Array[] = [];
  compressor.on('data', (piece: Buffer) => output.push(piece));
  const take = () => {
    const pieces = output;
    output = [];
    return pieces;
  };
  try {
    for await (const chunk of chunks) {
      if (chunk.length === 0) continue;
      await settle(compressor, (done) => compressor.write(chunk, done));
      if (isLive) await settle(compressor, (done) => compressor.flush(flushKind, done));
      yield* take();
    }
    await settle(compressor, (done) => compressor.once('end', done).end());
    yield* take();
  } finally {
    compressor.destroy();
  }
}

/** Waits for a callback of the compressor, or for its failure. */
function settle(compressor: Compressor, start: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    compressor.once('error', reject);
    start((error) => {
      compressor.off('error', reject);
      if (error) reject(error);
      else resolve();
    });
  });
}
