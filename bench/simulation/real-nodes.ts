import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type ServerPackage = typeof import('@porthole/server');

/*
 * Real nodes of one cluster in one process, over HTTP: what the simulation is checked against. COUNT SETTLE-SECONDS
 * SECONDS; prints what was measured as a line of JSON.
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

const [count = 0, settleSeconds = 0, seconds = 0] = process.argv.slice(2).map(Number);
const { startNode } = (await import(
  new URL('../../packages/server/dist/index.js', import.meta.url).href
)) as ServerPackage;

const dir = mkdtempSync(join(tmpdir(), 'porthole-real-'));
try {
  const ports = await freePorts(count);
  const members = ports.map((port, number) => `${nodeId(number)}=http://${HOST}:${port}`);
  // All at once: those that run keep trying members that do not respond yet, which costs more than all exchanges.
  const starting = ports.map((port, number) => {
    const logs = join(dir, nodeId(number));
    mkdirSync(logs);
    writeFileSync(join(logs, 'node.log'), `${new Date().toISOString()} INFO started\n`);
    const settings = {
      http: { host: HOST, port },
      grpc: { enabled: false },
      service: { logDir: logs },
      logging: { dir: join(logs, 'own') },
      cluster: { nodeId: nodeId(number), members, lastWordsMaxBytes: 0 },
    };
    return startNode({ settings } as Parameters<ServerPackage['startNode']>[0]);
  });
  const nodes = await Promise.all(starting);
  await sleep(settleSeconds * 1000);
  const before = await countExchanges(ports);
  const usedBefore = process.cpuUsage();
  await sleep(seconds * 1000);
  const used = process.cpuUsage(usedBefore);
  const after = await countExchanges(ports);
  const ages: number[] = [];
  for (const port of ports.filter((_, number) => number % Math.ceil(count / SAMPLED_NODES) === 0))
    ages.push(...(await agesOf(port)));
  const perNodeSecond = count * seconds;
  const result: RealRun = {
    requestsPerSecond: (after.requests - before.requests) / perNodeSecond,
    responseBytesPerSecond: (after.bytes - before.bytes) / perNodeSecond,
    ages: ages.sort((a, b) => a - b),
    cpuShare: (used.user + used.system) / 1e6 / seconds,
    residentBytes: process.memoryUsage.rss(),
  };
  console.log(JSON.stringify(result));
  await Promise.all(nodes.map((node) => node.stop()));
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function nodeId(number: number): string {
  return `n${String(number).padStart(3, '0')}`;
}

/** What all nodes have responded to exchanges. */
async function countExchanges(ports: readonly number[]): Promise<{ requests: number; bytes: number }> {
  const totals = { requests: 0, bytes: 0 };
  for (const port of ports) {
    const text = await (await fetch(`http://${HOST}:${port}/metrics`)).text();
    totals.requests += sum(text, /^porthole_http_requests_total\{[^}]*route="clusterExchange"[^}]*\} (\d+)/gm);
    totals.bytes += sum(text, /^porthole_http_response_bytes_total\{[^}]*route="clusterExchange"[^}]*\} (\d+)/gm);
  }
  return totals;
}

function sum(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
}

/** Since each of the others was last known to be alive. */
async function agesOf(port: number): Promise<number[]> {
  const response = await fetch(`http://${HOST}:${port}/api/v1/cluster/nodes`);
  const { nodes } = (await response.json()) as { nodes: { isSelf: boolean; lastSeenMs: number | null }[] };
  const nowMs = Date.now();
  return nodes.filter(({ isSelf }) => !isSelf).map(({ lastSeenMs }) => nowMs - (lastSeenMs ?? 0));
}

/** All open at once, so that they differ. */
async function freePorts(wanted: number): Promise<number[]> {
  const servers: Server[] = [];
  for (let number = 0; number < wanted; number++) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    servers.push(server);
  }
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
