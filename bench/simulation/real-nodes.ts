import { lookup } from 'node:dns';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeRequest, NodeState } from '@porthole/contract';
import type { LocalClusterOptions } from '../../packages/cluster/src/open-cluster.ts';

type ClusterPackage = typeof import('../../packages/cluster/src/index.ts');
type Fetching = typeof import('../../packages/server/src/cluster/member-fetch.ts');
type LocalCluster = Awaited<ReturnType<ClusterPackage['LocalCluster']['open']>>;

/*
 * Nodes of one cluster in one process: what the simulation is checked against. Each has the built code of a node's cluster
 * and requests news of the others over HTTP, as in production. It has no logs, threads and other routes, of which 300 take
 * more than this machine has. COUNT SETTLE-SECONDS SECONDS; prints what was measured as a line of JSON.
 */

/** What it prints. */
export interface RealRun {
  requestsPerSecond: number;
  responseBytesPerSecond: number;
  /** Ages of what some nodes know of all others, in milliseconds, sorted. */
  ages: number[];
  /** Of the whole process. */
  cpuShare: number;
  residentBytes: number;
}

const HOST = '127.0.0.1';

/** So many nodes are asked what they know. */
const SAMPLED_NODES = 10;

/** As the default settings have it. */
const REFRESH_MS = 30_000;
const LIMITS = { firstBatchMs: 2000, memberTimeoutMs: 5000, maxParallel: 64 };

const [count = 0, settleSeconds = 0, seconds = 0] = process.argv.slice(2).map(Number);
const built = (name: string) => import(new URL(`../../packages/${name}.js`, import.meta.url).href);
const { LocalCluster, createStaticMembers } = (await built('cluster/dist/index')) as ClusterPackage;
const { createMemberFetch } = (await built('server/dist/cluster/member-fetch')) as Fetching;
const { Scrubbing, createZone } = await import('@porthole/logs');
const access = await createMemberFetch({ ca: undefined, cert: undefined, key: undefined }, lookup);

const totals = { requests: 0, bytes: 0 };
const servers = await Promise.all(Array.from({ length: count }, listen));
const members = servers.map((server, number) => `${nodeId(number)}=${addressOf(server)}`);
const nodes = await Promise.all(servers.map((server, number) => openNode(server, number)));
await sleep(settleSeconds * 1000);
const before = { ...totals };
const usedBefore = process.cpuUsage();
await sleep(seconds * 1000);
const used = process.cpuUsage(usedBefore);
const [requests, bytes] = [totals.requests - before.requests, totals.bytes - before.bytes];
const ages: number[] = [];
for (const node of nodes.filter((_, number) => number % Math.ceil(count / SAMPLED_NODES) === 0))
  ages.push(...(await agesOf(node)));
const result: RealRun = {
  requestsPerSecond: requests / (count * seconds),
  responseBytesPerSecond: bytes / (count * seconds),
  ages: ages.sort((a, b) => a - b),
  cpuShare: (used.user + used.system) / 1e6 / seconds,
  residentBytes: process.memoryUsage.rss(),
};
console.log(JSON.stringify(result));
await Promise.all(nodes.map((node) => node.close()));
// Connections of the others are still open.
process.exit(0);

async function openNode(server: Server, number: number): Promise<LocalCluster> {
  const id = nodeId(number);
  const { port } = server.address() as AddressInfo;
  const node = { hostIp: HOST, hostName: id, grpcPort: 0, httpPort: port, version: '0.1.0', onlineTime: Date.now() };
  const self = lightNode(node);
  const membership = createStaticMembers({
    members,
    self: { id, role: 'node', labels: {}, node, url: addressOf(server) },
  } as Parameters<typeof createStaticMembers>[0]);
  await membership.start();
  const options: LocalClusterOptions = {
    name: 'simulated',
    membership,
    self,
    selfId: id,
    access,
    zone: createZone('UTC'),
    limits: LIMITS,
    refreshMs: REFRESH_MS,
    snapshots: { dir: join(tmpdir(), 'not-written'), maxBytes: 0, keepMs: 0 },
    fingerprint: undefined,
    mask: (text) => text,
    findSecrets: () => [],
    scrubbing: new Scrubbing(),
    report: (problem) => console.error(`${id}: ${problem}`),
  };
  const cluster = await LocalCluster.open(options);
  server.on('request', respond(cluster, self));
  return cluster;
}

function respond(cluster: LocalCluster, self: NodeState): RequestListener {
  return async (request, response) => {
    const isExchange = request.url?.startsWith('/api/v1/cluster/exchange');
    if (!isExchange && request.url !== '/api/v1/node') return void response.writeHead(404).end();
    const body = isExchange
      ? await cluster.exchange(JSON.parse(await readText(request)) as ExchangeRequest)
      : await self.describe();
    const text = JSON.stringify(body);
    if (isExchange) {
      totals.requests++;
      totals.bytes += Buffer.byteLength(text);
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

/** As much of a node as its own sample needs. */
function lightNode(node: object): NodeState {
  const startedMs = Date.now();
  const end = { reason: 'exhausted', records: 0, scannedBytes: 0, skippedBytes: 0, scannedFiles: 0, problems: [] };
  const parts = {
    describe: async () => ({
      node,
      observes: 'self',
      clockMs: Date.now(),
      timeZone: 'UTC',
      utcOffsetMinutes: 0,
      uptimeMs: Date.now() - startedMs,
      versions: { porthole: '0.1.0', node: process.versions.node },
      capabilities: ['clusterExchange'],
      problems: [],
      role: 'node',
      labels: {},
    }),
    logFiles: async () => [],
    logHistogram: async () => ({ bucketMs: 1, buckets: [], untimed: 0, end }),
  };
  return parts as unknown as NodeState;
}

/** Since each of the others was last known to be alive. */
async function agesOf(cluster: LocalCluster): Promise<number[]> {
  const { nodes: listed } = await cluster.nodes();
  const nowMs = Date.now();
  return listed.filter(({ isSelf }) => !isSelf).map(({ lastSeenMs }) => nowMs - (lastSeenMs ?? 0));
}

function nodeId(number: number): string {
  return `n${String(number).padStart(3, '0')}`;
}

function addressOf(server: Server): string {
  return `http://${HOST}:${(server.address() as AddressInfo).port}`;
}

async function listen(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return server;
}
