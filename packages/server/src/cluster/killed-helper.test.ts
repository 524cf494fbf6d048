import { connect, createServer, type Socket } from 'node:net';
import type { ClusterEnd } from '@porthole/contract';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../testing/free-ports.ts';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const NODES = 6;
const RECORDS = 150;

/** A helper is killed after so much of its response: some records of each member were sent. */
const CUT_BYTES = 40_000;

function logText(node: number): string {
  return Array.from({ length: RECORDS }, (_, at) => {
    const seconds = ((at * 100 + node * 7) / 1000).toFixed(3).padStart(6, '0');
    return `2026-11-15 05:00:${seconds}\tINFO\ta.go:1\t[A]: record ${at} of node ${node}\n`;
  }).join('');
}

/** The address of a node. Everything that passes it ends when the node is killed: as a helper, in the middle of a response. */
async function openAddress(port: number, plan: { isArmed: boolean; onKilled(): void }): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const node = connect(port, '127.0.0.1');
    let isGroup = false;
    let leftBytes = CUT_BYTES;
    for (const socket of [client, node]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      isGroup ||= plan.isArmed && chunk.toString('latin1').startsWith('POST /api/v1/cluster/group');
      node.write(chunk);
    });
    node.on('data', (chunk) => {
      if (leftBytes < 0) return;
      leftBytes -= isGroup && plan.isArmed ? chunk.length : 0;
      client.write(leftBytes < 0 ? chunk.subarray(0, chunk.length + leftBytes) : chunk);
      if (leftBytes < 0) kill();
    });
    client.on('close', () => node.destroy());
    node.on('close', () => client.end());
  });
  const kill = () => {
    server.close();
    for (const socket of sockets) socket.end();
    plan.onKilled();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

interface FoundRecord {
  node: string;
  message: string;
}

async function search(port: number): Promise<{ records: FoundRecord[]; end: ClusterEnd }> {
  const { body } = await sendRequest(port, '/api/v1/cluster/log/search?order=oldest&limit=5000&nodes=n*');
  const items = body.toString().trim().split('\n');
  const records = items.slice(0, -1).map((line) => JSON.parse(line) as FoundRecord);
  return {
    records: records.map(({ node, message }) => ({ node, message })),
    end: JSON.parse(items.at(-1) ?? '') as ClusterEnd,
  };
}

it('a helper that is killed in the middle of a search costs no record of other members, and is reported', async () => {
  const killed: string[] = [];
  const plans = Array.from({ length: NODES }, (_, index) => ({
    isArmed: false,
    onKilled() {
      killed.push(`n${index}`);
      for (const plan of plans) plan.isArmed = false;
    },
  }));
  const ports = await freePorts(NODES);
  const urls = await Promise.all(plans.map((plan, index) => openAddress(ports[index] ?? 0, plan)));
  const members = urls.map((url, index) => `n${index}=${url}`);
  const cluster = { members, refreshMs: 86_400_000, memberTimeoutMs: 30_000, firstBatchTimeoutMs: 30_000 };
  const start = (nodeId: string, port: number, index: number, more: object) =>
    startTestNode({
      files: { 'a.log': logText(index) },
      settings: {
        http: { port },
        node: { timeZone: 'UTC' },
        cluster: { nodeId, ...cluster, lastWordsMaxBytes: 0, ...more },
      },
    });
  await Promise.all(ports.map((port, index) => start(`n${index}`, port, index, {})));
  const direct = await start('y-asked', 0, NODES, { treeFrom: 0 });
  const tree = await start('y-asked', 0, NODES, { treeFrom: 3, groupSize: NODES });
  const expected = await search(direct.port);
  expect(expected.records).toHaveLength(NODES * RECORDS);
  // The first helper is killed, and no other.
  for (const plan of plans) plan.isArmed = true;
  let answer = await search(tree.port);
  // On a very busy machine, helpers may be given up before they have sent that much.
  while (killed.length === 0) answer = await search(tree.port);
  const { records, end } = answer;
  const [dead = ''] = killed;
  expect(killed).toHaveLength(1);
  const ofLiving = (list: readonly FoundRecord[]) => list.filter(({ node }) => node !== dead);
  const ofDead = (list: readonly FoundRecord[]) => list.filter(({ node }) => node === dead);
  expect(ofLiving(records)).toEqual(ofLiving(expected.records));
  // What had come of it stays, once and in order.
  expect(ofDead(records)).toEqual(ofDead(expected.records).slice(0, ofDead(records).length));
  expect(ofDead(records).length).toBeLessThan(RECORDS);
  const failed = end.members.filter(({ outcome }) => outcome !== 'ok').map(({ id }) => id);
  expect(failed).toEqual([dead]);
});
