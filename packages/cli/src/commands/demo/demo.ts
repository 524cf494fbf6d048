import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PartialSettings, type RunningNode, startNode } from '@porthole/server';
import { EXIT, interruptSignal } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { type DemoArchive, openDemoArchive } from './demo-archive.ts';
import { eventsFile, writePast } from './demo-incident.ts';
import { type DemoNode, demoConfig, demoNodes, freePorts, isFree, startOnFreePorts, VOLUME } from './demo-nodes.ts';
import { PAST_RATE, type WrittenLog, writeHistory, writeLive } from './write-records.ts';

const DEFAULT_NODES = 3;

const PARENT_CHECK_MS = 500;

const TOKEN = 'token';

export interface DemoCluster {
  /** URL of its first node. */
  url: string;
  count: number;
  /** Settles when the signal ends the writing of its logs. */
  written: Promise<void>; // kept: awaited by the one who starts the demo
  /** Stops the nodes and removes their files. */
  stop(): Promise<void>;
}

export async function run(invocation: Invocation): Promise<number> {
  const interrupted = interruptSignal({ graceMs: Number.POSITIVE_INFINITY });
  const demo = await startDemo(invocation, AbortSignal.any([interrupted, npmGoneSignal(invocation.env)]));
  try {
    await invocation.terminal.write(`porthole is ready at ${demo.url}\n`);
    printSuggestions(invocation, demo);
    await demo.written;
  } finally {
    await demo.stop();
  }
  return EXIT.ok;
}

/**
 * Aborts when npm is gone, if npm started this process: on SIGTERM, `npx` ends the shell between the two, and that passes
 * nothing on.
 */
function npmGoneSignal({ npm_command }: NodeJS.ProcessEnv): AbortSignal {
  const controller = new AbortController();
  if (npm_command !== undefined) {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      controller.abort(new Error('npm is gone'));
    }, PARENT_CHECK_MS).unref();
  }
  return controller.signal;
}

/** Starts the demo nodes in this process and writes their logs until the signal fires. */
export async function startDemo(invocation: Invocation, signal: AbortSignal): Promise<DemoCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-demo-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  // Also when a second signal exits the process.
  process.once('exit', remove);
  try {
    // So that the nodes tell each other whether they have the same secrets.
    writeFileSync(join(dir, TOKEN), randomBytes(24).toString('base64url'), { mode: 0o600 });
    const nodes = demoNodes(invocation.number('nodes') ?? DEFAULT_NODES, Date.now());
    const archive = invocation.isOn('archive') ? await openDemoArchive(join(dir, 'clickhouse')) : undefined;
    const demo = await startDemoNodes(invocation, { dir, nodes, archive }).catch(async (error: unknown) => {
      await archive?.stop();
      throw error;
    });
    const { url, logs } = demo;
    const rate = invocation.number('rate') ?? PAST_RATE;
    const logDirs = nodes.map(({ id }) => join(dir, id, 'log'));
    const live = logs.map((each) => writeLive(each, rate, signal));
    const written = Promise.all([...live, ...(archive ? [archive.forgetOld(logDirs, url, signal)] : [])]).then(
      () => {},
    );
    const stop = async () => {
      await demo.stop();
      await archive?.stop();
    };
    return { url, count: nodes.length, written, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

function printSuggestions(invocation: Invocation, { url, count }: { url: string; count: number }): void {
  const { terminal } = invocation;
  const hasArchive = invocation.isOn('archive');
  const address = url.replace(/\/$/, '');
  const option = address.endsWith(':7300') ? '' : ` --url ${address}`;
  const one = ['logs search "could not be sent"', 'logs digest -l warn', 'logs histogram', 'config get broker'];
  const several = ['nodes', 'logs --all -f -l warn', 'logs digest --all -l error', 'config diff', 'events -S 1h'];
  terminal.note(
    count === 1
      ? 'this is a demo database node; open the address above, or try in another terminal:'
      : `these are ${count} demo database nodes, one of which was killed 14 minutes ago; open the address above to find out why, or try in another terminal:`,
  );
  for (const line of [...(count === 1 ? [] : ['incident']), 'logs -f -l warn', ...(count === 1 ? one : several)])
    terminal.note(`  porthole ${line}${option}`);
  if (hasArchive) terminal.note(`  porthole archive status${option}`);
  terminal.note('Ctrl-C stops the demo and removes its files');
}

const DEFAULT_PORT = '7300';

interface RunningDemo {
  /** URL of the first node. */
  url: string;
  /** Logs of each node. */
  logs: WrittenLog[][];
  stop(): Promise<void>;
}

interface DemoFiles {
  dir: string;
  nodes: readonly DemoNode[];
  archive: DemoArchive | undefined;
}

/** Starts the demo nodes, each with its own files below the directory. */
async function startDemoNodes(invocation: Invocation, files: DemoFiles): Promise<RunningDemo> {
  const nowMs = Date.now();
  const logs = files.nodes.map((node) => writeFiles(join(files.dir, node.id), node, nowMs));
  await writeEvents(files);
  const running = await startOnFreePorts(
    { draw: () => portsFor(invocation, files.nodes.length), chosen: invocation.text('http-port') },
    (ports) => startAll(invocation, files, ports),
  );
  return { url: running[0]?.url ?? '', logs, stop: () => stopAll(running) };
}

async function startAll(
  invocation: Invocation,
  { dir, nodes, archive }: DemoFiles,
  ports: readonly string[],
): Promise<RunningNode[]> {
  const running: RunningNode[] = [];
  try {
    for (const [index, node] of nodes.entries()) {
      const settings = settingsFor(node, join(dir, node.id));
      const cluster = { ...settings.cluster, ...clusterSettings(invocation, nodes, { ports, index }) };
      const listenFlags = listenFlagsFor(invocation, ports[index], index);
      running.push(
        await startNode({
          ownsProcess: true,
          flags: listenFlags,
          settings: { ...settings, cluster, ...archive?.settings },
        }),
      );
    }
    return running;
  } catch (error) {
    await stopAll(running);
    throw error;
  }
}

async function stopAll(running: readonly RunningNode[]): Promise<void> {
  await Promise.all(running.map((node) => node.stop()));
}

/** All ports must be known before the first node starts: its member list contains them. */
async function portsFor(invocation: Invocation, count: number): Promise<string[]> {
  const first = invocation.text('http-port') ?? (await defaultPort(invocation));
  if (count === 1) return [first];
  const free = (await freePorts(count)).map(String);
  return Number(first) === 0 ? free : [first, ...free.slice(1)];
}

/** The default port, or a free one if it is taken: `npm start` may be running. */
async function defaultPort({ terminal }: Invocation): Promise<string> {
  if (await isFree(Number(DEFAULT_PORT))) return DEFAULT_PORT;
  const [free = 0] = await freePorts(1);
  terminal.note(
    `port ${DEFAULT_PORT} is in use, perhaps by another node; using ${free} instead (choose one with --http-port)`,
  );
  return String(free);
}

function writeFiles(dir: string, { config, ...node }: DemoNode, nowMs: number): WrittenLog[] {
  const logDir = join(dir, 'log');
  mkdirSync(logDir, { recursive: true });
  writeFileSync(join(dir, 'broker.toml'), demoConfig(config));
  return writeHistory(logDir, { ...node, nowMs });
}

/** What the nodes know of the incident. */
async function writeEvents({ dir, nodes }: DemoFiles): Promise<void> {
  const node = nodes.find(({ id, incident }) => id === incident?.origin);
  if (!node?.incident) return;
  const { id, config, incident } = node;
  const settings = settingsFor(node, join(dir, id));
  const logOf = (own: string) => join(dir, own, 'log', 'lind-broker.log');
  const others = nodes
    .filter((other) => other !== node)
    .map((other) => ({
      id: other.id,
      log: logOf(other.id),
      events: eventsFile(settingsFor(other, join(dir, other.id))),
    }));
  const configs = { before: demoConfig({ ...config, volume: VOLUME }), after: demoConfig(config) };
  const files = { log: logOf(id), configFile: join(dir, id, 'broker.toml') };
  await writePast({ id, settings, ...files, ...configs }, others, incident);
}

/** As flags, so that an invalid port gives the same error as in "porthole serve". */
function listenFlagsFor(invocation: Invocation, port: string | undefined, index: number): Record<string, string> {
  const grpc = index === 0 ? invocation.text('grpc-port') : '0';
  return { ...(port !== undefined && { 'http.port': port }), ...(grpc !== undefined && { 'grpc.port': grpc }) };
}

function settingsFor({ id }: DemoNode, dir: string): PartialSettings {
  return {
    node: { hostName: id },
    service: { logDir: join(dir, 'log'), configFile: join(dir, 'broker.toml') },
    logging: { dir: join(dir, 'porthole') },
    cluster: { name: 'demo', nodeId: id, tokenFile: join(dir, '..', TOKEN) },
  };
}

/** Discovery by etcd, which also knows roles, or by a static list of members. */
function clusterSettings(
  invocation: Invocation,
  nodes: readonly DemoNode[],
  { ports, index }: { ports: readonly string[]; index: number },
): PartialSettings['cluster'] {
  const etcd = invocation.text('etcd');
  if (etcd !== undefined) return { role: 'broker', etcd: [etcd] };
  const members = nodes.map(({ id }, at) => `${id}=http://127.0.0.1:${ports[at]}`);
  return { members: members.filter((_, at) => at !== index) };
}
