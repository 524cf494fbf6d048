import { setMaxListeners } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from '../../bench/cleanup.ts';
import { createToken } from '../../packages/server/src/auth/tokens.ts';
import { freePorts } from '../../packages/server/src/testing/free-ports.ts';
import { checkSoak, type SoakRow } from './check-soak.ts';
import { loadNode, newLoad, SoakFollower } from './soak-load.ts';
import { SoakNode } from './soak-node.ts';

const IDS = ['n1', 'n2', 'n3'] as const;

/** Lines are written so often, so many at once. */
const WRITE_MS = 50;
const LINES = 10;

/** How often a log is rotated. */
const ROTATE_MS = 4000;

/** When, as a share of the run, the last node is killed, and how long it stays away. */
const KILL_AT = 0.4;
const DOWN_MS = 2000;

/** What comes before, as a share of the run, is warming up: memory is not measured. */
const WARM_UP = 0.3;

const MEMORY_MS = 500;

const SETTINGS = [
  ['--http-max-streams', '1000'],
  ['--http-max-streams-per-client', '1000'],
  ['--http-stall-timeout', '3s'],
  ['--cluster-member-timeout', '10s'],
  ['--search-workers', '1'],
  ['--auth-token-file', '../tokens'],
  ['--cluster-token-file', '../token'],
].flat();

export interface SoakOptions {
  seconds: number;
  followers: number;
  stalledReaders: number;
  slowConnections: number;
  cleanup: Cleanup;
  log(progress: string): void;
}

/** Three nodes under everything at once, one of them killed midway; what was promised, and whether it held. */
export async function runSoak(options: SoakOptions): Promise<SoakRow[]> {
  const { seconds, followers, cleanup, log } = options;
  const nodes = await startNodes(cleanup);
  const filesBefore = new Map(nodes.map((node) => [node.id, node.openFiles]));
  const following = new AbortController();
  const loading = new AbortController();
  for (const { signal } of [following, loading]) setMaxListeners(0, signal);
  cleanup.add(() => [following, loading].forEach((controller) => void controller.abort()));

  const followersByNode = new Map(nodes.map((node) => [node.id, [] as SoakFollower[]]));
  await Promise.all(
    nodes.flatMap((node) =>
      Array.from({ length: followers }, () => {
        return new Promise<void>((resolve) => {
          followersByNode.get(node.id)?.push(new SoakFollower(node, following.signal, resolve));
        });
      }),
    ),
  );
  log(`${nodes.length} nodes, ${followers} followers each; under load for ${seconds} s`);

  const load = newLoad();
  const { signal } = loading;
  const { stalledReaders, slowConnections } = options;
  const loads = nodes.map((node) =>
    loadNode(node, load, { token: node.token, stalledReaders, slowConnections, signal }),
  );
  const memory = watchMemory(nodes, signal);
  const writing = writeLines(nodes, signal);
  await delay(seconds * 1000 * KILL_AT); // pause: the course of the run
  await killAndRestart(nodes, log);
  await delay(Math.max(0, seconds * 1000 * (1 - KILL_AT) - DOWN_MS)); // pause: the course of the run
  loading.abort();
  await Promise.all([...loads, writing]);
  log('the load has ended; checking that every line was received');
  const rows = await checkSoak({
    nodes,
    followers: followersByNode,
    load,
    filesBefore,
    memory: await memory,
    warmUp: WARM_UP,
  });
  following.abort();
  await Promise.all([...followersByNode.values()].flat().map(({ done }) => done));
  return rows;
}

async function startNodes(cleanup: Cleanup): Promise<(SoakNode & { token: string })[]> {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-soak-'));
  cleanup.add(() => rmSync(dir, { recursive: true, force: true }));
  const { token, line } = createToken('soak');
  writeFileSync(join(dir, 'tokens'), `${line}\n`);
  writeFileSync(join(dir, 'token'), `${token}\n`, { mode: 0o600 });
  const ports = await freePorts(IDS.length);
  const members = ports.flatMap((port) => ['--cluster-members', `http://127.0.0.1:${port}`]);
  const nodes = IDS.map((id, index) => {
    const own = join(dir, id);
    mkdirSync(own);
    const node = new SoakNode({
      id,
      port: ports[index] ?? 0,
      dir: own,
      token,
      flags: [...SETTINGS, ...members],
      cleanup,
    });
    return Object.assign(node, { token });
  });
  for (const node of nodes) await node.start();
  return nodes;
}

async function writeLines(nodes: readonly SoakNode[], signal: AbortSignal): Promise<void> {
  let rotatedAt = Date.now();
  while (!signal.aborted) {
    for (const node of nodes) node.write(LINES);
    if (Date.now() - rotatedAt > ROTATE_MS) {
      for (const node of nodes) node.rotate();
      rotatedAt = Date.now();
    }
    await delay(WRITE_MS); // pause: the course of the run
  }
}

async function killAndRestart(nodes: readonly SoakNode[], log: SoakOptions['log']): Promise<void> {
  const last = nodes.at(-1);
  log(`${last?.id} is killed`);
  await last?.kill();
  await delay(DOWN_MS); // pause: the course of the run
  await last?.start();
  log(`${last?.id} is back`);
}

/** Resident memory of each node over the run. */
async function watchMemory(nodes: readonly SoakNode[], signal: AbortSignal): Promise<Map<string, number[]>> {
  const samples = new Map(nodes.map(({ id }) => [id, [] as number[]]));
  while (!signal.aborted) {
    for (const node of nodes) if (!node.isDown) samples.get(node.id)?.push(node.residentBytes);
    await delay(MEMORY_MS); // pause: the course of the run
  }
  return samples;
}
