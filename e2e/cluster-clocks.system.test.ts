import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { MemberReport } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { listen } from './testing/cluster-fake-member.ts';
import { ClusterProcess } from './testing/cluster-process.ts';

const MINUTE_MS = 60_000;

/** Each with the clock and the zone in which it writes its log. */
const MEMBERS = [
  { id: 'fast', offsetMs: 7 * MINUTE_MS, zone: 'Asia/Tokyo', zoneHours: 9 },
  { id: 'right', offsetMs: 0, zone: 'America/Phoenix', zoneHours: -7 },
  { id: 'slow', offsetMs: -3 * MINUTE_MS, zone: 'Asia/Kolkata', zoneHours: 5.5 },
];

it('clocks that are minutes off and logs in different zones: the merged order is the true one, or marked as uncertain', async () => {
  const members = await Promise.all(MEMBERS.map(startMember));
  const flags = ['--cluster-members', members.map(({ id, address }) => `${id}=http://${address}`).join(',')];
  const asked = await ClusterProcess.start('asked', { flags });
  // Seconds apart in truth; by what their clocks say the order would be another.
  const firstMs = Date.now() - 60 * MINUTE_MS;
  const order = ['slow', 'fast', 'right', 'fast', 'slow', 'right', 'slow', 'fast'];
  const truth = order.map((id, index) => ({ id, trueMs: firstMs + index * 5000 }));
  for (const { id, trueMs } of truth) members.find((member) => member.id === id)?.write(`at ${trueMs}`, trueMs);

  await eventually(async () => {
    const { nodes } = await asked.nodes();
    expect(nodes.map(({ id, clock }) => `${id} ${Math.round((clock?.offsetMs ?? NaN) / 10_000)}`)).toEqual([
      'asked 0',
      'fast 42',
      'right 0',
      'slow -18',
    ]);
  });
  await eventually(async () => {
    const { records, outcomes } = await asked.search();
    expect(outcomes).toEqual({ asked: 'ok', fast: 'ok', right: 'ok', slow: 'ok' });
    expect(records.map(({ node, message }) => ({ node, message }))).toEqual(
      truth.map(({ id, trueMs }) => ({ node: id, message: `at ${trueMs}` })),
    );
    for (const { atMs, message } of records)
      expect(Math.abs((atMs ?? 0) - Number(message.slice(3)))).toBeLessThan(2000);
  });
  const back = await asked.search({ order: 'newest' });
  expect(back.messages).toEqual(truth.map(({ trueMs }) => `at ${trueMs}`).toReversed());

  // Within the uncertainty of the clocks no order is certain.
  const atMs = Date.now() - 30 * MINUTE_MS;
  for (const member of members) member.write(member.id, atMs);
  await eventually(async () => {
    const { records } = await asked.search();
    expect(records.slice(truth.length).map(({ isUnsure }) => isUnsure)).toEqual([undefined, true, true]);
  });
});

it.each([10_000, -10_000])(
  'a clock that is set by %d ms: earlier records keep their times, ranges lose none, and one that ends then says so',
  async (byMs) => {
    const node = await ClusterProcess.start('set');
    let offsetMs = 0;
    const address = await startClockProxy(node.url, () => offsetMs);
    const asked = await ClusterProcess.start('asked', { flags: ['--cluster-members', `set=http://${address}`] });
    const clockOf = async () =>
      (await asked.nodes()).nodes.find(({ id }) => id === 'set')?.clock?.offsetMs ?? Number.NaN;
    const firstMs = Date.now() - 600_000;
    for (let number = 0; number < 1000; number++) node.write(String(number), { timeMs: firstMs + number * 600 });
    await eventually(async () => expect(Math.abs(await clockOf())).toBeLessThan(2000));
    const setMs = Date.now();
    offsetMs = byMs;
    await eventually(async () => expect(Math.abs((await clockOf()) - byMs)).toBeLessThan(2000));
    node.write('after', { timeMs: Date.now() + byMs });

    const searchRange = async (fromMs: number, toMs: number) => {
      const messages: string[] = [];
      let report: MemberReport | undefined;
      for await (const items of asked.client.search({ nodes: ['*'], order: 'oldest', limit: 5000, fromMs, toMs }))
        for (const item of items) {
          if (item.type === 'record') messages.push(item.message);
          else report = item.members.find(({ id }) => id === 'set');
        }
      const { buckets, members } = await asked.client.histogram({ nodes: ['*'], fromMs, toMs, buckets: 10 });
      const counted = buckets.reduce((sum, { nodes }) => sum + (nodes.set ?? 0), 0);
      return { messages, counted, reports: [report, members.find(({ id }) => id === 'set')] };
    };
    // Long before it, in the middle of two records.
    const early = await searchRange(firstMs + 59_700, firstMs + 359_700);
    expect(early.messages).toEqual(Array.from({ length: 500 }, (_, index) => String(100 + index)));
    expect(early.counted).toBe(500);
    for (const report of early.reports) expect(report).toMatchObject({ outcome: 'ok', detail: null });
    // All of it.
    const all = await searchRange(firstMs - 1000, Date.now() + 60_000);
    expect(all.messages).toHaveLength(1001);
    for (const report of all.reports) expect(report?.isPartial).toBeUndefined();
    // Up to the moment when it was set.
    const late = await searchRange(firstMs + 299_700, setMs + 100);
    expect(late.messages.slice(0, 450)).toEqual(Array.from({ length: 450 }, (_, index) => String(500 + index)));
    for (const report of late.reports)
      expect(report).toMatchObject({
        isPartial: true,
        detail: expect.stringMatching(/^its clock was set by [+-]10\.\d s/),
      });
  },
);

async function startMember({ id, offsetMs, zone, zoneHours }: (typeof MEMBERS)[number]) {
  const node = await ClusterProcess.start(id, { flags: ['--node-time-zone', zone] });
  const address = await startClockProxy(node.url, offsetMs);
  const write = (message: string, trueMs: number) => node.write(message, { timeMs: trueMs + offsetMs, zoneHours });
  return { id, address, write };
}

/** A node as it is seen when its clock is off: what it says of the time is shifted, all else passes through. */
async function startClockProxy(url: string, offset: number | (() => number)): Promise<string> {
  const offsetMs = typeof offset === 'number' ? () => offset : offset;
  return listen(
    createServer((request, response) => {
      const upstream = get(`${url}${request.url}`, { headers: request.headers, agent: false }, (answer) => {
        if (request.url === '/api/v1/node') void shiftClock(answer, response, offsetMs());
        else answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
      });
      upstream.on('error', () => response.destroy());
      response.on('close', () => upstream.destroy());
    }),
  );
}

async function shiftClock(answer: IncomingMessage, response: ServerResponse, offsetMs: number): Promise<void> {
  let text = '';
  for await (const part of answer) text += String(part);
  const description = JSON.parse(text) as { clockMs: number };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...description, clockMs: description.clockMs + offsetMs }));
}
