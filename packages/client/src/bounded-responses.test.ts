import { encodeFollow } from '@porthole/contract';
import { toLines } from '@porthole/records';
import { describe, expect, it } from 'vitest';
import { FollowPosition } from './follow/follow-position.ts';
import { JSON_HEADERS, NDJSON_HEADERS, SSE_HEADERS, startOddServer } from './testing/odd-server.ts';
import { testClient, testClock, testMember } from './testing/test-client.ts';

const record = (given: object = {}) => ({
  type: 'record',
  file: 'a.log',
  offset: 0,
  bytes: 1,
  cursor: 'c',
  message: 'm',
  ...given,
});
const END = { type: 'end', reason: 'exhausted', records: 1, cursor: null, problems: [] };
const QUERY = { order: 'newest', limit: 3, before: 1, after: 2 } as const;
const lines = (...items: object[]) => items.map((item) => `${JSON.stringify(item)}\n`).join('');

/** `undefined` where nothing is. */
function thrownBy(asking: Promise<unknown>): Promise<unknown> {
  return asking.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function search(body: string) {
  const { url } = await startOddServer((_request, response) => response.writeHead(200, NDJSON_HEADERS).end(body));
  const items: object[] = [];
  const lineText: string[] = [];
  const options = { url, retries: 0 };
  const failure = await thrownBy(
    (async () => {
      for await (const batch of testClient(options).search(QUERY)) items.push(...batch);
    })(),
  );
  const lineFailure = await thrownBy(
    (async () => {
      for await (const piece of toLines(testMember(options).search(QUERY)))
        lineText.push(new TextDecoder().decode(piece));
    })(),
  );
  expect(lineText.join('')).toBe(lines(...items));
  expect(String(lineFailure)).toBe(String(failure));
  return { items, failure };
}

describe('no more than requested is accepted', () => {
  it('records up to the limit', async () => {
    const all = [record(), record(), record()];
    expect(await search(lines(...all, END))).toMatchObject({ items: [...all, END], failure: undefined });
    const { items, failure } = await search(lines(...all, record(), END));
    expect(items).toHaveLength(3);
    expect(failure).toMatchObject({
      code: 'BAD_ANSWER',
      message: expect.stringContaining('more than the requested 3 records'),
    });
  });

  it('neighbours of a record, the nearest, and that there were more is reported', async () => {
    const near = ['1', '2', '3', '4'].map((message) => record({ message }));
    const { items } = await search(lines(record({ before: near, after: near }), END));
    expect(items[0]).toMatchObject({ before: [{ message: '4' }], after: [{ message: '1' }, { message: '2' }] });
    expect(items[1]).toMatchObject({ problems: [{ code: 'BAD_ANSWER' }] });
  });

  it('nothing after the end', async () => {
    const { items, failure } = await search(lines(record(), END, record()));
    expect(items).toHaveLength(2);
    expect(failure).toBeUndefined();
  });

  it.each([
    ['a name of a file over 255 bytes', { file: 'ä'.repeat(128) }],
    ['a cursor of many kilobytes', { cursor: 'c'.repeat(3000) }],
  ])('no record with %s', async (_name, given) => {
    const { items } = await search(lines(record(given), record(), END));
    expect(items).toMatchObject([record(), { problems: [{ detail: expect.stringContaining('an invalid record') }] }]);
  });

  it('no context that is nested in a text, deeper than one may be', async () => {
    const context = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const { items } = await search(lines(record({ contextText: context }), record({ contextText: '{"a":1}' }), END));
    expect(items[0]).toEqual(record());
    expect(items[1]).toMatchObject({ contextText: '{"a":1}', context: { a: 1 } });
    expect(items[2]).toMatchObject({ problems: [{ detail: expect.stringContaining('an invalid "contextText"') }] });
  });

  it('as many bytes of a view, and a newline', async () => {
    const view = async (body: string, headers = {}) => {
      const { url } = await startOddServer((_request, response) => response.writeHead(200, headers).end(body));
      const bytes: number[] = [];
      const failure = await thrownBy(
        (async () => {
          const { chunks } = await testClient({ url, retries: 0 }).viewLog({ file: 'a', sizeBytes: 100 });
          for await (const chunk of chunks) bytes.push(chunk.length);
        })(),
      );
      return { bytes: bytes.reduce((sum, count) => sum + count, 0), failure };
    };
    expect(await view('x'.repeat(101))).toEqual({ bytes: 101, failure: undefined });
    for (const headers of [{ 'content-length': '102' }, { 'transfer-encoding': 'chunked' }])
      expect(await view('x'.repeat(102), headers)).toMatchObject({ bytes: 0, failure: { code: 'BAD_ANSWER' } });
  });

  it('as many groups of a digest', async () => {
    const group = { level: null, source: null, shape: 's', count: 1, sample: record() };
    const body = JSON.stringify({ groups: [group, group, group], totalGroups: 3, ungrouped: 0, end: END });
    const { url } = await startOddServer((_request, response) => response.writeHead(200, JSON_HEADERS).end(body));
    expect((await testMember({ url }).logDigest({ limit: 3 })).groups).toHaveLength(3);
    expect(await thrownBy(testMember({ url }).logDigest({ limit: 2 }))).toMatchObject({ code: 'BAD_ANSWER' });
  });
});

describe('text of a node about itself', () => {
  it('is short, one line, and contains no control characters', async () => {
    const detail = `\u001b[2Jgone\n${'x'.repeat(1000)}`;
    const body = JSON.stringify({
      node: {},
      archive: { lagMs: 'none' },
      problems: Array(100).fill({ check: 'disk\u0007', detail }),
    });
    const { url } = await startOddServer((_request, response) => response.writeHead(200, JSON_HEADERS).end(body));
    const { problems, archive } = await testClient({ url }).describe();
    expect(archive).toBeUndefined();
    expect(problems).toHaveLength(32);
    expect(problems[0]?.check).toBe('disk ');
    expect(problems[0]?.detail).toMatch(/^ \[2Jgone x{290}x*\.\.\.$/);
    expect(problems[0]?.detail.length).toBeLessThan(310);
    const problem = { file: 'a.log', code: 'LOG_FILE_UNREADABLE', detail };
    const { items } = await search(lines({ ...END, problems: [problem, { ...problem, code: 'no code' }] }));
    expect(items).toMatchObject([
      { problems: [{ detail: expect.not.stringContaining('\n') }, { code: 'BAD_ANSWER' }] },
    ]);
  });
});

describe('a node that is slow on purpose', () => {
  it('is given up, although bytes arrive all the time', async () => {
    const odd = await startOddServer((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 10);
      response.once('close', () => clearInterval(timer));
    });
    const read = async () => {
      const client = testClient({ url: odd.url, retries: 0, stallMs: 50 });
      const { chunks } = await client.viewLog({ file: 'a', sizeBytes: 100_000 });
      for await (const _chunk of chunks);
    };
    expect(await thrownBy(read())).toMatchObject({ code: 'UNREACHABLE' });
  });
});

describe('the position of a follow', () => {
  it('is that of the newest files, however many a node makes up', () => {
    const place = new FollowPosition({ start: 'end' }, { clock: testClock(), encode: encodeFollow });
    place.started(0);
    const items = Array.from({ length: 5000 }, (_, at) => ({ ...record({ file: `${at}`, cursor: `c${at}` }) }));
    place.track(items as Parameters<typeof place.track>[0], { heartbeat: false, ids: [] });
    const cursors = place.request(0).headers['last-event-id']?.split('~') ?? [];
    expect(cursors).toHaveLength(2048);
    expect(cursors.at(-1)).toBe('c4999');
  });

  it('of a record with a name that is too long is not taken', async () => {
    const item = record({ file: 'n'.repeat(300) });
    const { url } = await startOddServer((_request, response) =>
      response.writeHead(200, SSE_HEADERS).write(`data: ${JSON.stringify(item)}\n\n`),
    );
    const controller = new AbortController();
    for await (const items of testMember({ url }).followLogs({ start: 'end' }, { signal: controller.signal })) {
      if (items.length === 0) continue;
      expect(items).toMatchObject([{ type: 'skipped', count: 1 }]);
      break;
    }
    controller.abort();
  });
});

describe('a record without its invalid fields', () => {
  /** Every field that is checked, with a value it cannot have. */
  const INVALID = {
    timeMs: 1e17,
    atMs: 'now',
    level: 'LOUD',
    source: 1,
    raw: null,
    node: {},
    tags: ['a', 1],
    context: [],
    contextText: '{',
    fields: { a: { b: 1 } },
    cut: 1,
    continued: 'true',
    unfinished: false,
    isUnsure: null,
    before: {},
    after: 'x',
  };

  it.each(Object.entries(INVALID))('%s is left out, and reported', async (name, value) => {
    const { items } = await search(lines(record({ [name]: value }), record(), END));
    const detail = expect.stringContaining(`1 item was left out, the first: an invalid "${name}" of a record`);
    expect(items).toEqual([record(), record(), { ...END, problems: [{ file: '', code: 'BAD_ANSWER', detail }] }]);
  });

  it.each(['offset', 'bytes'])('%s becomes 0', async (name) => {
    const { items } = await search(lines(record({ [name]: -1 }), END));
    expect(items).toMatchObject([record({ [name]: 0 }), { problems: [{ code: 'BAD_ANSWER' }] }]);
  });
});
