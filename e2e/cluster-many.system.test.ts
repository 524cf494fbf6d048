import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { respond } from './testing/cluster-fake-member.ts';
import { ClusterProcess } from './testing/cluster-process.ts';

const MEMBERS = 100;
const RECORDS_OF_EACH = 100;

/** Half of all. */
const PAGE = 5000;

/** What a node may need more for asking all of them again and again. */
const MAX_GROWTH_BYTES = 96 * 1024 ** 2;

it('a hundred members, one of them dead: all others respond, the dead one is reported, and memory stays bounded', async () => {
  const ids = Array.from({ length: MEMBERS }, (_, index) => `m${String(index).padStart(3, '0')}`);
  const ports = await startMembers(ids.slice(1));
  const [closed] = await freePorts(1);
  const list = ids.map((id, index) => `${id}=http://127.0.0.1:${index === 0 ? closed : ports[index - 1]}`);
  const asked = await ClusterProcess.start('asked', { flags: ['--cluster-members', list.join(',')] });

  await eventually(async () => {
    const { nodes } = await asked.nodes();
    expect(nodes).toHaveLength(MEMBERS + 1);
    expect(nodes.filter(({ state }) => state !== 'up')).toMatchObject([{ id: 'm000', report: { outcome: 'refused' } }]);
  });

  const whole = (MEMBERS - 1) * RECORDS_OF_EACH;
  await eventually(() => searchIsWhole(asked, { limit: PAGE }));
  const pages = await readPages(asked);
  expect(pages).toHaveLength(whole);
  expect(new Set(pages).size).toBe(whole);

  const before = await residentBytes(asked);
  for (let round = 0; round < 5; round++) await eventually(() => searchIsWhole(asked, { limit: PAGE }));
  expect(await residentBytes(asked)).toBeLessThan(before + MAX_GROWTH_BYTES);
});

async function startMembers(ids: readonly string[]): Promise<number[]> {
  const lastMs = Date.now() - 60_000;
  return Promise.all(
    ids.map(async (id, index) => {
      const messages = Array.from({ length: RECORDS_OF_EACH }, (_, count) => `${id} ${count}`);
      const options = { messages, timeMs: lastMs + index * 7 };
      const server = createServer((request, response) => respond(options, request, response));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        server.close();
        server.closeAllConnections();
      });
      return (server.address() as AddressInfo).port;
    }),
  );
}

/** The newest of all members in order, and every member in the report. */
async function searchIsWhole(asked: ClusterProcess, { limit }: { limit: number }): Promise<void> {
  const { records, outcomes, end } = await asked.search({ order: 'newest', limit });
  expect(Object.keys(outcomes)).toHaveLength(MEMBERS + 1);
  expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok')).toEqual([['m000', 'refused']]);
  expect(end).toMatchObject({ reason: 'limit', records: limit });
  const times = records.map(({ atMs }) => atMs ?? NaN);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
}

/** From the newest to the oldest, as long as there is more. */
async function readPages(asked: ClusterProcess): Promise<string[]> {
  const messages: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await asked.search({ order: 'newest', limit: PAGE, ...(cursor !== undefined && { cursor }) });
    messages.push(...page.messages);
    cursor = page.end.cursor ?? undefined;
  } while (cursor !== undefined);
  return messages;
}

async function residentBytes(node: ClusterProcess): Promise<number> {
  return Number(
    /^(?:porthole_)?process_resident_memory_bytes (\S+)$/m.exec((await node.request('/metrics')).body)?.[1],
  );
}
