import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@porthole/client';
import type { ClusterEnd, ClusterRecord, MemberReport } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../testing/free-ports.ts';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode, startWithSharedThreads, testSettings } from '../testing/test-node.ts';

const IDS = ['a', 'b', 'c'] as const;
const START_MS = Date.parse('2026-11-10T00:00:00Z');
/** More than a new recorder begins with. */
const EACH = 1500;
const LIMIT = 400;

type Order = 'newest' | 'oldest';

/** Two logs, so that a position is one in several; some records have the same time. */
function logsOf(id: string): Record<string, string> {
  const lines: Record<string, string> = { 'broker.log': '', 'access.log': '' };
  for (let at = 0; at < EACH; at++) {
    const time = new Date(START_MS + Math.floor(at / 2) * 100).toISOString().slice(0, 23).replace('T', ' ');
    lines[at % 5 === 0 ? 'access.log' : 'broker.log'] += `${time}\tINFO\ta.go:1\t[A]: ${numbered(id, at)}\n`;
  }
  return lines;
}

function numbered(id: string, at: number): string {
  return `${id} ${String(at).padStart(5, '0')}`;
}

/** What there is, whatever a response says. */
const TRUTH = IDS.flatMap((id) => Array.from({ length: EACH }, (_, at) => numbered(id, at)));

/** A member that can be stopped, and started again where it was. */
async function startMember(id: string) {
  const dir = tempDir();
  mkdirSync(join(dir, 'logs'));
  for (const [name, text] of Object.entries(logsOf(id))) writeFileSync(join(dir, 'logs', name), text);
  // Nothing else gets it while the member is stopped.
  const [port = 0] = await freePorts(1);
  const start = () =>
    startWithSharedThreads({ settings: testSettings(dir, { http: { port }, node: { timeZone: 'UTC' } }) });
  let running = await start();
  onTestFinished(() => running.stop());
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => running.stop(),
    async startAgain() {
      running = await start();
    },
  };
}

async function startCluster({ isRecorded = true } = {}) {
  const [b, c] = await Promise.all([startMember('b'), startMember('c')]);
  const { port, running } = await startTestNode({
    files: logsOf('a'),
    settings: {
      node: { timeZone: 'UTC' },
      cluster: {
        ...{ nodeId: 'a', members: [`b=${b.url}`, `c=${c.url}`], refreshMs: 200 },
        ...{ firstBatchTimeoutMs: 20_000, memberTimeoutMs: 40_000, recorders: isRecorded ? 2 : 0 },
      },
    },
  });
  const recorded = async (): Promise<number> => {
    const { body } = await sendRequest(port, '/api/v1/member/recordings/b/log/histogram');
    const { buckets = [] }: { buckets?: { counts: { INFO: number } }[] } = JSON.parse(body.toString());
    return buckets.reduce((sum, { counts }) => sum + counts.INFO, 0);
  };
  if (isRecorded) await eventually(async () => expect(await recorded()).toBe(1000));
  return { b, port, url: running.url };
}

async function page(port: number, query: string) {
  const { status, body } = await sendRequest(port, `/api/v1/log/search?nodes=*&limit=${LIMIT}&${query}`);
  expect(status).toBe(200);
  const items = body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ClusterRecord | ClusterEnd);
  return { records: items.slice(0, -1) as ClusterRecord[], end: items.at(-1) as ClusterEnd };
}

/** All pages; `between` is called after each. */
async function allPages(port: number, order: Order, between: (pages: number) => Promise<void>) {
  const messages: string[] = [];
  const ends: ClusterEnd[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { records, end } = await page(port, `order=${order}${cursor && `&cursor=${cursor}`}`);
    messages.push(...records.map(({ message }) => message));
    ends.push(end);
    cursor = end.cursor;
    await between(ends.length);
  }
  return { messages, ends, reports: ends.map(({ members }) => members.find(({ id }) => id === 'b') as MemberReport) };
}

const sorted = (messages: readonly string[]) => messages.toSorted();
const ofB = (messages: readonly string[]) => messages.filter((message) => message.startsWith('b'));

const ORDERS = ['newest', 'oldest'] as const;

describe('pages of a search through the death of a member', () => {
  it.each([
    ['newest', true],
    ['oldest', true],
    ['newest', false],
  ] as const)('have every record once when it has come back, %s first (recorded: %s)', async (order, isRecorded) => {
    const { b, port } = await startCluster({ isRecorded });
    const { messages, reports } = await allPages(port, order, async (pages) => {
      if (pages === 1) await b.stop();
      if (pages === 3) await b.startAgain();
    });
    expect(sorted(messages)).toEqual(TRUTH);
    expect(reports.map(({ outcome }) => outcome).slice(0, 4)).toEqual(['ok', 'refused', 'refused', 'ok']);
    const asOf = isRecorded ? expect.any(Number) : null;
    expect(reports[1]).toMatchObject({ asOfMs: asOf, ...(isRecorded && { isPartial: true, recordedBy: 'a' }) });
  });

  it.each(ORDERS)(
    'also when it was dead from the first page on, and dies and comes back again: %s first',
    async (order) => {
      const { b, port } = await startCluster();
      await b.stop();
      const { messages } = await allPages(port, order, async (pages) => {
        if (pages === 2 || pages === 5) await b.startAgain();
        if (pages === 4) await b.stop();
      });
      expect(sorted(messages)).toEqual(TRUTH);
    },
  );

  it.each(ORDERS)('come to an end if it does not, each of them with its outcome: %s first', async (order) => {
    const { b, port } = await startCluster();
    const { messages, ends, reports } = await allPages(port, order, async (pages) => {
      if (pages === 1) await b.stop();
    });
    const others = TRUTH.filter((message) => !message.startsWith('b'));
    expect(sorted(messages.filter((message) => !message.startsWith('b')))).toEqual(others);
    expect(new Set(messages).size).toBe(messages.length);
    // What it sent is there, and what was recorded.
    expect(ofB(messages).length).toBeGreaterThan(reports[0]?.count ?? 0);
    expect(ofB(messages).length).toBeLessThan(EACH);
    for (const report of reports.slice(1)) expect(report).toMatchObject({ outcome: 'refused', isPartial: true });
    expect(ends.at(-1)?.cursor).toBeNull();
  });

  it('the same for records() of the client', async () => {
    const { b, url } = await startCluster();
    const client = createClient({ url });
    const messages: string[] = [];
    for await (const { message } of client.records({ nodes: ['*'], order: 'oldest' })) {
      messages.push(message);
      if (messages.length === 1000) await b.stop();
      if (messages.length === 3000) await b.startAgain();
    }
    expect(sorted(messages)).toEqual(TRUTH);
  });
});
