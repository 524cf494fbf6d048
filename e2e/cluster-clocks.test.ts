import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { startClockProxy } from './testing/cluster-clock-proxy.ts';
import { ClusterProcess } from './testing/cluster-process.ts';

const MINUTE_MS = 60_000;

/** Each with the clock and the zone in which it writes its log. */
const MEMBERS = [
  { id: 'fast', offsetMs: 7 * MINUTE_MS, zone: 'Asia/Tokyo', zoneHours: 9 },
  { id: 'right', offsetMs: 0, zone: 'America/Phoenix', zoneHours: -7 },
  { id: 'slow', offsetMs: -3 * MINUTE_MS, zone: 'Asia/Kolkata', zoneHours: 5.5 },
];

it('clocks that are minutes off and logs in different zones: the merged order is the true order', async () => {
  const members = await Promise.all(MEMBERS.map(startMember));
  const flags = ['--cluster-members', members.map(({ id, address }) => `${id}=http://${address}`).join(',')];
  const asked = await ClusterProcess.start('asked', { flags });
  // Seconds apart in truth; by what their clocks say the order would be another.
  const firstMs = Date.now() - 60 * MINUTE_MS;
  const order = ['slow', 'fast', 'right', 'fast', 'slow', 'right', 'slow', 'fast'];
  const truth = order.map((id, place) => ({ id, trueMs: firstMs + place * 5000 }));
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
});

it('records within the uncertainty of two clocks are marked as uncertain in order', async () => {
  const members = await Promise.all(MEMBERS.map(startMember));
  const flags = ['--cluster-members', members.map(({ id, address }) => `${id}=http://${address}`).join(',')];
  const asked = await ClusterProcess.start('asked', { flags });
  const atMs = Date.now() - 60 * MINUTE_MS;
  for (const member of members) member.write(member.id, atMs);
  await eventually(async () => {
    const { records } = await asked.search();
    expect(records.map(({ isUnsure }) => isUnsure)).toEqual([undefined, true, true]);
  });
});

async function startMember({ id, offsetMs, zone, zoneHours }: (typeof MEMBERS)[number]) {
  const node = await ClusterProcess.start(id, { flags: ['--node-time-zone', zone] });
  const address = await startClockProxy(node.url, offsetMs);
  const write = (message: string, trueMs: number) => node.write(message, { timeMs: trueMs + offsetMs, zoneHours });
  return { id, address, write };
}
