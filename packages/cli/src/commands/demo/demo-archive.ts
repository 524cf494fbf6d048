// owner: a listener as soon as it is started, which explains why it does not start
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@porthole/client';
import { pause } from '@porthole/logs';
import type { PartialSettings } from '@porthole/server';
import { initArchive } from '@porthole/server/archive';
import { ProgramError } from '../../exit.ts';
import { fetchArchived } from '../../sources/resolve-node.ts';
import { freePorts } from './demo-nodes.ts';

/** How often it is checked whether the history was shipped. */
const CHECK_MS = 1000;

/** What is older is only in the archive. */
const KEEP_MS = 3_600_000;

export interface DemoArchive {
  /** What each node is set to. */
  settings: Pick<PartialSettings, 'archive'>;
  /** Deletes older files once they were shipped, so that there is a past. Ends when that is done. */
  forgetOld(logDirs: readonly string[], url: string, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a ClickHouse server and makes the tables. */
export async function openDemoArchive(dir: string): Promise<DemoArchive> {
  mkdirSync(dir, { recursive: true });
  const server = await startDemoClickHouse(dir, { ports: await freePorts(3) });
  const settings = { archive: { url: server.url } };
  await initArchive({ options: settings }, { dryRun: false }).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  return {
    settings,
    stop: () => server.stop(),
    async forgetOld(logDirs, url, signal) {
      const client = createClient({ url });
      while (await pause(CHECK_MS, signal)) {
        if (!(await isShipped(client, logDirs.length))) continue;
        for (const logDir of logDirs) removeOld(logDir);
        return;
      }
    },
  };
}

/** Whether all nodes have shipped what they had when they started. */
async function isShipped(client: ReturnType<typeof createClient>, nodes: number): Promise<boolean> {
  const recentMs = Date.now() - 60_000;
  const shipped = (await fetchArchived(client, { nodes: ['*'] })).filter(
    ({ asOfMs }) => asOfMs !== null && asOfMs > recentMs,
  );
  return shipped.length === nodes;
}

/** Rotated files whose last record is older. */
function removeOld(dir: string): void {
  for (const name of readdirSync(dir)) {
    const isRotated = /\d/.test(name);
    if (isRotated && statSync(join(dir, name)).mtimeMs < Date.now() - KEEP_MS) rmSync(join(dir, name));
  }
}

/** Debian keeps servers where the PATH of an ordinary user does not look. */
const MORE_DIRS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** Usually it starts in a second. */
const START_MS = 60_000;

const POLL_MS = 100;

/** What to install where there is none. */
const HOW_TO_INSTALL =
  'no ClickHouse server found (clickhouse-server or clickhouse in PATH): install it with "apt install clickhouse-server" ' +
  'on Debian and Ubuntu, "brew install clickhouse" on macOS, or from https://clickhouse.com/docs/install';

interface DemoClickHouse {
  url: string;
  stop(): Promise<void>;
}

/** Starts a ClickHouse server of its own, with all of its files in the directory. */
export async function startDemoClickHouse(
  dir: string,
  { ports, dirs = programDirs() }: { ports: readonly number[]; dirs?: readonly string[] },
): Promise<DemoClickHouse> {
  const command = findServer(dirs);
  const config = writeConfig(dir, ports);
  const child = spawn(command.path, [...command.args, `--config-file=${config}`], { cwd: dir, stdio: 'ignore' });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `http://127.0.0.1:${ports[0]}`;
  const stop = async () => {
    process.removeListener('exit', kill);
    if (hasEnded(child)) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(kill, 5000);
    await exited;
    clearTimeout(timer);
  };
  try {
    await waitUntilReady(url, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function programDirs(): string[] {
  return [...(process.env.PATH ?? '').split(delimiter), ...MORE_DIRS].filter((dir) => dir !== '');
}

function findServer(dirs: readonly string[]): { path: string; args: string[] } {
  for (const { name, args } of [
    { name: 'clickhouse-server', args: [] },
    { name: 'clickhouse', args: ['server'] },
  ])
    for (const dir of dirs) if (isExecutable(join(dir, name))) return { path: join(dir, name), args };
  throw new ProgramError(HOW_TO_INSTALL);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return false; // not there, or not for this user
  }
}

/** As little as a server needs: loopback only, small caches, a user without a password. */
function writeConfig(dir: string, [http = 0, tcp = 0, interserver = 0]: readonly number[]): string {
  const data = join(dir, 'data');
  mkdirSync(data, { recursive: true });
  const config = `<yandex>
<logger><level>warning</level><log>${dir}/server.log</log><errorlog>${dir}/errors.log</errorlog></logger>
<http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><interserver_http_port>${interserver}</interserver_http_port>
<listen_host>127.0.0.1</listen_host><path>${data}/</path><tmp_path>${data}/tmp/</tmp_path>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
</yandex>
`;
  const users = `<yandex><profiles><default></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users><quotas><default></default></quotas></yandex>
`;
  writeFileSync(join(dir, 'users.xml'), users);
  writeFileSync(join(dir, 'config.xml'), config);
  return join(dir, 'config.xml');
}

async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  let problem: unknown = 'it ended at once';
  child.on('error', (error) => {
    problem = error.message;
  });
  const giveUpAt = performance.now() + START_MS;
  while (performance.now() < giveUpAt && !hasEnded(child)) {
    const response = await fetch(`${url}/ping`).catch((error: unknown) => {
      problem = error; // not listening yet
      return undefined;
    });
    await response?.body?.cancel();
    if (response?.ok) return;
    await delay(POLL_MS);
  }
  throw new ProgramError(`the ClickHouse server of the demo does not start: ${problem}`);
}
