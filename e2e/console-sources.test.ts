import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createClient } from '@porthole/client';
import {
  type FollowFrom,
  type LogSource,
  type Page,
  type PageRequest,
  type RowFilter,
  recordKey,
  SelectedLogs,
  type ShownRecord,
  type SourceChoice,
} from '@porthole/console/testing';
import { eventually } from '@porthole/logs/testing';
import { share } from '@porthole/records/testing';
import type { TestNode } from '@porthole/server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Member, type MemberSetup, startCluster } from './testing/console-cluster.ts';

const FIRST_MS = Date.UTC(2026, 10, 15, 5);

/** A line of the contract's format, `second` after the first. */
function line(second: number, text: string, level = 'INFO'): string {
  const time = new Date(FIRST_MS + second * 1000).toISOString().slice(0, 23).replace('T', ' ');
  return `${time}\t${level}\ta.go:1\t[A]: ${text}\n`;
}

/** Lines that count from one number to another, both included, one in a second. */
function lines(first: number, last: number, name = 'line'): string {
  let text = '';
  for (let number = first; number <= last; number++) text += line(number, `${name} ${number}`);
  return text;
}

const startNodes = (files: readonly MemberSetup['files'][]) =>
  startCluster(files.map((each) => ({ files: each ?? {} })));

/** What the page of the first of these nodes reads, and what it requests for that: paths without their common prefix. */
function openSources(nodes: readonly Member[]) {
  const requests: string[] = [];
  const client = createClient({
    url: nodes[0]?.url ?? '',
    fetch: (input, init) => {
      requests.push(new URL(String(input)).pathname.replace('/api/v1/', ''));
      return fetch(input, init);
    },
  });
  const source = (...sources: SourceChoice[]) => new SelectedLogs(client, { sources, labels: [] });
  return { nodes, requests, source };
}

function family(node: string, name: string): SourceChoice {
  return { node, log: { kind: 'family', name } };
}

const messages = (records: readonly ShownRecord[]) => records.map(({ node, message }) => `${node} ${message}`);

/** All pages in a direction, oldest first. Fails where there seems to be no end. */
async function readAll(
  source: LogSource,
  request: Omit<PageRequest, 'filter'> & Partial<PageRequest>,
): Promise<ShownRecord[]> {
  const all: ShownRecord[] = [];
  let from = request.from;
  for (let count = 0; count < 200; count++) {
    const page: Page = await source.page({ filter: {}, ...request, from });
    if (request.direction === 'older') all.unshift(...page.records);
    else all.push(...page.records);
    if (page.next === null) return all;
    from = { page: page.next };
  }
  throw new Error('the pages do not end');
}

function appendTo(node: TestNode | undefined, file: string, text: string): void {
  writeFileSync(join(node?.logDir ?? '', file), text, { flag: 'a' });
}

const ALL: RowFilter = {};
/** Uncertainty of clock offsets between nodes of one process on a busy machine. */
const UNSURE_MS = 500;

const A_LOG = family('n1', 'a.log');

/** Rotated twice, the older file compressed. */
const ROTATED = {
  'a.log.2.gz': gzipSync(lines(0, 299)),
  'a.log.1': lines(300, 599),
  'a.log': lines(600, 899),
  'other.log': lines(0, 50, 'other'),
};

const numbered = (first: number, last: number, name = 'n1 line') =>
  Array.from({ length: last - first + 1 }, (_, index) => `${name} ${first + index}`);

/** The followed items as they arrive; ends with the test. */
function collect(source: LogSource, from: FollowFrom): string[] {
  const received: string[] = [];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  void (async () => {
    for await (const items of source.follow({ from, filter: ALL }, { signal: leaving.signal })) {
      if (items.length === 0) received.push('(started)');
      for (const item of items) received.push(item.type === 'record' ? `${item.node} ${item.message}` : item.type);
    }
  })();
  return received;
}

describe('one log of one node', () => {
  const rotated = share(() => startNodes([ROTATED]));

  it('is opened at its end with one request', async () => {
    const { source, requests } = openSources(rotated());
    const page = await source(A_LOG).page({ direction: 'older', from: 'end', limit: 200, filter: ALL });
    expect(messages(page.records)).toEqual(numbered(700, 899));
    expect(page.records[0]).toMatchObject({
      node: 'n1',
      atMs: FIRST_MS + 700_000,
      raw: line(700, 'line 700').trimEnd(),
    });
    expect(requests).toEqual(['log/search']);
    expect(page.members).toMatchObject([{ id: 'n1', outcome: 'ok' }]);
  });

  it('is read completely in both directions, compressed files included', async () => {
    const { source } = openSources(rotated());
    const log = source(A_LOG);
    expect(messages(await readAll(log, { direction: 'older', from: 'end', limit: 170 }))).toEqual(numbered(0, 899));
    expect(messages(await readAll(log, { direction: 'newer', from: 'start', limit: 170 }))).toEqual(numbered(0, 899));
    for (const [direction, from] of [
      ['older', 'start'],
      ['newer', 'end'],
    ] as const)
      expect(await log.page({ direction, from, limit: 5, filter: ALL })).toMatchObject({ records: [], next: null });
  });

  it('starts at a record, next to it and at a time, in both directions', async () => {
    const { source } = openSources(rotated());
    const log = source(A_LOG);
    const { records } = await log.page({
      direction: 'newer',
      from: { timeMs: FIRST_MS + 599_001 },
      limit: 1,
      filter: ALL,
    });
    const [at] = records;
    if (!at) throw new Error('nothing there');
    const ask = async (direction: 'older' | 'newer', from: Parameters<LogSource['page']>[0]['from']) =>
      messages((await log.page({ direction, from, limit: 2, filter: ALL })).records);
    expect(await ask('newer', { at })).toEqual(['n1 line 600', 'n1 line 601']);
    expect(await ask('older', { at })).toEqual(['n1 line 598', 'n1 line 599']);
    expect(await ask('newer', { next: at })).toEqual(['n1 line 601', 'n1 line 602']);
    expect(await ask('older', { next: at })).toEqual(['n1 line 598', 'n1 line 599']);
    expect(await ask('older', { timeMs: FIRST_MS + 300_000 })).toEqual(['n1 line 298', 'n1 line 299']);
  });

  it('a link to a record works after rotation, and its key is the same', async () => {
    const { source, nodes } = openSources(await startNodes([{ 'a.log': lines(0, 9) }]));
    const log = source(A_LOG);
    const before = await log.page({ direction: 'older', from: 'end', limit: 3, filter: ALL });
    const [at] = before.records;
    if (!at) throw new Error('nothing there');
    const dir = nodes[0]?.logDir ?? '';
    renameSync(join(dir, 'a.log'), join(dir, 'a.log.1'));
    writeFileSync(join(dir, 'a.log'), lines(10, 40));
    const after = await log.page({
      direction: 'newer',
      from: { at: { node: 'n1', cursor: at.cursor } },
      limit: 5,
      filter: ALL,
    });
    expect(messages(after.records)).toEqual(numbered(7, 11));
    expect(after.records.slice(0, 3).map(recordKey)).toEqual(before.records.map(recordKey));
  });

  it('reports that a record no longer exists, and that a regex is invalid', async () => {
    const { source, nodes } = openSources(await startNodes([{ 'a.log': lines(0, 9) }]));
    const log = source(A_LOG);
    const { records } = await log.page({ direction: 'older', from: 'end', limit: 1, filter: ALL });
    writeFileSync(join(nodes[0]?.logDir ?? '', 'a.log'), lines(500, 505));
    const [{ node, cursor } = { node: '', cursor: '' }] = records;
    const at = { node, cursor };
    const ask = (from: { at: typeof at } | 'end', filter: RowFilter) =>
      log.page({ direction: 'older', from, limit: 1, filter });
    await expect(ask({ at }, ALL)).rejects.toMatchObject({ code: 'CURSOR_GONE' });
    await expect(ask('end', { regex: '(' })).rejects.toMatchObject({ code: 'REGEX_INVALID', status: 400 });
  });

  it('is followed from a time, through rotation', async () => {
    const { source, nodes } = openSources(await startNodes([{ 'a.log': lines(0, 9) }]));
    const received = collect(source(A_LOG), { timeMs: FIRST_MS + 9000 });
    await eventually(() => expect(received).toContain('n1 line 9'));
    const dir = nodes[0]?.logDir ?? '';
    renameSync(join(dir, 'a.log'), join(dir, 'a.log.1'));
    writeFileSync(join(dir, 'a.log'), lines(10, 11));
    await eventually(() => expect(received).toEqual(['(started)', 'n1 line 9', 'rotated', 'n1 line 10', 'n1 line 11']));
  });
});

describe('logs of several nodes', () => {
  /** All three log every second, so that every timestamp occurs three times. */
  const THREE = [1, 2, 3].map(() => ({ 'a.log': lines(0, 59), 'b.log': lines(20, 29, 'b') }));
  const EVERY = 3 * 60;
  const three = share(() => startNodes(THREE));

  it('are read completely in both directions', async () => {
    const { source, requests } = openSources(three());
    const log = source(family('*', 'a.log'));
    const first = await log.page({ direction: 'older', from: 'end', limit: 20, filter: ALL });
    expect(requests).toEqual(['log/search']);
    expect(first.members.map(({ id }) => id)).toEqual(['n1', 'n2', 'n3']);
    for (const [direction, from] of [
      ['older', 'end'],
      ['newer', 'start'],
    ] as const) {
      const all = await readAll(log, { direction, from, limit: 17 });
      expect(new Set(all.map(recordKey)).size).toBe(EVERY);
      expect(all.map(({ timeMs }) => timeMs)).toEqual(all.map(({ timeMs }) => timeMs).toSorted());
    }
    const extent = await log.extent();
    expect(Math.abs((extent?.firstMs ?? 0) - FIRST_MS)).toBeLessThan(UNSURE_MS);
    expect(Math.abs((extent?.lastMs ?? 0) - FIRST_MS - 59_000)).toBeLessThan(UNSURE_MS);
  });

  it.each(['n1', 'n2', 'n3'])(
    'around a record of %s is all of it, with a whole record or only its name',
    async (node) => {
      const { source } = openSources(three());
      const log = source(family('n?', 'a.log'));
      const all = await readAll(log, { direction: 'newer', from: 'start', limit: 200 });
      const record = all.find((candidate) => candidate.node === node && candidate.message === 'line 30');
      if (!record) throw new Error('nothing there');
      for (const key of [record, { node, cursor: record.cursor }]) {
        const newer = await readAll(log, { direction: 'newer', from: { next: key }, limit: 200 });
        const older = await readAll(log, { direction: 'older', from: { next: key }, limit: 200 });
        expect(new Set([...older, record, ...newer].map(recordKey))).toEqual(new Set(all.map(recordKey)));
        for (const part of [older, newer]) expect(part.map(recordKey)).not.toContain(recordKey(record));
        expect(newer.every(({ atMs = 0 }) => atMs > FIRST_MS + 30_000 - UNSURE_MS)).toBe(true);
        expect(older.every(({ atMs = 0 }) => atMs < FIRST_MS + 30_000 + UNSURE_MS)).toBe(true);
        const own = messages(newer.filter((other) => other.node === node));
        expect(own[0]).toBe(`${node} line 31`);
        const at = await log.page({ direction: 'newer', from: { at: key }, limit: 5, filter: ALL });
        expect(at.records.map(recordKey)).toContain(recordKey(record));
      }
    },
  );

  it('a record that no longer exists is reported', async () => {
    const { source, nodes } = openSources(await startNodes(THREE));
    const log = source();
    const { records } = await log.page({ direction: 'older', from: 'end', limit: 1, filter: ALL });
    const [{ node, cursor } = { node: '', cursor: '' }] = records;
    writeFileSync(join(nodes[Number(node.slice(1)) - 1]?.logDir ?? '', 'a.log'), lines(500, 505));
    const page = log.page({ direction: 'newer', from: { at: { node, cursor } }, limit: 1, filter: ALL });
    await expect(page).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  });

  it('are followed from a time without missing a record', async () => {
    const { source, nodes } = openSources(await startNodes(THREE));
    const received = collect(source(family('*', 'a.log')), { timeMs: FIRST_MS + 58_000 });
    await eventually(() => expect(received).toContain('(started)'));
    for (const node of nodes) appendTo(node, 'a.log', lines(60, 61));
    await eventually(() =>
      expect(received).toEqual(
        expect.arrayContaining(['n1', 'n2', 'n3'].flatMap((id) => numbered(59, 61, `${id} line`))),
      ),
    );
    expect(received.some((text) => text.endsWith('line 57'))).toBe(false);
  });

  it('all logs of a node are merged, and counted together', async () => {
    const { source } = openSources(three());
    const log = source({ node: 'n2', log: null });
    expect(await readAll(log, { direction: 'older', from: 'end', limit: 33 })).toHaveLength(70);
    const { buckets } = await log.histogram({ filter: ALL, buckets: 10 });
    expect(buckets.reduce((sum, { counts }) => sum + (counts.INFO ?? 0), 0)).toBe(70);
  });
});

describe('different logs of several nodes', () => {
  const TWO = [{ 'a.log': lines(0, 79, 'a') }, { 'b.log': lines(0, 79, 'b') }];
  const CHOICES = [family('n1', 'a.log'), family('n2', 'b.log')] as const;
  const two = share(() => startNodes(TWO));

  it('are merged by time, each continued at its own position', async () => {
    const { source } = openSources(two());
    const log = source(...CHOICES);
    expect(log.nodes).toEqual(['n1', 'n2']);
    for (const [direction, from] of [
      ['older', 'end'],
      ['newer', 'start'],
    ] as const) {
      const all = await readAll(log, { direction, from, limit: 7 });
      expect(all).toHaveLength(160);
      expect(new Set(all.map(recordKey)).size).toBe(160);
      expect(all.map(({ timeMs }) => timeMs)).toEqual(all.map(({ timeMs }) => timeMs).toSorted());
    }
    expect(await log.extent()).toEqual({ firstMs: FIRST_MS, lastMs: FIRST_MS + 79_000 });
  });

  it('are all loaded around a record', async () => {
    const { source } = openSources(two());
    const log = source(...CHOICES);
    const all = await readAll(log, { direction: 'newer', from: 'start', limit: 200 });
    const record = all.find(({ message }) => message === 'b 40');
    if (!record) throw new Error('nothing there');
    for (const key of [record, { node: 'n2', cursor: record.cursor }]) {
      const newer = await readAll(log, { direction: 'newer', from: { at: key }, limit: 9 });
      const older = await readAll(log, { direction: 'older', from: { at: key }, limit: 9 });
      expect(newer.map(recordKey)).toContain(recordKey(record));
      expect(older.map(recordKey)).not.toContain(recordKey(record));
      expect(new Set([...older, ...newer].map(recordKey))).toEqual(new Set(all.map(recordKey)));
    }
  });

  it('are followed together', async () => {
    const { source, nodes } = openSources(await startNodes(TWO));
    const received = collect(source(...CHOICES), 'end');
    await eventually(() => expect(received).toEqual(['(started)']));
    appendTo(nodes[0], 'a.log', line(90, 'a new'));
    appendTo(nodes[1], 'b.log', line(91, 'b new'));
    await eventually(() => expect(received.toSorted()).toEqual(['(started)', 'n1 a new', 'n2 b new']));
  });

  it('one that is not there takes nothing from the others; if none is, the request fails', async () => {
    const { source } = openSources(two());
    const log = source(...CHOICES, family('n1', 'not-there.log'));
    const page = await log.page({ direction: 'older', from: 'end', limit: 4, filter: ALL });
    expect(messages(page.records)).toHaveLength(4);
    expect(await readAll(log, { direction: 'older', from: 'end', limit: 50 })).toHaveLength(160);
    const none = source(family('n1', 'x.log'), family('n2', 'y.log'));
    await expect(none.page({ direction: 'older', from: 'end', limit: 4, filter: ALL })).rejects.toMatchObject({
      code: 'LOG_FAMILY_NOT_FOUND',
    });
  });

  it('are counted together', async () => {
    const { source } = openSources(two());
    const log = source(...CHOICES, family('n2', 'not-there.log'));
    const { buckets, counted } = await log.histogram({ filter: ALL, buckets: 10 });
    expect(buckets.reduce((sum, { counts }) => sum + (counts.INFO ?? 0), 0)).toBe(160);
    expect(counted).toBeNull();
  });
});
