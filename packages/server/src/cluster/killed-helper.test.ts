import { connect, createServer, type Socket } from 'node:net';
import type { ClusterEnd, ClusterHistogram } from '@porthole/contract';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../testing/free-ports.ts';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const NODES = 6;
const RECORDS = 150;

/** A helper is killed after so much of its response: some records of each member were sent. */
const CUT_BYTES = 40_000;

/** What helpers do, whichever is chosen. */
class HelperPlan {
  /** Kills the first one in the middle of its response. */
  isArmed = false;
  readonly killed: string[] = [];
  /** So many requests to help are refused with this status. */
  refusals = 0;
  status = 503;
  readonly refusing: string[] = [];
}

function logText(node: number): string {
  return Array.from({ length: RECORDS }, (_, at) => {
    const seconds = ((at * 100 + node * 7) / 1000).toFixed(3).padStart(6, '0');
    return `2026-11-15 05:00:${seconds}\tINFO\ta.go:1\t[A]: record ${at} of node ${node}\n`;
  }).join('');
}

/** The address of a node. Everything that passes it ends when the node is killed: as a helper, in the middle of a response. */
async function openAddress(id: string, port: number, plan: HelperPlan): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const node = connect(port, '127.0.0.1');
    let isGroup = false;
    let isRefused = false;
    let leftBytes = CUT_BYTES;
    for (const socket of [client, node]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      const isAsked = chunk.toString('latin1').startsWith('POST /api/v1/cluster/group');
      if (isAsked && plan.refusals > 0 && !isRefused) {
        isRefused = true;
        plan.refusals--;
        plan.refusing.push(id);
        // As a node that is overloaded, or a proxy before it.
        client.end(`HTTP/1.1 ${plan.status} No\r\nretry-after: 60\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      }
      isGroup ||= plan.isArmed && isAsked;
      if (!isRefused) node.write(chunk);
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
    plan.killed.push(id);
    plan.isArmed = false;
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

async function count(port: number): Promise<Pick<ClusterHistogram, 'buckets'> & { outcomes: string[] }> {
  const url = '/api/v1/cluster/log/histogram?buckets=5&nodes=n*';
  const { buckets, members } = await requestJson<ClusterHistogram>(port, url);
  return { buckets, outcomes: members.map(({ id, outcome, count }) => `${id} ${outcome} ${count}`) };
}

function outcomesOf({ members }: ClusterEnd): string[] {
  return members.map(({ id, outcome, count }) => `${id} ${outcome} ${count}`);
}

interface Members {
  plan: HelperPlan;
  /** Starts a node that asks them, and remembers nothing of earlier helpers; returns its port. */
  ask(more: object): Promise<number>;
}

async function startMembers(): Promise<Members> {
  const plan = new HelperPlan();
  const ports = await freePorts(NODES);
  const urls = await Promise.all(ports.map((port, index) => openAddress(`n${index}`, port, plan)));
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
  return { plan, ask: async (more) => (await start('y-asked', 0, NODES, more)).port };
}

const THROUGH_HELPERS = { treeFrom: 3, groupSize: NODES };

it('helpers that refuse, or are killed in the middle of a search, cost no record of other members', async () => {
  const { plan, ask } = await startMembers();
  const direct = await ask({ treeFrom: 0 });
  const [expected, counted] = [await search(direct), await count(direct)];
  expect(expected.records).toHaveLength(NODES * RECORDS);
  // One helper refuses and another one helps; two refuse, and all members are asked directly.
  for (const { status, refusals } of [
    { status: 503, refusals: 1 },
    { status: 429, refusals: 2 },
  ]) {
    const port = await ask(THROUGH_HELPERS);
    for (const expectSame of [
      async () => {
        const { records, end } = await search(port);
        expect(records).toEqual(expected.records);
        expect(outcomesOf(end)).toEqual(outcomesOf(expected.end));
      },
      async () => expect(await count(port)).toEqual(counted),
    ]) {
      plan.refusing.length = 0;
      Object.assign(plan, { status, refusals });
      await expectSame();
      expect(new Set(plan.refusing).size).toBe(refusals);
    }
  }
  // The first helper is killed, and no other.
  const tree = await ask(THROUGH_HELPERS);
  plan.isArmed = true;
  let answer = await search(tree);
  // On a very busy machine, helpers may be given up before they have sent that much.
  while (plan.killed.length === 0) answer = await search(tree);
  const { records, end } = answer;
  const [dead = ''] = plan.killed;
  expect(plan.killed).toHaveLength(1);
  const ofLiving = (list: readonly FoundRecord[]) => list.filter(({ node }) => node !== dead);
  const ofDead = (list: readonly FoundRecord[]) => list.filter(({ node }) => node === dead);
  expect(ofLiving(records)).toEqual(ofLiving(expected.records));
  // What had come of it stays, once and in order.
  expect(ofDead(records)).toEqual(ofDead(expected.records).slice(0, ofDead(records).length));
  expect(ofDead(records).length).toBeLessThan(RECORDS);
  expect(end.records).toBe(records.length);
  const failed = end.members.filter(({ outcome }) => outcome !== 'ok').map(({ id }) => id);
  expect(failed).toEqual([dead]);
});
