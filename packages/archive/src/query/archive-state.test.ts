import type { FoundRecord } from '@porthole/logs/types';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { ArchiveFixture, collect, toRows } from './testing/archive-fixture.ts';

const START_MS = Date.UTC(2026, 10, 10, 8);
const ALL = { order: 'oldest' as const, limit: 1000, before: 0, after: 0 };

let server: TestClickHouse;
let archive: ArchiveFixture;

beforeAll(async () => {
  server = await startClickHouse();
  archive = await ArchiveFixture.create(server.connect({ database: server.newDatabase() }));
});

afterAll(() => server.stop());

beforeEach(() => archive.clear());

/** A record of a log: `atMs` after the start, `null` without a time. */
function record(message: string, atMs: number | null, offset: number, more: Partial<FoundRecord> = {}): FoundRecord {
  const timeMs = atMs === null ? undefined : START_MS + atMs;
  const file = 'a.log';
  const cursor = `0123456789abcdef.s.${offset.toString(36)}.${(offset + 7).toString(36)}.1s.${Buffer.from(file).toString('base64url')}`;
  const raw = `${timeMs ?? ''}\t${message}`;
  return {
    type: 'record',
    file,
    offset,
    bytes: 100,
    cursor,
    ...(timeMs !== undefined && { timeMs }),
    message,
    raw,
    ...more,
  };
}

const records = (name: string, times: readonly (number | null)[], more: Partial<FoundRecord> = {}) =>
  times.map((atMs, index) => record(`${name}${index}`, atMs, index * 100, more));

const messagesOf = (found: readonly { message: string }[]) => found.map(({ message }) => message);

describe('a search of the archive', () => {
  it('merges nodes and logs by time, says what it covers and how far each node has shipped', async () => {
    await archive.ship(records('a', [0, 2000, 4000]), { node: 'a' });
    await archive.ship(records('b', [1000, 3000]), { node: 'b', log: 'b.log' });
    const { records: found, end } = await collect(archive.state.searchLogs({ ...ALL, order: 'newest' }));
    expect(messagesOf(found)).toEqual(['a2', 'b1', 'a1', 'b0', 'a0']);
    expect(found[1]).toEqual({ node: 'b', atMs: START_MS + 3000, ...records('b', [1000, 3000])[1], raw: undefined });
    expect(end).toMatchObject({ reason: 'exhausted', records: 5, cursor: null, problems: [] });
    expect([end.coveredFromMs, end.coveredToMs]).toEqual([START_MS, START_MS + 4000]);
    expect(end.members).toMatchObject([
      { id: 'a', outcome: 'ok', count: 3, asOfMs: Date.UTC(2026, 10, 12) },
      { id: 'b', outcome: 'ok', count: 2 },
    ]);
  });

  it('selects nodes by id, pattern and role, logs by family or file, and hides what is denied', async () => {
    for (const node of ['web-1', 'web-2', 'db-1']) await archive.ship(records(`${node} `, [0]), { node });
    await archive.ship(records('audit', [5]), { node: 'db-1', log: 'audit.log' });
    const find = async (request: object, state = archive.state, options = {}) => {
      const { records: found } = await collect(state.searchLogs({ ...ALL, ...request }, options));
      return messagesOf(found).sort();
    };
    expect(await find({ nodes: ['web-1'] })).toEqual(['web-1 0']);
    expect(await find({ nodes: ['web-*', 'nobody'] })).toEqual(['web-1 0', 'web-2 0']);
    expect(await find({ role: 'broker', nodes: ['db-?'] })).toEqual(['audit0', 'db-1 0']);
    expect(await find({ role: 'storage' })).toEqual([]);
    expect(await find({ nodes: ['web-1'] }, archive.state, { ids: ['db-1'] })).toEqual(['audit0', 'db-1 0']);
    expect(await find({}, archive.state, { ids: [] })).toEqual([]);
    expect(await find({ src: ['audit.log'] })).toEqual(['audit0']);
    expect(await find({ src: ['=audit.log.2.gz'] })).toEqual(['audit0']);
    const hiding = archive.createState({ isHidden: (log) => log.startsWith('audit') });
    expect(await find({ nodes: ['db-1'] }, hiding)).toEqual(['db-1 0']);
    expect(await find({ src: ['audit.log'] }, hiding)).toEqual([]);
    expect((await hiding.logHistogram({ buckets: 1, nodes: ['db-1'] })).buckets).toMatchObject([
      { nodes: { 'db-1': 1 } },
    ]);
  });

  it('returns only what is below the ceiling of a node', async () => {
    for (const node of ['a', 'b', 'gone']) await archive.ship(records(node, [0, null, 1000, 2000]), { node });
    const ceilings = { nodes: { a: START_MS + 1000, b: START_MS + 2000, gone: null } };
    const { records: found } = await collect(archive.state.searchLogs(ALL, { ceilings }));
    expect(messagesOf(found).sort()).toEqual(['a0', 'b0', 'b2', 'gone0', 'gone1', 'gone2', 'gone3']);
    const { buckets, untimed } = await archive.state.logHistogram({ buckets: 1 }, { ceilings });
    expect(buckets.reduce((sum, { nodes }) => sum + (nodes.a ?? 0) + (nodes.b ?? 0) + (nodes.gone ?? 0), untimed)).toBe(
      7,
    );
  });

  it('takes ten thousand nodes, each with a ceiling of its own', async () => {
    await archive.ship(records('a', [0, 1000]), { node: 'node-7' });
    const ids = Array.from({ length: 10_000 }, (_, index) => `node-${index}`);
    const nodes = Object.fromEntries(ids.map((id, index) => [id, START_MS + index]));
    const { records: found } = await collect(archive.state.searchLogs(ALL, { ids, ceilings: { nodes } }));
    expect(messagesOf(found)).toEqual(['a0']);
  });

  it('returns a record once that was shipped twice, and as it was shipped last', async () => {
    const [first, second] = records('m', [0, 1000]) as [FoundRecord, FoundRecord];
    await archive.ship([first, second], { shippedMs: 1000 });
    await archive.ship([first], { shippedMs: 1000 });
    const grown = { ...first, message: `${first.message}\n\tat main`, raw: `${first.raw}\n\tat main`, bytes: 140 };
    await archive.ship([grown], { shippedMs: 2000 });
    const { records: found } = await collect(archive.state.searchLogs({ ...ALL, raw: true }));
    expect(found.map(({ node: _node, atMs: _atMs, ...each }) => each)).toEqual([grown, second]);
    // Also where only the older one matches.
    const without = await collect(archive.state.searchLogs({ ...ALL, excluded: ['main'] }));
    expect(messagesOf(without.records)).toEqual([second.message]);
    expect(await archive.state.logTop({ by: 'message', limit: 9, query: { kind: 'text', text: 'm' } })).toMatchObject({
      values: [{ count: 1 }, { count: 1 }],
    });
  });

  it('starts at a time, in both orders, and refuses positions of nodes', async () => {
    await archive.ship(records('m', [0, 1000, null, 2000]));
    const start = { timeMs: START_MS + 1000 };
    const later = await collect(archive.state.searchLogs({ ...ALL, start }));
    expect(messagesOf(later.records)).toEqual(['m1', 'm2', 'm3']);
    const earlier = await collect(archive.state.searchLogs({ ...ALL, order: 'newest', start }));
    expect(messagesOf(earlier.records)).toEqual(['m0']);
    const refused = async (request: object) => collect(archive.state.searchLogs({ ...ALL, ...request }));
    await expect(refused({ start: { offset: 5 } })).rejects.toMatchObject({ code: 'PARAMETER_INVALID' });
    await expect(refused({ until: 'x' })).rejects.toMatchObject({ code: 'PARAMETER_INVALID' });
    for (const cursor of ['', 'start', 'a1.', 'a1.e30', later.records[0]?.cursor ?? '', `a1.${'A'.repeat(9000)}`])
      await expect(refused({ start: { cursor } })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
    await expect(refused({ regex: '(' })).rejects.toMatchObject({ code: 'REGEX_INVALID' });
  });

  it('a page says where the next one begins, in the order it was asked for only', async () => {
    await archive.ship(records('m', [0, 0, 0, 1000]));
    const first = await collect(archive.state.searchLogs({ ...ALL, limit: 2 }));
    expect(first.end).toMatchObject({ reason: 'limit', coveredFromMs: null });
    const start = { cursor: first.end.cursor ?? '' };
    const second = await collect(archive.state.searchLogs({ ...ALL, start }));
    expect(messagesOf(second.records)).toEqual(['m2', 'm3']);
    expect(second.end).toMatchObject({ coveredFromMs: START_MS + 1, coveredToMs: START_MS + 1000, cursor: null });
    const turned = collect(archive.state.searchLogs({ ...ALL, order: 'newest', start }));
    await expect(turned).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
  });

  it('shows the records before and after a match, also of the file before', async () => {
    await archive.ship(records('m', [0, 1000, null, 2000]));
    const next = records('next', [90_000_000, 90_001_000]).map((each) => ({
      ...each,
      cursor: each.cursor.replace('0123', 'ffff'),
    }));
    await archive.insert(toRows(next, { node: 'n1', log: 'a.log', shippedMs: 1 }));
    const find = async (text: string) => {
      const { records: found } = await collect(
        archive.state.searchLogs({ ...ALL, terms: [text], before: 2, after: 1 }),
      );
      return found.map(({ before = [], after = [] }) => [messagesOf(before), messagesOf(after)]);
    };
    expect(await find('m2')).toEqual([[['m0', 'm1'], ['m3']]]);
    expect(await find('next0')).toEqual([[['m2', 'm3'], ['next1']]]);
    expect(await find('m3')).toEqual([[['m1', 'm2'], ['next0']]]);
  });

  it('around a time or a record, shows what is nearest of each node', async () => {
    await archive.ship(records('a', [0, 1000, 2000, 3000]), { node: 'a' });
    await archive.ship(records('b', [1500, 9000]), { node: 'b' });
    const around = { beforeMs: 2000, afterMs: 2000, limit: 3 };
    const at = await collect(archive.state.around({ ...around, at: { timeMs: START_MS + 2000 } }));
    expect(messagesOf(at.records)).toEqual(['a1', 'b0', 'a2', 'a3']);
    expect(at.end).toMatchObject({ reason: 'limit', cursor: null });
    const cursor = record('', 1500, 0).cursor;
    const named = await collect(archive.state.around({ ...around, at: { node: 'b', cursor } }));
    for (const selection of [{ nodes: ['a'] }, { role: 'other' }, { labels: ['zone=none'] }]) {
      const asked = { ...around, ...selection, at: { timeMs: START_MS + 2000 } };
      const expected = 'nodes' in selection ? ['a1', 'a2', 'a3'] : [];
      expect(messagesOf((await collect(archive.state.around(asked))).records)).toEqual(expected);
    }
    expect(messagesOf(named.records)).toEqual(['a1', 'b0', 'a2', 'a3']);
    const gone = collect(archive.state.around({ ...around, at: { node: 'c', cursor } }));
    await expect(gone).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  });
});

describe('a prepared', () => {
  it('whose budget ends says how far it came, and a search continues there', async () => {
    const hour = 3_600_000;
    await archive.ship(
      records(
        'm',
        Array.from({ length: 50 }, (_, index) => index * 7 * hour),
      ),
    );
    const { records: found, end } = await collect(
      archive.state.searchLogs({ ...ALL, order: 'newest' }, { budgetMs: 0 }),
    );
    expect([found.length, end.reason]).toEqual([0, 'time budget']);
    expect(end.members).toMatchObject([{ id: 'n1', count: 0, isPartial: true }]);
    const rest = await collect(
      archive.state.searchLogs({ ...ALL, order: 'newest', start: { cursor: end.cursor ?? '' } }, { budgetMs: 60_000 }),
    );
    expect(rest.records).toHaveLength(50);
    const counted = await archive.state.logHistogram({ buckets: 10 }, { budgetMs: 60_000 });
    expect([counted.counted, counted.members[0]?.count]).toEqual([null, 50]);
    const nothing = await archive.state.logHistogram({ buckets: 10, bucketMs: hour }, { budgetMs: 0 });
    expect(nothing).toMatchObject({ buckets: [], counted: expect.anything() as unknown });
  });

  it('that nobody waits for any more ends with the reason of its signal', async () => {
    const reason = new Error('gone');
    const response = archive.state.logHistogram({ buckets: 1 }, { signal: AbortSignal.abort(reason) });
    await expect(response).rejects.toBe(reason);
  });

  it('fails with one code, whatever is wrong with the archive', async () => {
    const closed = server.connect({ url: 'http://127.0.0.1:1', database: 'x' });
    const noTables = server.connect({ database: 'default' });
    for (const reader of [closed, noTables]) {
      const state = archive.createState({ reader });
      await expect(state.nodes()).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
      await expect(collect(state.searchLogs(ALL))).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
    }
  });
});

it('of an archive that is silent, neither a list of nodes nor the place of a record is made up', async () => {
  const [{ cursor } = { cursor: '' }] = records('a', [0]);
  await server.pause();
  onTestFinished(() => server.resume());
  const limits = { budgetMs: 200 };
  const around = { at: { node: 'a', cursor }, beforeMs: 1000, afterMs: 1000, limit: 10 };
  const asked = [archive.state.nodes(limits), collect(archive.state.around(around, limits))];
  const unavailable = { status: 'rejected', reason: { code: 'ARCHIVE_UNAVAILABLE' } };
  expect(await Promise.allSettled<unknown>(asked)).toMatchObject([unavailable, unavailable]);
});

it('values of several nodes are counted together, and over time', async () => {
  await archive.ship(records('a', [0, 1000, 61_000], { level: 'ERROR', source: 'a.go:1', tags: ['x', 'y', 'x'] }), {
    node: 'a',
  });
  await archive.ship(records('b', [0], { level: 'INFO', context: { ids: [1, 2] } }), { node: 'b' });
  const { state } = archive;
  expect(await state.logTop({ by: 'component', limit: 1, bucketMs: 60_000 })).toMatchObject({
    values: [
      {
        value: 'x',
        count: 3,
        nodes: { a: 3 },
        buckets: [
          { startMs: START_MS, count: 2 },
          { startMs: START_MS + 60_000, count: 1 },
        ],
      },
    ],
    ...{ others: 3, missing: 1, distinct: 2, isExact: true },
  });
  expect(await state.logTop({ by: 'ids', limit: 5, values: ['2', '7'] })).toMatchObject({
    values: [{ value: '2', count: 1, nodes: { b: 1 } }],
    ...{ others: 1, missing: 3 },
  });
  const { groups } = await state.logDigest({ limit: 5, newSinceMs: START_MS + 1 });
  expect(groups).toMatchObject([
    { source: 'a.go:1', count: 3, isNew: false, nodes: { a: 3 }, sample: { node: 'a', message: 'a2' } },
    { shape: '*', count: 1, nodes: { b: 1 } },
  ]);
  expect((await state.logFields({ limit: 50 })).fields.find(({ name }) => name === 'level')).toMatchObject({
    records: 4,
    nodes: { a: 3, b: 1 },
  });
});

it('a group is new if no node has archived an older record of it, in the range or not', async () => {
  const site = (source: string, times: readonly number[]) => records(source, times, { level: 'ERROR', source });
  await archive.ship(site('old.go:1', [0]), { node: 'a', log: 'a1.log' });
  await archive.ship(site('old.go:1', [9000]), { node: 'b', log: 'b1.log' });
  await archive.ship(site('fresh.go:2', [9000]), { node: 'b', log: 'b2.log' });
  const request = { limit: 5, fromMs: START_MS + 5000, newSinceMs: START_MS + 5000, minLevel: 'ERROR' as const };
  const { groups, baseline } = await archive.state.logDigest({ ...request, nodes: ['a', 'b'] });
  const judged = groups.map(({ source, count, isNew }) => [source, count, isNew]).toSorted();
  expect(judged).toEqual([
    ['fresh.go:2', 1, true],
    ['old.go:1', 1, false],
  ]);
  expect(baseline).toEqual({ fromMs: START_MS, isComplete: true });
  expect((await archive.state.logDigest({ ...request, onlyNew: true })).groups).toMatchObject([
    { source: 'fresh.go:2' },
  ]);
  const late = await archive.state.logDigest(request, { budgetMs: 0 });
  expect(late.groups.filter(({ isNew }) => isNew)).toEqual([]);
  expect(late.baseline).toMatchObject({ isComplete: false, detail: expect.stringContaining('time budget') as unknown });
});
