import type { TestClickHouse } from '@porthole/archive/testing';
import { type Client, createClient } from '@porthole/client';
import type { ClusterEnd, ClusterRecord, RecordStore } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import type { PartialSettings } from '@porthole/server';
import { initArchive } from '@porthole/server/archive';
import { freePorts, startTestNode, type TestNode } from '@porthole/server/testing';
import { expect } from 'vitest';

export const HOUR_MS = 3_600_000;
export const NOW_MS = Date.now();

/** No member is silent here, only busy. */
const PATIENT = { firstBatchTimeoutMs: 60_000, memberTimeoutMs: 60_000 };

/** A line of a log, logged so long ago. */
export function line(hoursAgo: number, text: string): string {
  const stamp = new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString().replace('T', ' ').slice(0, 23);
  return `${stamp}\tINFO\ta.go:1\t[A]: ${text}\n`;
}

/** An archive of its own; its tables are made as an operator makes them. */
export async function newArchive(server: TestClickHouse): Promise<{ url: string; database: string }> {
  const archive = { url: server.url, database: server.newDatabase() };
  await initArchive({ options: { archive } }, { dryRun: false });
  return archive;
}

export interface Cluster {
  nodes: TestNode[];
  clients: Client[];
}

/** Nodes that know each other, each with these files; the last settings are those of the first node. */
export async function startCluster(
  files: readonly Record<string, string>[],
  archive: PartialSettings['archive'],
  first: PartialSettings = {},
): Promise<Cluster> {
  const ports = await freePorts(files.length);
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
  const nodes = await Promise.all(
    files.map((own, index) =>
      startTestNode({
        files: own,
        settings: {
          node: { timeZone: 'UTC' },
          cluster: { nodeId: `n${index + 1}`, members, refreshMs: 500, recorders: 0, ...PATIENT },
          ...(archive && { archive: { intervalMs: 200, ...archive } }),
          ...(index === 0 && first),
          http: { port: ports[index] ?? 0 },
        },
      }),
    ),
  );
  return { nodes, clients: ports.map((port) => createClient({ url: `http://127.0.0.1:${port}` })) };
}

export async function search(
  client: Client,
  query: {
    store?: RecordStore;
    nodes?: string[];
    family?: string;
    terms?: string[];
    fromMs?: number;
    toMs?: number;
  } = {},
) {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  for await (const items of client.search({ nodes: ['*'], order: 'oldest', limit: 100, before: 0, after: 0, ...query }))
    for (const item of items) {
      if (item.type === 'end') end = item;
      else records.push(item);
    }
  if (!end) throw new Error('no end');
  return { texts: records.map(({ node, message }) => `${node}: ${message}`), end };
}

/** Shipped, and known to be: nodes report it every few seconds, and others read it every few seconds. */
export async function untilShipped(client: Client, count: number): Promise<void> {
  await eventually(
    async () => {
      const { texts, end } = await search(client, { store: 'archive' });
      expect(texts).toHaveLength(count);
      expect(end.members.every(({ asOfMs }) => asOfMs !== null)).toBe(true);
    },
    { withinMs: 60_000 },
  );
}
