import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@porthole/client';
import { startTestEtcd } from '@porthole/cluster/testing';
import type { ClusterEnd, ClusterFollowItem, ClusterNodes, ClusterRecord, EventKind } from '@porthole/contract';
import { pathOfAll } from '@porthole/contract/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, onTestFinished } from 'vitest';
import { Program, runCommand } from './program.ts';

/** Short, so that what waits for them is quick; long enough for a machine that does much else. */
const SHORT_LIMITS = [
  ['--cluster-lease', '2s'],
  ['--cluster-refresh', '400ms'],
  ['--cluster-member-timeout', '3s'],
  ['--cluster-first-batch-timeout', '2s'],
  ['--node-stop-timeout', '1s'],
  ['--search-workers', '1'],
];

/** How long each member may look: beside its deadline, what a member that never ends may cost. */
const BUDGET_MS = 2000;

const HOUR_MS = 3_600_000;

interface ClusterProcessOptions {
  flags?: readonly string[];
  /** Where its files are; another run may have left some. */
  cwd?: string;
  /** What runs it, in place of this process: a command and its first words. */
  through?: readonly string[];
  env?: Record<string, string>;
}

/** A `porthole serve` that observes a service of its own, and writes that service's log. */
export class ClusterProcess {
  readonly id: string;
  readonly cwd: string;
  readonly program: Program;
  #url = '';

  private constructor(id: string, { flags = [], cwd = tempDir(), through, env }: ClusterProcessOptions) {
    this.id = id;
    this.cwd = cwd;
    mkdirSync(join(cwd, 'logs'), { recursive: true });
    // An earlier run may have left another one.
    if (!existsSync(join(cwd, 'service.toml'))) writeFileSync(join(cwd, 'service.toml'), serviceConfig(id));
    const args = [
      ['serve', '--http-port', '0', '--grpc-port', '0', '--node-time-zone', 'UTC'],
      ['--log-dir', 'logs', '--service-config', 'service.toml', '--cluster-node-id', id],
      ...SHORT_LIMITS,
      flags,
    ].flat();
    const run = { cwd, ...(env && { env }) };
    this.program = through === undefined ? new Program(args, run) : throughCommand(through, args, cwd);
  }

  /** Resolves when it says that it is ready. */
  static async start(id: string, options: ClusterProcessOptions = {}): Promise<ClusterProcess> {
    const process = new ClusterProcess(id, options);
    process.#url = (await process.program.ready()).replace(/\/$/, '');
    return process;
  }

  get url(): string {
    return this.#url;
  }

  get client(): Client {
    return createClient({ url: this.#url, retries: 0 });
  }

  write(message: string, when?: RecordTime): void {
    writeRecord(this.cwd, message, when);
  }

  nodes(): Promise<ClusterNodes> {
    return this.client.nodes();
  }

  /** Resolves once it has heard from every member. */
  async hearsFromAll(): Promise<void> {
    await eventually(async () => {
      const { nodes } = await this.nodes();
      expect(nodes.map(({ id, state, report }) => [id, state, report.outcome])).toEqual(
        nodes.map(({ id }) => [id, 'up', 'ok']),
      );
    });
  }

  /** Resolves once it has written that this happened to a member. */
  async waitForEvent(kind: EventKind, member: string): Promise<void> {
    await eventually(async () =>
      expect((await this.request(`/api/v1/events?kind=${kind}`)).body).toContain(`"member":"${member}"`),
    );
  }

  async search(request: SearchParams = {}): Promise<FoundInCluster> {
    return searchCluster(this.client, request);
  }

  /** What it says to a plain question. */
  async request(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
    const response = await fetch(`${this.#url}${path}`, { headers, redirect: 'manual' });
    return { status: response.status, body: await response.text() };
  }

  /** The answer of a route of the cluster. */
  async json<T>(path: string): Promise<T> {
    const { status, body } = await this.request(pathOfAll(path.slice(1)));
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    return JSON.parse(body) as T;
  }

  /** The same where it is one line for each. */
  async lines<T>(path: string): Promise<T[]> {
    const { body } = await this.request(pathOfAll(path.slice(1)));
    return body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]));
  }

  /** Runs the command line against it. */
  cli(...args: string[]) {
    return runCommand([...args, '--url', this.#url], this.cwd);
  }

  /** What it keeps of another member on its disk; `undefined` if that is nothing. */
  kept(id: string): KeptMember | undefined {
    const dir = join(this.cwd, 'data', 'recorded', id);
    if (!existsSync(join(dir, 'member.json')) || !existsSync(join(dir, 'log'))) return undefined;
    const profile = JSON.parse(readFileSync(join(dir, 'member.json'), 'utf8')) as Omit<KeptMember, 'text'>;
    const parts = readdirSync(join(dir, 'log')).map((name) => readFileSync(join(dir, 'log', name), 'utf8'));
    return { ...profile, text: parts.join('') };
  }

  /** Listens to all members until the test ends. Resolves when it does. */
  follow(): Promise<FollowedCluster> {
    return FollowedCluster.open(this.client);
  }

  /** Resolves once another member has recorded what this one has written so far, and has its configuration. */
  async waitForRecording(by: ClusterProcess): Promise<void> {
    const dir = join(this.cwd, 'logs');
    const lines = readdirSync(dir).flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').at(-2) ?? []);
    await eventually(() => {
      const kept = by.kept(this.id);
      expect(kept).toMatchObject({ config: { config: expect.any(String) }, files: expect.any(Array) });
      for (const line of lines) expect(kept?.text).toContain(line);
    });
  }

  async kill(): Promise<void> {
    this.program.kill('SIGKILL');
    await this.program.end();
  }
}

/** How nodes of a test find each other. */
export type Registry = 'static' | 'etcd';

export interface TestCluster {
  nodes: ClusterProcess[];
  /** Starts a node where it was, after it has ended. */
  start(id: string): Promise<ClusterProcess>;
}

/** Nodes of one cluster, each with an address that it keeps. */
export async function startCluster(
  kind: Registry,
  ids: readonly string[],
  { prepare, env }: { prepare?(id: string, cwd: string): void; env?(id: string): Record<string, string> } = {},
): Promise<TestCluster> {
  const ports = await freePorts(ids.length);
  const list = ids.map((id, at) => `${id}=http://127.0.0.1:${ports[at]}`).join(',');
  const registry = kind === 'etcd' ? ['--cluster-etcd', (await startTestEtcd()).url] : ['--cluster-members', list];
  const dirs = new Map(ids.map((id) => [id, tempDir()]));
  for (const [id, cwd] of dirs) prepare?.(id, cwd);
  const start = (id: string) => {
    const flags = [...registry, '--http-port', String(ports[ids.indexOf(id)])];
    return ClusterProcess.start(id, { flags, cwd: dirs.get(id) ?? '', env: env?.(id) ?? {} });
  };
  return { nodes: await Promise.all(ids.map(start)), start };
}

/** The configuration of the service that a node observes. */
export function serviceConfig(id: string, more = ''): string {
  return `[service]\nname = "${id}"\npassword = "secret of ${id}"\n${more}`;
}

interface KeptMember {
  member: { id: string; role: string; url: string };
  config: { config: string } | null;
  files: unknown;
  /** What was recorded of its logs. */
  text: string;
}

interface SearchParams {
  order?: 'newest' | 'oldest';
  limit?: number;
  nodes?: readonly string[];
  cursor?: string;
  role?: string;
}

interface FoundInCluster {
  records: ClusterRecord[];
  /** Texts of the records. */
  messages: string[];
  end: ClusterEnd;
  /** Outcome by member. */
  outcomes: Record<string, string>;
}

/** Collects a search of all members that the node asks. */
export async function searchCluster(
  client: Client,
  { order = 'oldest', cursor, nodes, role, limit = 1000 }: SearchParams,
): Promise<FoundInCluster> {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  const selection = {
    ...(cursor !== undefined && { start: { cursor } }),
    ...(nodes && { nodes }),
    ...(role && { role }),
  };
  const query = { order, limit, before: 0, after: 0, ...selection };
  for await (const items of client.search({ nodes: ['*'], ...query }, { budgetMs: BUDGET_MS })) {
    for (const item of items) {
      if (item.type === 'end') end = item;
      else records.push(item);
    }
  }
  if (end === undefined) throw new Error('the answer has no end');
  const outcomes = Object.fromEntries(end.members.map(({ id, outcome }) => [id, outcome]));
  return { records, messages: records.map(({ message }) => message), end, outcomes };
}

/** What a follow of the cluster has emitted so far. */
export class FollowedCluster {
  readonly items: ClusterFollowItem[] = [];

  static async open(client: Client): Promise<FollowedCluster> {
    const followed = new FollowedCluster();
    const leaving = new AbortController();
    const { signal } = leaving;
    const batches = client.follow({ nodes: ['*'], start: 'end' }, { signal })[Symbol.asyncIterator]();
    await batches.next();
    const listening = followed.#listen({ [Symbol.asyncIterator]: () => batches }, signal);
    onTestFinished(async () => {
      leaving.abort();
      await listening;
    });
    return followed;
  }

  get messages(): string[] {
    return this.items.flatMap((item) => (item.type === 'record' ? [item.message] : []));
  }

  /** The items about a member other than its records. */
  memberOutcomes(id: string): string[] {
    return this.items.flatMap((item) => (item.type === 'member' && item.node === id ? [item.report.outcome] : []));
  }

  async #listen(batches: AsyncIterable<ClusterFollowItem[]>, signal: AbortSignal): Promise<void> {
    try {
      for await (const items of batches) this.items.push(...items);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

interface RecordTime {
  timeMs?: number;
  /** East of Greenwich. */
  zoneHours?: number;
}

/** Adds a record to the log of the service below a directory. */
export function writeRecord(cwd: string, message: string, when?: RecordTime): void {
  mkdirSync(join(cwd, 'logs'), { recursive: true });
  appendFileSync(join(cwd, 'logs', 'service.log'), renderRecord(message, when));
}

/** A line of the service: with the current time in UTC by default. */
export function renderRecord(message: string, { timeMs = Date.now(), zoneHours = 0 }: RecordTime = {}): string {
  const time = new Date(timeMs + zoneHours * HOUR_MS).toISOString().slice(0, 23).replace('T', ' ');
  return `${time}\tINFO\tmain.go:1\t[Test]: ${message}\n`;
}

function throughCommand([command = '', ...words]: readonly string[], args: readonly string[], cwd: string): Program {
  return new Program([...words, ...args], { cwd, command });
}
