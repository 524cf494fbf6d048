import type { ClusterItem } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import type { SearchQuery } from '@porthole/logs/types';
import { cursorAt, type RecordBatch, recordsOf, toLines } from '@porthole/records';
import { describe, expect, it } from 'vitest';
import { byteByByte, inChunks } from './testing/byte-by-byte.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { NDJSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient, testMember } from './testing/test-client.ts';

const QUERY: SearchQuery = { order: 'newest', limit: 10, before: 0, after: 0 };
const RECORD = '{"type":"record","file":"a.log","cursor":"c","message":"grüße 日本"}\n';
const END = '{"type":"end","reason":"exhausted"}\n';

async function collectItems<T>(batches: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

describe('a search', () => {
  it('emits an empty batch as soon as it is accepted, then what arrives, finally the end', async () => {
    let go = () => {};
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, NDJSON_HEADERS).flushHeaders();
      go = () => response.end(RECORD + RECORD + END);
    });
    const batches = testClient({ url: odd.url }).search(QUERY)[Symbol.asyncIterator]();
    expect(await batches.next()).toEqual({ done: false, value: [] });
    go();
    const items = (await batches.next()).value as ClusterItem[];
    expect(items.map(({ type }) => type)).toEqual(['record', 'record', 'end']);
    expect((await batches.next()).done).toBe(true);
  });

  it('leaves its connection to the next one if its reader stops at the end', async () => {
    const sockets = new Set<unknown>();
    const odd = await startOddServer((request, response) => {
      sockets.add(request.socket);
      response.writeHead(200, NDJSON_HEADERS).end(RECORD + END);
    });
    const client = testClient({ url: odd.url });
    await eventually(async () => {
      for await (const items of client.search(QUERY)) if (items.at(-1)?.type === 'end') break;
      expect(sockets.size).toBeLessThan(odd.requests.length);
    });
  });

  it('cuts off a response that does not end with its end', async () => {
    const odd = await startOddServer((_request, response) => void response.writeHead(200, NDJSON_HEADERS).write(END));
    for await (const items of testClient({ url: odd.url }).search(QUERY)) if (items.at(-1)?.type === 'end') break;
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('lines and characters split between chunks stay whole', async () => {
    const options = { url: 'http://node', fetch: byteByByte(RECORD + END, NDJSON_HEADERS) };
    const [record, end] = await collectItems(testClient(options).search(QUERY));
    expect(record).toMatchObject({ message: 'grüße 日本' });
    expect(end).toMatchObject({ type: 'end' });
    const pieces: string[] = [];
    for await (const piece of toLines(testMember(options).search(QUERY))) pieces.push(new TextDecoder().decode(piece));
    expect(pieces).toEqual(['', RECORD, END]);
  });

  it('what only a merging node may say of a record is left out, and an invalid time is no time', async () => {
    const sent = JSON.parse(RECORD);
    const context = { a: 1, cursor: 'of the log' };
    const lies = { context, ...sent, node: 'other', atMs: 1, isUnsure: true, timeMs: '12' };
    const client = testMember({
      url: 'http://node',
      fetch: byteByByte(`${JSON.stringify(lies)}\n${END}`, NDJSON_HEADERS),
    });
    const [empty, batch, end] = await collectStream(client.search(QUERY));
    const { timeMs: _timeMs, ...honest } = sent;
    expect(empty).toMatchObject({ ends: { length: 0 } });
    expect(recordsOf(batch as RecordBatch)).toEqual([{ ...honest, context }]);
    expect(cursorAt(batch as RecordBatch, 0)).toBe(sent.cursor);
    expect(batch).toMatchObject({ times: Float64Array.of(Number.NaN), origins: [{ file: sent.file }] });
    expect(end).toMatchObject({ problems: [{ code: 'BAD_ANSWER' }] });
  });

  it('long chunks that start and end within a line lose nothing', async () => {
    const lines = Array.from({ length: 3000 }, (_, at) => RECORD.replace('grüße', `${at} ${'x'.repeat(at % 90)}`));
    const bytes = new TextEncoder().encode(lines.join('') + END);
    const chunks: Uint8Array[] = [];
    for (let at = 0, size = 7; at < bytes.length; at += size, size = (size * 3) % 100_003)
      chunks.push(bytes.subarray(at, at + size));
    const fetch = inChunks(chunks, NDJSON_HEADERS);
    let text = '';
    const query = { ...QUERY, limit: lines.length };
    for await (const piece of toLines(testMember({ url: 'http://node', fetch }).search(query))) {
      expect(piece.length === 0 || piece.at(-1) === 10).toBe(true);
      text += new TextDecoder().decode(piece);
    }
    expect(text === lines.join('') + END).toBe(true);
    const items = await collectItems(testClient({ url: 'http://node', fetch }).search(query));
    expect(items).toHaveLength(lines.length + 1);
  });

  it.each([
    ['nothing', ''],
    ['records but no end', RECORD],
    ['half a line', RECORD + END.slice(0, 9)],
    ['an end without its newline', RECORD + END.trim()],
  ])('%s: cut off, even if the connection ended cleanly', async (_name, body) => {
    const { url } = await startOddServer(respondWith(200, body, NDJSON_HEADERS));
    expect(await catchFailure(testClient({ url }).search(QUERY))).toMatchObject({ code: 'UNREACHABLE', status: 200 });
    expect(await catchFailure(testMember({ url }).search(QUERY))).toMatchObject({ code: 'UNREACHABLE' });
  });

  it('a connection that is cut within a line: what came before is emitted, then it fails', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, NDJSON_HEADERS).write(`${RECORD}{"ty`, () => response.destroy());
    });
    const got: ClusterItem[] = [];
    const collect = async () => {
      for await (const items of testClient({ url: odd.url }).search(QUERY)) got.push(...items);
    };
    expect(await catchFailure(collect())).toMatchObject({ code: 'UNREACHABLE' });
    expect(got).toHaveLength(1);
    expect(odd.requests).toHaveLength(1);
  });

  it.each(['hello\n', '[]\n', '7\n', '{"no":"type"}\n'])('the line %j is invalid', async (line) => {
    const client = testClient({ url: (await startOddServer(respondWith(200, line, NDJSON_HEADERS))).url });
    expect(await catchFailure(client.search(QUERY))).toMatchObject({ code: 'BAD_ANSWER' });
  });

  it('an endless line is not collected forever', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, NDJSON_HEADERS);
      const pour = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', pour);
      pour();
    });
    const options = { url: odd.url, maxItemBytes: 100_000 };
    const expected = { code: 'BAD_ANSWER', message: expect.stringContaining('longer than maxItemBytes (100000)') };
    expect(await catchFailure(testClient(options).search(QUERY))).toMatchObject(expected);
    expect(await catchFailure(testMember(options).search(QUERY))).toMatchObject(expected);
    await eventually(() => expect(odd.aborted).toBe(2));
  });

  it('the signal ends it with its reason, and the connection', async () => {
    const odd = await startOddServer((_request, response) => response.writeHead(200, NDJSON_HEADERS).write(RECORD));
    const controller = new AbortController();
    const search = async () => {
      for await (const items of testClient({ url: odd.url }).search(QUERY, { signal: controller.signal }))
        if (items.length > 0) controller.abort();
    };
    expect(await catchFailure(search())).toMatchObject({ name: 'AbortError' });
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('a budget lets it be silent for longer', async () => {
    let answer = () => {};
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, NDJSON_HEADERS).flushHeaders();
      answer = () => response.end(END);
    });
    const client = testClient({ url: odd.url, stallMs: 50 });
    const patient = collectItems(client.search(QUERY, { budgetMs: 600_000 }));
    await eventually(() => expect(odd.requests).toHaveLength(1));
    const answerPatient = answer;
    expect(await catchFailure(client.search(QUERY))).toMatchObject({ code: 'UNREACHABLE' });
    answerPatient();
    expect(await patient).toHaveLength(1);
    expect(odd.requests[0]).toContain('budget=600000');
  });
});

async function collectStream<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
