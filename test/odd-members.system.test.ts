import {
  type Handler,
  JSON_HEADERS,
  NDJSON_HEADERS,
  respondWith,
  SSE_HEADERS,
  startOddServer,
  testMember,
} from '@porthole/client/testing';
import { collectResponse, endItem, FakeNode, fakeCluster, record, searchCluster } from '@porthole/cluster/testing';
import { recordLine } from '@porthole/console/testing';
import { exactJson, isErrorCode } from '@porthole/contract';
import { createZone, type FollowItem, type FoundRecord } from '@porthole/logs';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { type Colors, explainItem, formatRecord, type RecordStyle } from 'porthole/testing';
import { describe, expect, it } from 'vitest';

const RUNS = 75;
const ALL = { order: 'oldest', limit: 1000, before: 0, after: 0 } as const;
const STYLE: Omit<RecordStyle, 'format'> = {
  colors: new Proxy({}, { get: (_, name) => (name === 'isColorSupported' ? false : String) }) as Colors,
  zone: createZone('UTC'),
  isTty: true,
  prefix: true,
  marks: undefined,
};

const own = Array.from({ length: 5 }, (_, at) => ({ ...record(`own ${at}`, at * 10), cursor: `o${at}` }));
const sound: object[] = Array.from({ length: 4 }, (_, at) => ({
  ...{ type: 'record', file: 'b.log', offset: at, bytes: 9, cursor: `b${at}`, timeMs: 5 + at * 10, level: 'INFO' },
  ...{ source: 'a.go:1', tags: ['x'], message: `theirs ${at}`, context: { a: 1 } },
}));

/** Values that no field expects, some of them deep or large. */
const nonsense = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    [],
    {},
    -1,
    1e300,
    '',
    'x',
    null,
    true,
    JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`),
  ),
);

const mutation = fc.record({
  at: fc.nat(4),
  kind: fc.constantFrom('field', 'item', 'type', 'text', 'none'),
  name: fc.constantFrom(
    ...[
      'message',
      'file',
      'cursor',
      'timeMs',
      'level',
      'source',
      'tags',
      'context',
      'contextText',
      'raw',
      'before',
      'after',
    ],
    ...[
      'cut',
      'offset',
      'bytes',
      'node',
      'atMs',
      'problems',
      'reason',
      'records',
      'scannedBytes',
      'coveredToMs',
      '__proto__',
    ],
  ),
  value: nonsense,
  text: fc.constantFrom(
    '',
    'x',
    '{',
    '[1]',
    'null',
    '"a"',
    '{}',
    '{"type":"hologram"}',
    '{"type":7}',
    `{"a":${'['.repeat(9000)}`,
  ),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

/** The lines of a response with one of them changed. */
function mutated({ at, kind, name, value, text }: Mutation): string[] {
  const items = [...sound, endItem({ records: sound.length })];
  const lines = items.map((item) => JSON.stringify(item));
  const item = items[at] ?? {};
  const deep = (of: unknown) => `{"type":"record",${JSON.stringify(JSON.stringify(of).length)}:1}`;
  const write = (changed: unknown) => {
    try {
      return JSON.stringify(changed);
    } catch {
      return deep(item);
    }
  };
  // The end itself is needed to know that the response is whole.
  if (kind === 'text' && at < sound.length) lines[at] = text;
  if (kind === 'item' && at < sound.length) lines[at] = write(value);
  if (kind === 'type' && at < sound.length) lines[at] = write({ ...item, type: value });
  if (kind === 'field') lines[at] = write(Object.fromEntries([...Object.entries(item), [name, value]]));
  return lines;
}

const member = async (handler: Handler) => testMember({ url: (await startOddServer(handler)).url });

describe('a member that sends what makes no sense', () => {
  it('costs neither the others nor the rest of its own records, and is reported', async () => {
    let body = '';
    const odd = await member((_request, response) => void response.writeHead(200, NDJSON_HEADERS).end(body));
    await fc.assert(
      fc.asyncProperty(mutation, async (change) => {
        body = mutated(change)
          .map((line) => `${line}\n`)
          .join('');
        const parts = fakeCluster({ a: new FakeNode({ records: own }), b: odd });
        const { records, end } = await collectResponse(searchCluster(parts, ALL));
        const ofOwn = records.filter(({ node }) => node === 'a').map(({ message }) => message);
        expect(ofOwn).toEqual(own.map(({ message }) => message));
        const theirs = records.filter(({ node }) => node === 'b');
        expect(theirs.length).toBeGreaterThanOrEqual(sound.length - 1);
        const report = end.members.find(({ id }) => id === 'b');
        if (theirs.length < sound.length && change.text !== '')
          expect(report).toMatchObject({ outcome: 'version', detail: expect.stringContaining('left out') });
        for (const each of records) {
          for (const format of ['json', 'pretty', 'raw', 'logfmt'] as const) formatRecord(each, { ...STYLE, format });
          recordLine(each, { withNode: true });
          JSON.parse(exactJson(each));
        }
      }),
      { seed: 9, numRuns: runs(RUNS) },
    );
  });

  it('is followed on, and what was left out is said', async () => {
    const last = { ...sound[0], cursor: 'last', message: 'the last' };
    let body = '';
    const odd = await member((_request, response) => void response.writeHead(200, SSE_HEADERS).write(body));
    await fc.assert(
      fc.asyncProperty(mutation, async (change) => {
        const lines = [...mutated(change).slice(0, -1), JSON.stringify(last)];
        body = lines.map((line) => `data: ${line}\n\n`).join('');
        const leaving = new AbortController();
        const found: FollowItem[] = [];
        for await (const items of odd.followLogs({ start: 'end' }, { signal: leaving.signal })) {
          found.push(...items);
          if (items.some((item) => item.type === 'record' && item.message === 'the last')) leaving.abort();
        }
        const records = found.filter((item): item is FoundRecord => item.type === 'record');
        expect(records.length).toBeGreaterThanOrEqual(sound.length);
        if (records.length <= sound.length && change.text !== '')
          expect(found.some(({ type }) => type === 'skipped')).toBe(true);
        for (const item of found) if (item.type !== 'record') expect(explainItem(item)).toEqual(expect.any(String));
      }),
      { seed: 9, numRuns: runs(RUNS) },
    );
  });

  it('in a digest or a histogram costs what makes no sense, and no more', async () => {
    const good = {
      level: 'INFO',
      source: 'a.go:1',
      shape: null,
      count: 2,
      firstMs: 1,
      lastMs: 2,
      isNew: false,
      sample: sound[0],
    };
    const digest = {
      groups: [good, { ...good, count: 'x' }, { ...good, sample: { type: 'record', message: [1] } }],
      totalGroups: 3,
      ungrouped: 0,
      end: endItem(),
    };
    const asked = await (await member(respondWith(200, JSON.stringify(digest), JSON_HEADERS))).logDigest({ limit: 5 });
    expect(asked.groups).toHaveLength(1);
    expect(asked.end.problems).toEqual([
      { file: '', code: 'BAD_ANSWER', detail: expect.stringMatching(/^2 items were left out/) },
    ]);
    const histogram = {
      bucketMs: 1,
      buckets: [{ startMs: 1, counts: { INFO: 1 } }, { startMs: 'x' }, null],
      untimed: 0,
      end: endItem(),
    };
    const counted = await (await member(respondWith(200, JSON.stringify(histogram), JSON_HEADERS))).logHistogram({
      buckets: 5,
    });
    expect(counted.buckets).toEqual([{ startMs: 1, counts: { INFO: 1 } }]);
    expect(counted.end.problems).toHaveLength(1);
  });

  it.each([
    [400, 'QUOTA_EXCEEDED', 'BAD_ANSWER'],
    [404, 'TENANT_NOT_FOUND', 'BAD_ANSWER'],
    [429, 'QUOTA_EXCEEDED', 'RATE_LIMITED'],
    [500, 'DISK_ON_FIRE', 'INTERNAL'],
  ])('an error %s with the unknown code %s keeps it', async (status, remoteCode, code) => {
    const odd = await member(
      respondWith(status, JSON.stringify({ code: remoteCode, detail: 'no more today' }), JSON_HEADERS),
    );
    const error: unknown = await odd.listLogs().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, remoteCode, status, message: `${remoteCode}: no more today` });
    expect(isErrorCode((error as { code: string }).code)).toBe(true);
    const parts = fakeCluster({ a: new FakeNode({ records: own }), b: odd });
    const { records, end } = await collectResponse(searchCluster(parts, ALL));
    expect(records).toHaveLength(own.length);
    expect(end.members.find(({ id }) => id === 'b')?.detail).toContain(`${remoteCode}: no more today`);
  });
});
