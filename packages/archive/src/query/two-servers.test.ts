import type { FoundRecord } from '@porthole/logs/types';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serverPorts, startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { ArchiveFixture, collect } from './testing/archive-fixture.ts';

const START_MS = Date.UTC(2026, 10, 10, 8);
const NODES = ['a', 'b', 'c', 'd', 'e', 'f'];

let servers: TestClickHouse[];
let archives: ArchiveFixture[];

beforeAll(async () => {
  const ports = [await serverPorts(), await serverPorts()];
  const clusterPorts = ports.map(({ tcp }) => tcp);
  servers = await Promise.all(ports.map((own) => startClickHouse({ ports: own, clusterPorts })));
  archives = await Promise.all(
    servers.map((server) => ArchiveFixture.create(server.connect({ database: 'spread' }), 'porthole')),
  );
});

afterAll(() => Promise.all(servers.map((server) => server.stop())));

function record(message: string, index: number): FoundRecord {
  const cursor = `0123456789abcdef.s.${index}.1.1s.YS5sb2c`;
  const place = { type: 'record' as const, file: 'a.log', offset: index, bytes: 50, cursor };
  return {
    ...place,
    timeMs: START_MS + index * 1000,
    level: 'INFO',
    message,
    context: { shard: index % 2 },
    raw: message,
  };
}

it('queries span all servers, and find a record once that was sent to them twice', async () => {
  for (const [index, node] of NODES.entries()) {
    const records = [0, 1, 2].map((place) => record(`${node}${place}`, place));
    // A retry may reach another server: the rows of a log meet on one.
    for (const shippedMs of [1000, 2000])
      await archives[(index + shippedMs / 1000) % 2]?.ship(records, { node, shippedMs });
  }
  for (const { state } of archives) {
    expect((await state.nodes()).map(({ node }) => node)).toEqual(NODES);
    const { records, end } = await collect(
      state.searchLogs({ order: 'newest', limit: 7, before: 0, after: 0, query: { kind: 'exists', field: 'shard' } }),
    );
    expect(records.map(({ message }) => message)).toEqual(['a2', 'b2', 'c2', 'd2', 'e2', 'f2', 'a1']);
    const start = { cursor: end.cursor ?? '' };
    const rest = await collect(state.searchLogs({ order: 'newest', limit: 100, before: 0, after: 0, start }));
    expect(rest.records).toHaveLength(11);
    const { buckets } = await state.logHistogram({ buckets: 1, bucketMs: 3_600_000 });
    expect(buckets).toMatchObject([
      { counts: { INFO: 18 }, nodes: Object.fromEntries(NODES.map((node) => [node, 3])) },
    ]);
    expect(await state.logTop({ by: 'shard', limit: 5 })).toMatchObject({
      values: [
        { value: '0', count: 12 },
        { value: '1', count: 6 },
      ],
    });
    expect((await state.logDigest({ limit: 5 })).groups).toMatchObject([{ count: 18, sample: { message: 'a2' } }]);
    expect((await state.logFields({ limit: 50 })).records).toBe(18);
  }
});
