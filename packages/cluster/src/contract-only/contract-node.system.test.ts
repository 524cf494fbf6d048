import { createClient } from '@porthole/client';
import { codeOf, searchItems } from '@porthole/contract';
import { createZone, parseUserFormats, WorkerPool } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import type { FollowItem, FollowQuery, FoundRecord, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeLindb } from '../testing/fake-lindb.ts';
import { ContractNode, type ContractNodeOptions } from './contract-node.ts';

const NEWEST: SearchQuery = { order: 'newest', limit: 100_000, before: 0, after: 0 };
const START_MS = Date.UTC(2026, 10, 15, 12);

/** Lines as LinDB writes them; every tenth is an error. */
function lines(from: number, to: number, stepMs = 1000): string {
  let text = '';
  for (let number = from; number < to; number++) text += `${line(number, stepMs)}\n`;
  return text;
}

function line(number: number, stepMs = 1000): string {
  const time = new Date(START_MS + number * stepMs).toISOString().replace('T', ' ').slice(0, -1);
  return `${time}\t${number % 10 === 9 ? 'ERROR' : 'INFO'}\tbroker/runtime.go:${number % 7}\tline ${number}`;
}

function contractNode(
  fake: FakeLindb,
  limits: ContractNodeOptions['limits'] = {},
  formats?: ContractNodeOptions['formats'],
): ContractNode {
  const threads = new WorkerPool(1, { scansHere: true });
  const node = new ContractNode({
    node: createClient({ url: fake.url, retries: 0 }),
    zone: createZone('UTC'),
    memberZone: createZone('UTC'),
    threads,
    limits,
    formats,
    pollMs: 100,
  });
  onTestFinished(async () => {
    await node.close();
    await threads.close();
  });
  return node;
}

async function search(
  node: ContractNode,
  query: Partial<SearchQuery> = {},
): Promise<{ records: FoundRecord[]; end: SearchEnd }> {
  const items: SearchItem[] = [];
  for await (const batch of searchItems(node, { ...NEWEST, ...query })) items.push(...batch);
  const end = items.pop();
  if (end?.type !== 'end') throw new Error('a search without an end');
  return { records: items as FoundRecord[], end };
}

describe('a contract-only node', () => {
  it('is searched with times, levels and every filter, but for the first line, which LinDB never sends', async () => {
    const node = contractNode(await FakeLindb.start({ 'lind-broker.log': lines(0, 100) }));
    const { records, end } = await search(node);
    expect(records.map(({ message }) => message)).toEqual(
      Array.from({ length: 99 }, (_unused, place) => `line ${99 - place}`),
    );
    expect(records[0]).toMatchObject({
      file: 'lind-broker.log',
      timeMs: START_MS + 99_000,
      level: 'ERROR',
      source: 'broker/runtime.go:1',
    });
    expect(end).toMatchObject({ reason: 'exhausted', problems: [], coveredFromMs: START_MS + 1000 });
    expect(end.limits).toMatch(
      /^served from the newest [\d.]+ KiB of [\d.]+ KiB in 1 file; times read in the zone UTC$/,
    );
    const errors = await search(node, { minLevel: 'ERROR', terms: ['line 4'] });
    expect(errors.records.map(({ message }) => message)).toEqual(['line 49']);
  });

  it('is read with formats of the settings', async () => {
    const { formats } = parseUserFormats([{ name: 'own', lines: '{level};{time};{message}', times: 'epoch' }]);
    const text = [1, 2, 3].map((second) => `W;${START_MS + second};line ${second}\n`).join('');
    const node = contractNode(await FakeLindb.start({ 'own.log': text }), {}, formats);
    expect((await search(node)).records[0]).toMatchObject({ timeMs: START_MS + 3, level: 'WARN', message: 'line 3' });
  });

  it('has no limits if its tails hold everything requested', async () => {
    const node = contractNode(await FakeLindb.start({ 'a.log': lines(0, 100) }));
    expect((await search(node, { fromMs: START_MS + 50_000 })).end).not.toHaveProperty('limits');
    expect((await search(node, { fromMs: START_MS + 500 })).end).toHaveProperty('limits');
    // The newest of more than there are: the rest is for the next page, which says so.
    const page = await search(node, { limit: 10 });
    expect(page.end).toMatchObject({ reason: 'limit' });
    expect(page.end).not.toHaveProperty('limits');
    const rest = await search(node, { start: { cursor: page.end.cursor ?? '' } });
    expect(rest.records).toHaveLength(89);
    expect(rest.end).toHaveProperty('limits');
  });

  it('covers a time only as far back as the shortest of its tails', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 1000), 'b.log': lines(800, 810) });
    const { end } = await search(contractNode(fake, { tailBytes: 6000 }));
    const oldest = await search(contractNode(fake, { tailBytes: 6000 }), { order: 'oldest', src: ['=a.log'] });
    expect(end.coveredFromMs).toBe(oldest.records[0]?.timeMs);
    expect(end.coveredToMs).toBeGreaterThan(START_MS + 999_000);
    expect((await search(contractNode(fake, { tailBytes: 6000 }), { toMs: START_MS })).end).toMatchObject({
      coveredFromMs: null,
      coveredToMs: null,
    });
  });

  it('says of a page of the newest records that it reaches behind the shortest of its tails', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 1000), 'b.log': lines(800, 810) });
    const node = contractNode(fake, { tailBytes: 6000 });
    const { records } = await search(node, { src: ['=a.log'] });
    const inside = await search(node, { limit: records.length - 1 });
    expect(inside.end).toMatchObject({ reason: 'limit' });
    expect(inside.end).not.toHaveProperty('limits');
    // Records of a.log that are newer than the last of these are missing.
    const behind = await search(node, { limit: records.length + 5 });
    expect(behind.records.at(-1)?.file).toBe('b.log');
    expect(behind.end).toMatchObject({ reason: 'limit', limits: expect.stringContaining('served from the newest') });
  });

  it('says what was read for a request, whatever others request meanwhile', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 20_000), 'b.log': lines(0, 10), 'c.log': lines(0, 10) });
    const node = contractNode(fake, { maxFiles: 2 });
    const stream = searchItems(node, NEWEST);
    await stream.next();
    const readMs = Date.now();
    const lists = fake.counts['/api/v1/log/list'] ?? 0;
    await eventually(async () => {
      await search(node, { src: ['=b.log'] });
      expect(fake.counts['/api/v1/log/list']).toBeGreaterThan(lists);
    });
    let last: SearchItem | undefined;
    for await (const items of stream) last = items.at(-1) ?? last;
    if (last?.type !== 'end') throw new Error('a search without an end');
    expect(last.problems).toMatchObject([{ file: 'c.log', code: 'NOT_SUPPORTED' }]);
    expect(last.coveredToMs).toBeLessThanOrEqual(Math.max(readMs, START_MS + 20_000_000));
  });

  it('does not know whether a group is new: the rest of its files may have it', async () => {
    const late = line(99).replace('runtime.go:1', 'fresh.go:1');
    const node = contractNode(await FakeLindb.start({ 'a.log': `${lines(0, 99)}${late}\n` }), { tailBytes: 3000 });
    const fromMs = START_MS + 90_000;
    const { groups, baseline, end } = await node.logDigest({ limit: 9, fromMs, newSinceMs: fromMs });
    expect(groups.find(({ source }) => source === 'broker/fresh.go:1')).toMatchObject({
      isNew: false,
      isNewUnknown: true,
    });
    expect(groups.filter(({ isNew, isNewUnknown }) => isNew || isNewUnknown)).toHaveLength(1);
    expect(baseline).toMatchObject({ isComplete: false, detail: expect.stringContaining('served from the newest') });
    // The counts themselves are whole.
    expect(end).not.toHaveProperty('limits');
  });

  it('is counted and grouped', async () => {
    const node = contractNode(await FakeLindb.start({ 'a.log': lines(0, 101) }));
    const { buckets, end } = await node.logHistogram({ buckets: 1, bucketMs: 3_600_000 });
    expect(buckets).toEqual([{ startMs: START_MS, counts: { INFO: 90, ERROR: 10 } }]);
    expect(end.limits).toContain('1 file');
    const { groups } = await node.logDigest({ limit: 10, minLevel: 'ERROR' });
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(10);
  });

  it('lists its files with their real sizes, formats and times', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 10), 'bad.log': lines(0, 10), 'none.log': '' });
    fake.unreadable.add('bad.log');
    const files = await contractNode(fake).logFiles();
    expect(files.map(({ name, size, format, lastTimeMs }) => ({ name, size, format, lastTimeMs }))).toEqual([
      { name: 'a.log', size: lines(0, 10).length, format: 'contract', lastTimeMs: START_MS + 9000 },
      { name: 'bad.log', size: lines(0, 10).length, format: 'unreadable', lastTimeMs: null },
      { name: 'none.log', size: 0, format: 'empty', lastTimeMs: null },
    ]);
    expect(files[1]?.problem).toContain('failed to open log file: bad.log');
  });

  it('says what one of its files is read as', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 10), 'b.log': lines(0, 10) });
    const files = await contractNode(fake).logFiles({ src: ['=b.log'] });
    expect(files.map(({ name, learned }) => [name, learned?.facts[0]])).toEqual([
      ['b.log', { label: 'Format', text: 'contract: a built-in format' }],
    ]);
  });

  it('is requested for a tail once; later for its list and new bytes', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 100), 'b.log': lines(0, 100) });
    const node = contractNode(fake);
    await search(node);
    await eventually(async () => {
      await search(node);
      expect(fake.counts['/api/v1/log/list']).toBeGreaterThan(2);
    });
    expect(fake.counts).toMatchObject({ '/api/v1/log/view': 2 });
    fake.write('a.log', lines(100, 110));
    await eventually(async () => expect((await search(node)).records).toHaveLength(99 + 99 + 10));
    expect(fake.counts['/api/v1/log/view']).toBe(3);
    expect(Object.keys(fake.counts).sort()).toEqual(['/api/v1/log/list', '/api/v1/log/view']);
  });

  it('lists its files once before and once after hundreds of new ones are read, and once if some cannot be', async () => {
    const names = Array.from({ length: 300 }, (_unused, number) => `log${'x'.repeat(number % 40)}-${number}.log`);
    const fake = await FakeLindb.start(Object.fromEntries(names.map((name) => [name, lines(0, 3)])));
    for (const name of names.slice(0, 10)) fake.unreadable.add(name);
    const { records, end } = await search(contractNode(fake, { maxFiles: 300 }));
    expect(records).toHaveLength(2 * 290);
    expect(end.problems).toHaveLength(10);
    expect(fake.counts).toEqual({ '/api/v1/log/list': 3, '/api/v1/log/view': 300 });
  });

  it('has valid cursors, also after more was written', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 100) });
    const node = contractNode(fake);
    const { records } = await search(node, { limit: 5 });
    fake.write('a.log', lines(100, 110));
    await eventually(async () => expect((await search(node)).records).toHaveLength(109));
    const behind = await search(node, { order: 'oldest', start: { cursor: records[4]?.cursor ?? '' } });
    expect(behind.records[0]?.message).toBe('line 96');
    expect(behind.records).toHaveLength(14);
  });

  it('an empty directory is a valid response', async () => {
    const { records, end } = await search(contractNode(await FakeLindb.start()));
    expect(records).toEqual([]);
    expect(end).toMatchObject({ reason: 'exhausted', problems: [] });
  });
});

describe('what cannot be read of such a node', () => {
  it('one unreadable file is reported, and the others are returned', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 10), 'bad.log': lines(0, 10) });
    fake.unreadable.add('bad.log');
    const node = contractNode(fake);
    const { records, end } = await search(node);
    expect(records).toHaveLength(9);
    expect(end.problems).toEqual([
      { file: 'bad.log', code: 'LOG_FILE_UNREADABLE', detail: expect.stringContaining('failed to open log file') },
    ]);
    const asked = search(node, { src: ['=bad.log'] });
    await expect(asked).rejects.toMatchObject({ code: 'LOG_FILE_UNREADABLE' });
    fake.unreadable.clear();
    await eventually(async () => expect((await search(node)).end.problems).toEqual([]));
  });

  it('a file that is not there is LOG_FILE_NOT_FOUND, also for a view', async () => {
    const node = contractNode(await FakeLindb.start({ 'a.log': lines(0, 10) }));
    const failures = [search(node, { src: ['=no.log'] }), node.viewLog({ file: 'no.log', sizeBytes: 100 })];
    for (const failure of await Promise.allSettled(failures))
      expect(failure.status === 'rejected' && codeOf(failure.reason)).toBe('LOG_FILE_NOT_FOUND');
  });

  it('a file that goes missing between list and view costs only itself', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 10), 'b.log': lines(0, 10) });
    fake.beforeView = (file) => void (file === 'a.log' && fake.files.delete('a.log'));
    const { records, end } = await search(contractNode(fake));
    expect(records).toHaveLength(9);
    expect(end.problems).toMatchObject([{ file: 'a.log', code: 'LOG_FILE_NOT_FOUND' }]);
  });

  it('more than a hundred files are read; those beyond the limits are reported', async () => {
    const files: Record<string, string> = {};
    for (let number = 0; number < 110; number++)
      files[`log${String.fromCharCode(97 + (number % 26))}${'x'.repeat(number)}.log`] = lines(0, 3);
    const fake = await FakeLindb.start(files);
    expect((await search(contractNode(fake))).records).toHaveLength(220);
    const { records, end } = await search(contractNode(fake, { maxFiles: 105 }));
    expect(records).toHaveLength(210);
    expect(end.problems).toHaveLength(1);
    expect(end.problems[0]?.detail).toMatch(/^not read \(also .* and 2 more files\): exceeds/);
  });

  it('nothing is lost behind a line that LinDB does not send, and what is before it is reported', async () => {
    const long = `${line(100)} ${'x'.repeat(70_000)}\n`;
    const fake = await FakeLindb.start({ 'a.log': lines(0, 100) + long + lines(101, 400) });
    const node = contractNode(fake);
    const { records, end } = await search(node);
    expect(records.map(({ message }) => message)).toEqual(
      Array.from({ length: 299 }, (_unused, place) => `line ${399 - place}`),
    );
    expect(end.problems).toMatchObject([{ file: 'a.log', code: 'LOG_FILE_UNREADABLE' }]);
    expect(end.coveredFromMs).toBe(START_MS + 101_000);
  });

  it('invalid names are reported and never become files', async () => {
    const fake = await FakeLindb.start({ '../evil.log': 'a\nb\n', 'sub/x.log': 'a\nb\n', 'a.log': lines(0, 3) });
    const { records, end } = await search(contractNode(fake));
    expect(records).toHaveLength(2);
    expect(end.problems).toMatchObject([{ code: 'NOT_SUPPORTED' }]);
    expect(fake.requests.map(({ file }) => file)).not.toContain('../evil.log');
  });
});

/** Collects what a follow emits until the test ends. */
function follow(node: ContractNode, query: Partial<FollowQuery> = {}) {
  const items: FollowItem[] = [];
  const controller = new AbortController();
  const state = { items, isOpen: false, error: undefined as unknown, stop: () => controller.abort() };
  const run = async () => {
    for await (const batch of node.followLogs({ start: 'end', ...query }, { signal: controller.signal })) {
      state.isOpen = true;
      items.push(...batch);
    }
  };
  const running = run().catch((error: unknown) => {
    state.error = error;
  });
  onTestFinished(async () => {
    controller.abort();
    await running;
  });
  return Object.assign(state, {
    messages: () => items.flatMap((item) => (item.type === 'record' ? [item.message] : [])),
    events: () => items.filter(({ type }) => type !== 'record'),
  });
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_unused, place) => `line ${from + place}`);

describe('a follow of such a node', () => {
  it('emits what is written, once, with times and levels', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 10) });
    const followed = follow(contractNode(fake), { minLevel: 'ERROR' });
    const all = follow(contractNode(fake), { start: { back: 2 } });
    await eventually(() => expect([followed.isOpen, all.isOpen]).toEqual([true, true]));
    for (let number = 10; number < 40; number += 10) {
      fake.write('a.log', lines(number, number + 10));
      await eventually(() => expect(all.messages()).toEqual(numbered(8, number + 10)));
    }
    await eventually(() => expect(followed.messages()).toEqual(['line 19', 'line 29', 'line 39']));
    expect(all.items).toContainEqual(expect.objectContaining({ level: 'ERROR', timeMs: START_MS + 39_000 }));
    expect([...followed.events(), ...all.events()]).toEqual([]);
  });

  it('goes through a rotation; only the first line of the new file, which LinDB never sends, is a gap', async () => {
    const fake = await FakeLindb.start({ 'lind-broker.log': lines(0, 10) });
    const followed = follow(contractNode(fake));
    await eventually(() => expect(followed.isOpen).toBe(true));
    fake.write('lind-broker.log', lines(10, 20));
    await eventually(() => expect(followed.messages()).toEqual(numbered(10, 20)));
    // Written between the last list and the rotation.
    fake.write('lind-broker.log', lines(20, 25));
    fake.rename('lind-broker.log', 'lind-broker-2026-11-15T00-21-26.600.log');
    fake.write('lind-broker.log', lines(25, 30));
    await eventually(() => expect(followed.messages()).toEqual([...numbered(10, 25), ...numbered(26, 30)]));
    fake.write('lind-broker.log', lines(30, 35));
    await eventually(() => expect(followed.messages()).toEqual([...numbered(10, 25), ...numbered(26, 35)]));
    expect(followed.events().filter(({ type }) => type === 'gap')).toEqual([
      { type: 'gap', family: 'lind-broker.log', reason: 'gone', bytes: line(25).length + 1, after: null, until: null },
    ]);
    expect(followed.events().filter(({ type }) => type === 'rotated')).toHaveLength(1);
  });

  it('reports a gap if more was written than a tail holds, and continues after it', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 100) });
    const followed = follow(contractNode(fake, { tailBytes: 4000 }));
    await eventually(() => expect(followed.isOpen).toBe(true));
    fake.write('a.log', lines(100, 2000));
    await eventually(() => expect(followed.messages().at(-1)).toBe('line 1999'));
    const [gap, ...more] = followed.events();
    expect(more).toEqual([]);
    expect(gap).toMatchObject({ type: 'gap', family: 'a.log' });
    const read = followed.messages().length;
    expect(gap?.type === 'gap' && gap.bytes).toBe(lines(100, 2000 - read).length);
    expect(followed.messages()).toEqual(numbered(2000 - read, 2000));
    expect(followed.items.findIndex(({ type }) => type === 'gap')).toBe(0);
    fake.write('a.log', lines(2000, 2010));
    await eventually(() => expect(followed.messages()).toEqual(numbered(2000 - read, 2010)));
  });

  it('continues at its cursor', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 10) });
    const node = contractNode(fake);
    const { records } = await search(node, { limit: 3 });
    const followed = follow(node, { start: { cursor: records[2]?.cursor ?? '' } });
    await eventually(() => expect(followed.messages()).toEqual(numbered(8, 10)));
    fake.write('a.log', lines(10, 12));
    await eventually(() => expect(followed.messages()).toEqual(numbered(8, 12)));
  });

  it('goes on after a restart of the node, and says in between that it is gone', async () => {
    const fake = await FakeLindb.start({ 'a.log': lines(0, 10) });
    const followed = follow(contractNode(fake));
    await eventually(() => expect(followed.isOpen).toBe(true));
    fake.write('a.log', lines(10, 12));
    await eventually(() => expect(followed.messages()).toEqual(numbered(10, 12)));
    fake.stop();
    await eventually(() =>
      expect(followed.events()).toEqual([{ type: 'reconnecting', reason: expect.any(String), waitMs: 100 }]),
    );
    fake.write('a.log', lines(12, 20));
    await fake.restart();
    await eventually(() => expect(followed.messages()).toEqual(numbered(10, 20)));
    fake.write('a.log', lines(20, 25));
    await eventually(() => expect(followed.messages()).toEqual(numbered(10, 25)));
    expect([followed.error, followed.events().length]).toEqual([undefined, 1]);
  });
});
