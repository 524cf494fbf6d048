import * as zlib from 'node:zlib';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { PATHS, RECORDS_TYPE } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs';
import { readFrame, readFrameHead, toBatches } from '@porthole/records';
import { describe, expect, it } from 'vitest';
import { openRequest, type SendRequestOptions, sendRequest } from '../testing/send-request.ts';
import { stopClock } from '../testing/stop-clock.ts';
import { shareTestNode, startTestNode } from '../testing/test-node.ts';
import { compressResponse } from './response/compress-response.ts';
import { BatchSource } from './testing/batch-source.ts';
import { END, record } from './testing/records.ts';
import { schemaProblems } from './testing/schema-problems.ts';
import { serveRecords } from './testing/serve-records.ts';

const LINES = Array.from(
  { length: 2000 },
  (_, index) =>
    `2026-11-15 10:00:00.${String(index % 1000).padStart(3, '0')}\tINFO\ta.go:${index}\t[A]: message ${index}\n`,
).join('');
const SHORT = 'short\n';

type Decode = (bytes: Buffer) => Buffer;
const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync?: Decode };
const DECODERS: Record<string, Decode> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  ...(zstdDecompressSync && { zstd: zstdDecompressSync }),
};

const FILES = { 'a.log': LINES, 'b.log': SHORT };
const node = shareTestNode({ files: FILES, settings: { node: { timeZone: 'UTC' } } });

const ask = (path: string, headers: Record<string, string> = {}, options: SendRequestOptions = {}) =>
  sendRequest(node.port, path, { headers, ...options });

const VIEW = `${PATHS.logView}?file=a.log`;
const SEARCH = `${PATHS.logSearch}?src==a.log&limit=1000`;

describe('a compressed response', () => {
  it.each(Object.keys(DECODERS))('in %s is the same text, shorter', async (encoding) => {
    for (const path of [VIEW, SEARCH, PATHS.config, PATHS.logDigest]) {
      const plain = await ask(path);
      const { headers, body, status } = await ask(path, { 'accept-encoding': encoding });
      expect({ path, status, encoding: headers['content-encoding'] }).toEqual({ path, status: 200, encoding });
      expect(headers.vary).toContain('Accept-Encoding');
      expect(headers['content-length']).toBeUndefined();
      const text = DECODERS[encoding]?.(body).toString() ?? '';
      const timeless = (given: string) =>
        given
          .replace(/"(elapsedMs|asOfMs)":\d+/g, '')
          .replace(/"(scannedBytes|skippedBytes|coveredFromMs|coveredToMs)":\d+/g, '');
      expect(timeless(text)).toBe(timeless(plain.body.toString()));
      expect(body.length).toBeLessThan(plain.body.length / 2);
    }
  });

  it('is in the encoding that the client prefers', async () => {
    for (const [accepted, encoding] of [
      ['gzip, br', 'br'],
      ['gzip;q=1.0, br;q=0.5', 'gzip'],
      ['br;q=0, *', zstdDecompressSync ? 'zstd' : 'gzip'],
      ['identity, gzip;q=0.5', undefined],
      ['deflate', undefined],
      ['', undefined],
      ['gzip;q=0', undefined],
    ] as const) {
      const { headers } = await ask(VIEW, { 'accept-encoding': accepted }, { method: 'HEAD' });
      // Only what is sent as it is has a known length.
      const length = encoding === undefined ? String(LINES.length) : undefined;
      const { vary, 'content-encoding': given, 'content-length': size } = headers;
      expect({ accepted, vary, given, size }).toEqual({
        accepted,
        vary: 'Accept-Encoding',
        given: encoding,
        size: length,
      });
    }
  });

  it.each([
    ['a short file', `${PATHS.logView}?file=b.log`, {}],
    ['a range of a file', `${PATHS.logRaw}?file=a.log`, { range: 'bytes=0-99999' }],
    ['a file with an entity tag', `${PATHS.logRaw}?file=a.log`, {}],
    ['an error', `${PATHS.logView}?file=c.log`, {}],
    ['what another site asks for with the credentials of a browser', VIEW, { 'sec-fetch-site': 'cross-site' }],
  ])('is not given for %s', async (_, path, headers) => {
    const response = await ask(path, { 'accept-encoding': 'gzip', ...headers });
    expect(response.headers['content-encoding']).toBeUndefined();
    expect(Number(response.headers['content-length'])).toBe(response.body.length);
  });

  it('is passed on with every match that is found, and events are not compressed', async () => {
    const source = new BatchSource<SearchItem>();
    const served = await serveRecords({
      search: (_, options = {}) => toBatches<FoundRecord, SearchEnd>(source.open(options.signal)),
    });
    source.push([], [record(1)]);
    const response = await openRequest(served.port, PATHS.logSearch, { headers: { 'accept-encoding': 'gzip' } });
    const gunzip = response.pipe(zlib.createGunzip());
    const next = () =>
      new Promise<string>((resolve) => gunzip.once('data', (part: Buffer) => resolve(part.toString())));
    // The search goes on; what was found is there.
    const named = (number: number) => ({ node: 'self', ...record(number) });
    expect(JSON.parse(await next())).toEqual(named(1));
    const second = next();
    source.push([record(2)]);
    expect(JSON.parse(await second)).toEqual(named(2));
    const last = next();
    source.push([END]).end();
    expect(JSON.parse(await last)).toMatchObject(END);
    const stream = { sizeBytes: undefined, chunks: (async function* () {})(), close: async () => {} };
    const events = { status: 200, headers: { 'content-type': 'text/event-stream' }, stream };
    expect(compressResponse(events, { 'accept-encoding': 'gzip' })).toBe(events);
  });

  it('ends with its source if that fails', async () => {
    const chunks = (async function* () {
      yield Buffer.from('x'.repeat(100));
      throw new Error('the disk is gone');
    })();
    const headers = { 'content-type': 'text/plain' };
    const response = { status: 200, headers, stream: { sizeBytes: undefined, chunks, close: async () => {} } };
    const compressed = compressResponse(response, { 'accept-encoding': 'br' });
    const read = async () => {
      if ('stream' in compressed) for await (const _ of compressed.stream.chunks);
    };
    await expect(read()).rejects.toThrow('the disk is gone');
  });
});

/** The items of a response in frames. */
function readItems(body: Buffer): SearchItem[] {
  const items: SearchItem[] = [];
  for (let rest = body; rest.length > 0; ) {
    const head = readFrameHead(rest);
    const { text } = readFrame(head, rest.subarray(0, head.frameBytes));
    const lines = text.trimEnd().split('\n');
    items.push(...lines.map((line) => JSON.parse(line) as SearchItem));
    rest = rest.subarray(head.frameBytes);
  }
  return items;
}

describe('a search', () => {
  it('has only the text of records for a client that uses nothing else', async () => {
    const search = async (query: string, more: Record<string, string> = {}) => {
      const headers = { accept: RECORDS_TYPE, ...more };
      const items = readItems((await ask(`${PATHS.logSearch}?${query}`, headers)).body);
      const records = items.filter(({ type }) => type === 'record');
      for (const record of records) expect(schemaProblems(record, 'FoundRecord')).toEqual([]);
      return { records: records as FoundRecord[], end: items.at(-1) as SearchEnd };
    };
    const query = 'file=a.log&order=oldest&raw=true&limit=50';
    const [whole, texts] = [await search(query), await search(query, { 'porthole-records': 'raw' })];
    const used = ({ file, offset, bytes, cursor, timeMs, raw }: FoundRecord) =>
      ({ file, offset, bytes, cursor, timeMs, raw }) as const;
    expect(texts.records.map(used)).toEqual(whole.records.map(used));
    expect(texts.records.filter(({ message }) => message === '')).toHaveLength(50);
    expect({ ...texts.end, elapsedMs: 0 }).toEqual({ ...whole.end, elapsedMs: 0 });
    // Without the text there would be nothing.
    expect((await search('limit=1', { 'porthole-records': 'raw' })).records[0]?.message).not.toBe('');
  });

  it('is one JSON document for clients that ask for it', async () => {
    for (const [accept, type] of [
      ['application/json', 'application/json; charset=utf-8'],
      ['application/json, text/plain, */*', 'application/json; charset=utf-8'],
      ['application/x-ndjson, application/json;q=0.9', 'application/x-ndjson'],
      ['*/*', 'application/x-ndjson'],
      ['text/html', 'application/x-ndjson'],
    ] as const) {
      const { headers } = await ask(`${PATHS.logSearch}?limit=1`, { accept });
      expect({ accept, type: headers['content-type'], vary: headers.vary }).toEqual({
        accept,
        type,
        vary: 'Accept, Accept-Encoding',
      });
    }
  });

  it('has, as one document, the records and the closing record', async () => {
    for (const path of [
      SEARCH,
      `${PATHS.logSearch}?src==a.log&limit=1`,
      `${PATHS.logSearch}?q=nothing-like-this`,
      `${PATHS.logSearch}?nodes=*&limit=3`,
      `${PATHS.logAround}?nodes=*&time=2026-11-15T10:00:00Z&limit=3`,
    ]) {
      const text = (await ask(path)).body.toString().trimEnd();
      const lines = text.split('\n').map((line) => JSON.parse(line) as object);
      const { body } = await ask(path, { accept: 'application/json', 'accept-encoding': 'gzip' });
      const { records, end, ...others } = JSON.parse(gunzipSync(body).toString()) as Record<string, unknown>;
      expect(others).toEqual({});
      expect(records).toEqual(lines.slice(0, -1));
      expect(end).toMatchObject({ type: 'end', records: lines.length - 1 });
    }
  });
});

it('responses that may take long say what took how long, others do not', async () => {
  const duration = expect.stringMatching(/^queue;dur=\d+\.\d, scan;dur=\d+\.\d$/);
  for (const path of [PATHS.logDigest, PATHS.logHistogram, PATHS.nodes])
    expect((await ask(path)).headers).toMatchObject({ 'server-timing': duration });
  expect((await ask(SEARCH)).headers['server-timing']).toMatch(/^queue;dur=\d+\.\d, open;dur=\d+\.\d$/);
  expect((await ask(VIEW)).headers['server-timing']).toBeUndefined();
});

it('responses say how many requests are left, if they are limited', async () => {
  const limited = await startTestNode({ settings: { http: { maxRequestsPerSecond: 2 } } });
  stopClock();
  const [first, , third] = [
    await sendRequest(limited.port, PATHS.logList),
    await sendRequest(limited.port, PATHS.logList),
    await sendRequest(limited.port, PATHS.logList),
  ];
  expect(first.headers).toMatchObject({ 'ratelimit-policy': '"requests";q=2;w=1', ratelimit: '"requests";r=1;t=1' });
  expect(third).toMatchObject({ status: 429, headers: { ratelimit: '"requests";r=0;t=1', 'retry-after': '1' } });
  expect((await ask(PATHS.logList)).headers.ratelimit).toBeUndefined();
});
