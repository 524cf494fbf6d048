import { searchItems } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import type { SearchEnd, SearchItem } from '@porthole/logs/types';
import { cursorAt, isBatch, originAt, type RecordBatch, recordsOf } from '@porthole/records';
import { endFrameBytes, frameBytes, framedLines, runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inChunks } from './testing/byte-by-byte.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { FRAMES_HEADERS, NDJSON_HEADERS, startOddServer } from './testing/odd-server.ts';
import { testMember } from './testing/test-client.ts';

const QUERY = { order: 'newest', limit: 100, before: 1, after: 1 } as const;
const END = { type: 'end', reason: 'exhausted', records: 0, cursor: null, problems: [] };
const END_LINE = JSON.stringify(END);

const record = (fields: object = {}) => ({
  type: 'record',
  file: 'a.log',
  offset: 7,
  bytes: 9,
  cursor: 'c',
  timeMs: 5,
  message: 'grüße 日本',
  ...fields,
});
const lineOf = (fields: object = {}) => JSON.stringify(record(fields));
const FRAME = { ends: [10], times: [1], offsets: [0], originOf: [], files: ['a.log'] };

const answeredBy = (body: Buffer, headers: Record<string, string> = FRAMES_HEADERS, chunkBytes = 4096) => {
  const chunks = Array.from({ length: Math.ceil(body.length / chunkBytes) }, (_, at) =>
    body.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  );
  return testMember({ url: 'http://node', fetch: inChunks(chunks, headers), retries: 0 });
};

/** All batches and the end of a search. */
async function search(client: ReturnType<typeof testMember>) {
  const batches: RecordBatch[] = [];
  let end: SearchEnd | undefined;
  for await (const item of client.search(QUERY)) {
    if (!isBatch(item)) end = item;
    else if (item.ends.length > 0) batches.push(item);
  }
  return { batches, end };
}

const textOf = (batches: readonly RecordBatch[]) => batches.map(({ bytes }) => Buffer.from(bytes).toString()).join('');

describe('records in frames', () => {
  it('are passed on as they were sent, with their columns, however the bytes come', async () => {
    // A parser would write this number another way.
    const lines = [
      lineOf().replace('"message"', '"another":1.50,"message"'),
      lineOf({ file: 'b.log', offset: 0, timeMs: undefined }),
    ];
    for (const chunkBytes of [1, 7, 16, 10_000]) {
      const client = answeredBy(framedLines([...lines, END_LINE]), FRAMES_HEADERS, chunkBytes);
      const { batches, end } = await search(client);
      const [batch] = batches as [RecordBatch];
      expect(batches).toHaveLength(1);
      expect(textOf(batches)).toBe(lines.map((line) => `${line}\n`).join(''));
      expect(batch).toMatchObject({ times: Float64Array.of(5, Number.NaN), offsets: Float64Array.of(7, 0) });
      expect([originAt(batch, 0), originAt(batch, 1)]).toEqual([{ file: 'a.log' }, { file: 'b.log' }]);
      expect(end).toEqual(END);
    }
  });

  it('begin with an empty batch as soon as the request is accepted', async () => {
    let go = () => {};
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, FRAMES_HEADERS).flushHeaders();
      go = () => response.end(framedLines([lineOf(), END_LINE]));
    });
    const items = testMember({ url: odd.url }).search(QUERY)[Symbol.asyncIterator]();
    expect((await items.next()).value).toMatchObject({ ends: { length: 0 } });
    go();
    expect((await items.next()).value).toMatchObject({ ends: { length: 1 } });
    expect((await items.next()).value).toEqual(END);
    expect((await items.next()).done).toBe(true);
  });

  it('are objects for who wants objects', async () => {
    const items: SearchItem[] = [];
    for await (const some of searchItems(answeredBy(framedLines([lineOf(), END_LINE])), QUERY)) items.push(...some);
    expect(items).toEqual([record(), END]);
  });
});

describe('a member that is broken or hostile', () => {
  const cut: readonly [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['records without an end', framedLines([lineOf(), END_LINE]).subarray(0, -END_LINE.length - 17)],
    ['a part of a head', framedLines([lineOf(), END_LINE]).subarray(0, 9)],
    ['a part of the columns', framedLines([lineOf(), END_LINE]).subarray(0, 30)],
    ['an end without its last byte', framedLines([lineOf(), END_LINE]).subarray(0, -1)],
  ];

  it.each(cut)('%s is cut off, not the end', async (_name, body) => {
    expect(await catchFailure(search(answeredBy(body)))).toMatchObject({ code: 'UNREACHABLE' });
    expect(await catchFailure(searchItems(answeredBy(body), QUERY))).toMatchObject({ code: 'UNREACHABLE' });
  });

  const refused: readonly [string, Buffer][] = [
    ['lines without frames', Buffer.from(`${lineOf()}\n${END_LINE}\n`)],
    ['another version', frameBytes({ ...FRAME, text: '{"no":"r"}' }, { version: 2 })],
    ['two lines of one record', frameBytes({ ...FRAME, text: '{"a":\n"b"}' })],
    ['more records than text', frameBytes({ ...FRAME, text: '{}\n' }, { records: 1e6, textBytes: 1e5 })],
    ['text that is not UTF-8', frameBytes({ ...FRAME, ends: [3], text: Buffer.of(0x22, 0xff, 10) })],
    ['an end among records', framedLines([END_LINE, END_LINE])],
    ['a record instead of an end', endFrameBytes(lineOf())],
    ['an end that makes no sense', endFrameBytes('{"type":')],
    ['more than was asked for', framedLines([...Array<string>(101).fill(lineOf()), END_LINE])],
    ['more after the end', Buffer.concat([framedLines([END_LINE]), framedLines([lineOf(), END_LINE])])],
  ];

  it.each(refused)('%s is refused', async (_name, body) => {
    expect(await catchFailure(search(answeredBy(body)))).toMatchObject({ code: 'BAD_ANSWER' });
    expect(await catchFailure(searchItems(answeredBy(body), QUERY))).toMatchObject({ code: 'BAD_ANSWER' });
  });

  it('announces more than an item may have: refused before it comes', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200, FRAMES_HEADERS).write(frameBytes({ ...FRAME, text: 'x\n' }, { textBytes: 2e9 }));
    });
    const client = testMember({ url: odd.url, maxItemBytes: 100_000 });
    const expected = { code: 'BAD_ANSWER', message: expect.stringContaining('longer than maxItemBytes (100000)') };
    expect(await catchFailure(search(client))).toMatchObject(expected);
    await eventually(() => expect(odd.aborted).toBe(1));
  });

  it('sends a long frame piece by piece: what is held counts, and no more than that', async () => {
    const body = framedLines([lineOf({ message: 'x'.repeat(600_000) }), END_LINE]);
    for (const maxBytes of [300_000, 500_000]) {
      let held = 0;
      let most = 0;
      const responseBudget = {
        maxBytes,
        hold(bytes: number) {
          if (held + bytes > maxBytes) return false;
          held += bytes;
          most = Math.max(most, held);
          return true;
        },
        release(bytes: number) {
          held -= bytes;
        },
      };
      const { url } = await startOddServer((_request, response) => response.writeHead(200, FRAMES_HEADERS).end(body));
      const searching = search(testMember({ url, responseBudget, retries: 0 }));
      if (maxBytes === 300_000) expect(await catchFailure(searching)).toMatchObject({ code: 'BAD_ANSWER' });
      else expect((await searching).batches).toHaveLength(1);
      expect(most).toBeGreaterThan(200_000);
      expect(held).toBe(0);
    }
  });

  const odd: readonly [string, string][] = [
    ['names another node', lineOf({ node: 'other', atMs: 1, isUnsure: true })],
    ['names another node twice', lineOf().replace('{', '{"node":"a","node":"b",')],
    ['has another order', JSON.stringify({ context: { cursor: 'x' }, ...record() })],
    ['has spaces', JSON.stringify(record(), null, 1).replaceAll('\n', '')],
    ['has a second cursor', lineOf().replace('}', ',"cursor":"d"}')],
    ['has its context twice', lineOf({ context: { a: 1 }, contextText: '{"b":2}' })],
    ['has a neighbour with its context twice', lineOf({ before: [record({ context: {}, contextText: '{"b":2}' })] })],
    ['has more neighbours than requested', lineOf({ after: [record(), record({ node: 'x' })] })],
    ['has fields that make no sense', lineOf({ level: 7, timeMs: '12' })],
    ['is no JSON', '{"type":"record","file":"a.log","offset":7,"bytes":9,"cursor":"c","message":"}'],
    ['is two values', `${lineOf()},${lineOf()}`],
    ['begins with a mark of the byte order', `\ufeff${lineOf()}`],
    ['is deeper than one may be', lineOf().replace('}', `,"context":{"a":${'['.repeat(9000)}${']'.repeat(9000)}}}`)],
    ['is empty', ''],
  ];

  it.each(odd)('a record that %s is what it would be as a line', async (_name, line) => {
    const lines = [lineOf({ cursor: 'first' }), line, lineOf({ cursor: 'last' }), END_LINE];
    const [inFrames, asLines] = [
      await search(answeredBy(framedLines(lines))),
      await search(answeredBy(Buffer.from(lines.map((each) => `${each}\n`).join('')), NDJSON_HEADERS)),
    ];
    expect(textOf(inFrames.batches)).toBe(textOf(asLines.batches));
    expect(inFrames.end).toEqual(asLines.end);
    expectSound(inFrames.batches);
  });

  it.each([
    ['time', { ...FRAME, times: [6], offsets: [7] }],
    ['offset', { ...FRAME, times: [5], offsets: [8] }],
    ['file', { ...FRAME, times: [5], offsets: [7], files: ['b.log'] }],
  ])('a column with another %s than the record does not count', async (_name, parts) => {
    const text = `${lineOf()}\n`;
    const body = [frameBytes({ ...parts, ends: [Buffer.byteLength(text)], text }), endFrameBytes(END_LINE)];
    const { batches } = await search(answeredBy(Buffer.concat(body)));
    expect(textOf(batches)).toBe(text);
    expectSound(batches);
  });

  it('never breaks out of a record, whatever bytes it changes', async () => {
    const lines = [lineOf(), lineOf({ context: { a: ['b'] }, tags: ['x'] }), lineOf({ file: 'b.log', raw: '"\\' })];
    const body = framedLines([...lines, END_LINE]);
    const change = fc.record({
      at: fc.nat(body.length),
      remove: fc.nat(2),
      add: fc.constantFrom('', '"', '\\', ',', '{', '}', '[', ' ', '0', '\xff', '\n', '","node":"x', '\0'),
    });
    await fc.assert(
      fc.asyncProperty(change, fc.boolean(), async ({ at, remove, add }, keepsLength) => {
        const added = Buffer.from(add, 'latin1');
        const removed = keepsLength ? added.length : remove;
        const changed = Buffer.concat([body.subarray(0, at), added, body.subarray(at + removed)]);
        const batches: RecordBatch[] = [];
        try {
          for await (const item of answeredBy(changed).search(QUERY)) if (isBatch(item)) batches.push(item);
        } catch (error) {
          expect(['BAD_ANSWER', 'UNREACHABLE']).toContain((error as { code: unknown }).code);
        }
        expectSound(batches);
        expect(batches.reduce((sum, { ends }) => sum + ends.length, 0)).toBeLessThanOrEqual(lines.length);
      }),
      { numRuns: runs(300) },
    );
  });
});

/** Each line is one record, and what the columns say of it is true. */
function expectSound(batches: readonly RecordBatch[]): void {
  for (const batch of batches) {
    expect(new TextDecoder('utf-8', { fatal: true }).decode(batch.bytes).match(/\n/g)?.length ?? 0).toBe(
      batch.ends.length,
    );
    for (const [index, sent] of recordsOf<ReturnType<typeof record>>(batch).entries()) {
      expect(sent).toMatchObject({ type: 'record', message: expect.any(String), ...originAt(batch, index) });
      expect('node' in sent || 'atMs' in sent || 'isUnsure' in sent).toBe(false);
      expect(cursorAt(batch, index)).toBe(sent.cursor);
      expect([batch.times[index], batch.offsets[index]]).toEqual([
        sent.timeMs ?? Number.NaN,
        sent.offset ?? Number.NaN,
      ]);
      expect(batch.bytes[(batch.ends[index] as number) - 1]).toBe(10);
    }
  }
}
