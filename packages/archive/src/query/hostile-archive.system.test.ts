import { codeOf, familySource, fileSource } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ArchiveRow } from '../testing/archive-row.ts';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import type { ArchiveState } from './archive-state.ts';
import type { ArchiveOptions } from './prepare-query.ts';
import { encodeArchiveCursor } from './search-archive.ts';
import { ArchiveFixture, collect } from './testing/archive-fixture.ts';

const START_MS = Date.UTC(2026, 10, 10, 8);
const ALL = { order: 'oldest' as const, limit: 1000, before: 0, after: 0 };

let server: TestClickHouse;
let archive: ArchiveFixture;

beforeAll(async () => {
  server = await startClickHouse();
  archive = await ArchiveFixture.create(server.connect({ database: server.newDatabase() }));
});

afterAll(() => server.stop());

beforeEach(async () => {
  await archive.clear();
  await archive.insert([row({ line: 'good', file_offset: 1 })]);
});

function row(more: Partial<ArchiveRow>): Partial<ArchiveRow> {
  const place = {
    cluster: 'c',
    node: 'n',
    role: 'r',
    log: 'a.log',
    file: 'a.log',
    file_id: 'f',
    mark: '0123456789abcdef.s',
  };
  return { ...place, day: '2026-11-10', time_ms: START_MS, has_time: 1, level: 'INFO', tags: [], ...more };
}

/** Every query that reads rows. */
async function askAll(state: ArchiveState, request: object, options: ArchiveOptions = {}) {
  const search = await collect(state.searchLogs({ ...ALL, ...request }, options));
  const histogram = await state.logHistogram({ buckets: 1, bucketMs: 3_600_000, ...request }, options);
  const digest = await state.logDigest({ limit: 100, ...request }, options);
  const tops = [];
  for (const by of ['level', 'source', 'component', 'message', 'shard'])
    tops.push(await state.logTop({ by, limit: 100, ...request }, options));
  const fields = await state.logFields({ limit: 100, ...request }, options);
  return { search, histogram, digest, tops, fields };
}

describe('a row that no node has written', () => {
  const huge = 'x'.repeat(300_000);
  const ROWS: [string, Partial<ArchiveRow>, string | undefined][] = [
    ['an unknown level', { level: "NOPE'; --" }, 'unknown level'],
    ['a huge line', { line: huge }, 'text of 300000 bytes'],
    ['a context that is no JSON', { context: '{"a":' }, 'context is not a JSON object'],
    ['a context that is a list', { context: '[1,2]' }, 'context is not a JSON object'],
    ['a huge context', { context: JSON.stringify({ huge }) }, 'context is not a JSON object'],
    ['a message outside of its line', { line: 'abc', message_at: 4_000_000_000, message_tail: 7 }, 'message outside'],
    ['an invalid mark', { mark: '~~~' }, 'invalid cursor'],
    ['thousands of huge tags', { tags: Array.from({ length: 2000 }, () => huge.slice(0, 2000)) }, undefined],
    ['a huge source and file', { source: huge, file: huge }, undefined],
    ['a deep context', { context: `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}` }, 'context is not a JSON object'],
  ];

  it('is shown as far as possible and reported, each log by itself', async () => {
    const bad = ROWS.map(([what, fields], index) => row({ line: 'bad', log: what, file_offset: 2 + index, ...fields }));
    await archive.insert(bad);
    const { search, histogram, digest, tops } = await askAll(archive.state, {});
    const count = ROWS.length + 1;
    expect(search.records).toHaveLength(count);
    expect(JSON.stringify(search.records).length).toBeLessThan(1_000_000);
    const problems = new Map((search.end.problems ?? []).map(({ file, code, detail }) => [file, `${code} ${detail}`]));
    for (const [what, , detail] of ROWS) {
      if (detail === undefined) expect([what, problems.get(what)]).toEqual([what, undefined]);
      else expect(problems.get(what)).toMatch(`ARCHIVE_ROW_INVALID an archived row is not valid: ${detail}`);
    }
    expect(search.end.members).toMatchObject([{ id: 'n', count, isPartial: true }]);
    expect(histogram.members).toMatchObject([{ count }]);
    expect(digest.groups.reduce((sum, group) => sum + group.count, 0)).toBe(count);
    for (const { values, others, missing } of tops)
      expect(values.reduce((sum, value) => sum + value.count, others + missing)).toBeGreaterThanOrEqual(count);
  });

  it('and identifies no record is left out', async () => {
    await archive.insert([
      row({ line: 'bad', node: 'n'.repeat(200) }),
      row({ line: 'bad', log: 'l'.repeat(2000) }),
      row({ line: 'bad', file_offset: '18446744073709551615' as never }),
      row({ line: 'bad', time_ms: '9223372036854775807' as never }),
      row({ line: 'bad', cluster: 'other' }),
    ]);
    const { search, histogram } = await askAll(archive.state, {});
    expect(search.records.map(({ message }) => message)).toEqual(['good']);
    expect(histogram.members).toMatchObject([{ count: 1 }]);
  });

  it('at odd times is found, in a partition that its time does not tell', async () => {
    const times = [-5, 0, 5, Date.UTC(2150, 0, 1), -8.64e15, 8.64e15];
    await archive.insert(times.map((time_ms, index) => row({ line: 'odd', time_ms, file_offset: 10 + index })));
    for (const order of ['newest', 'oldest'] as const) {
      const found: number[] = [];
      for (let start: Partial<SearchQuery> = {}; ; ) {
        const { records, end } = await collect(archive.state.searchLogs({ ...ALL, order, limit: 2, ...start }));
        found.push(...records.map(({ timeMs = Number.NaN }) => timeMs));
        if (end.cursor === null) break;
        start = { start: { cursor: end.cursor } };
      }
      const expected = [...times, START_MS].sort((a, b) => (order === 'newest' ? b - a : a - b));
      expect(found).toEqual(expected);
    }
    const { members } = await archive.state.logHistogram({ buckets: 10 });
    expect(members[0]?.count).toBe(7);
  });

  it('whose names are no text hides no other', async () => {
    await archive.clickhouse.execute(
      `INSERT INTO records (cluster, node, log, file_id, file_offset, day, time_ms, has_time) ` +
        `SELECT 'c', unhex('FF'), 'a.log', 'f', number, toDate('2026-11-10'), ${START_MS}, 1 FROM numbers(50)`,
    );
    await archive.insert([row({ line: 'later', file_offset: 3, time_ms: START_MS + 1 })]);
    const found: string[] = [];
    for (let [start, pages]: [Partial<SearchQuery>, number] = [{}, 0]; pages < 9; pages++) {
      const { records, end } = await collect(archive.state.searchLogs({ ...ALL, limit: 1, ...start }));
      found.push(...records.map(({ message }) => message));
      if (end.cursor === null) break;
      start = { start: { cursor: end.cursor } };
    }
    expect(found).toEqual(['good', 'later']);
  });
});

/** Everything that means something in SQL, in JSON, or to a server. */
const TEXTS = [
  "'; DROP TABLE records; --",
  "\\' OR 1=1 --",
  "'')) UNION ALL SELECT * FROM records /* ` \" \\",
  '\0\n FORMAT Null {a:String} {{records}} $records %\\u0027',
  '\ud800\u2028\u0130\u212A😀',
];

/** A condition that a field has another value holds. */
function matchesGood({ query }: { query?: { operator?: string; field?: string } }): boolean {
  return query?.operator === '!=' && (query.field === 'level' || query.field === 'message');
}

describe('any text', () => {
  it.each(TEXTS)('%j is a value wherever a request has one, never SQL', async (text) => {
    const { state } = archive;
    const node = { kind: 'text', text } as const;
    const requests: object[] = [
      { terms: [text] },
      { terms: ['good', text], caseSensitive: true },
      { regex: `${text.replace(/[^\w\s]/gu, '\\$&')}` },
      { source: text, component: text },
      { src: [text] },
      { src: [familySource(text), fileSource(text)] },
      { src: [`${text}/${text}`, `*${text}*`] },
      { nodes: [text] },
      { nodes: [`${text}*`] },
      { role: text },
      ...(['=', '!='] as const).flatMap((operator) =>
        ['level', 'source', 'component', 'message', 'shard', text].map((field) => ({
          query: { kind: 'field', field, operator, value: text },
        })),
      ),
      { query: { kind: 'field', field: text, operator: '=', value: `${text}*`, wildcard: true } },
      { query: { kind: 'exists', field: text } },
      { query: { kind: 'and', nodes: [node, { kind: 'not', node: { kind: 'text', text: 'good' } }] } },
    ];
    for (const request of requests) {
      const response = await collect(state.searchLogs({ ...ALL, ...request })).catch((error: unknown) => codeOf(error));
      // A regex may be refused, but never by the archive.
      if (typeof response === 'string') expect(response).toBe('REGEX_INVALID');
      else expect([request, response.records.length]).toEqual([request, matchesGood(request) ? 1 : 0]);
    }
    expect((await state.logHistogram({ buckets: 1, terms: [text] })).buckets).toEqual([]);
    expect((await state.logTop({ by: text, limit: 5 })).missing).toBe(1);
    expect((await state.logTop({ by: 'level', limit: 5, values: [text], bucketMs: 1000 })).others).toBe(1);
    expect((await state.logTop({ by: text, limit: 5, values: [text] })).missing).toBe(1);
    expect((await state.logDigest({ limit: 5, terms: [text] })).groups).toEqual([]);
    expect((await state.logFields({ limit: 5, src: [text] })).fields).toEqual([]);
    expect((await collect(state.searchLogs(ALL, { ids: [text] }))).records).toEqual([]);
    const ceilings = { nodes: { [text]: 5 } };
    expect((await collect(state.searchLogs(ALL, { ceilings }))).records).toHaveLength(1);
    const key = { time_ms: 0, node: text, log: text, file_id: text, file_offset: 0 };
    const start = { cursor: encodeArchiveCursor('oldest', { key }) };
    expect((await collect(state.searchLogs({ ...ALL, start }))).records).toHaveLength(1);
    expect((await collect(archive.createState({ cluster: text }).searchLogs(ALL))).records).toEqual([]);
    const around = { beforeMs: 1, afterMs: 1, limit: 5, nodes: [text] };
    expect((await collect(state.around({ ...around, at: { timeMs: START_MS } }))).records).toEqual([]);
    expect(await archive.clickhouse.query('SELECT count() AS n FROM records')).toEqual([{ n: 1 }]);
  });
});
