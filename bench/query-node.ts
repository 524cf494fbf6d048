import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, ROOT } from './context.ts';
import type { FakePorts } from './fake-members.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { type Program, startProgram } from './program.ts';

/** A thousand ports are open in less than a second. */
const READY_MS = 30_000;

/** How many of the list of members a report shows. */
const SHOWN_MEMBERS = 2;

export interface FakeMembers {
  known: { id: string; url: string }[];
  /** When all of them started. */
  startedMs: number;
  /** As `cluster.members` has them. */
  answering: string[];
  silent: string;
  refusing: string;
  stop(): Promise<void>;
}

/** As many as cores: the members are not all one thread, and each of them runs long enough to be compiled. */
const LARGE = 500;
const PROCESSES = 2;

/** So many members in other processes, each with so many records. */
export async function startFakeMembers(context: BenchContext, count: number, records: number): Promise<FakeMembers> {
  const processes = count < LARGE ? 1 : PROCESSES;
  const each = Math.ceil(count / processes);
  const startedMs = Date.now();
  const started: FakeProcess[] = [];
  for (let first = 0; first < count; first += each)
    started.push(await startFakeProcess(context, [Math.min(each, count - first), records, first, startedMs]));
  const ports = started.flatMap(({ ports: { answering } }) => answering);
  const known = ports.map((port, number) => ({ id: memberId(number), url: addressOf(port) }));
  const [first] = started as [FakeProcess, ...FakeProcess[]];
  return {
    known,
    startedMs,
    answering: known.map(({ id, url }) => `${id}=${url}`),
    // Last by their names too, so that they are asked last: what they cost comes on top of the others.
    silent: `z-silent=${addressOf(first.ports.silent)}`,
    refusing: `z-refusing=${addressOf(first.ports.refusing)}`,
    async stop() {
      await Promise.all(started.map(({ stop }) => stop()));
    },
  };
}

interface FakeProcess extends Pick<Program, 'stop'> {
  ports: FakePorts;
}

async function startFakeProcess(context: BenchContext, args: readonly number[]): Promise<FakeProcess> {
  const command = [process.execPath, '--import', 'tsx', 'bench/fake-members.ts', ...args.map(String)];
  context.recordCommand(['node', ...command.slice(1)]);
  const program = startProgram(command, context.cleanup, { cwd: ROOT });
  const ports = await new Promise<FakePorts>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the fake members ${why}\n${program.output}`));
    const timer = setTimeout(() => fail(`did not respond within ${READY_MS} ms`), READY_MS);
    const look = () => {
      const [line, ...rest] = program.output.split('\n');
      if (line === undefined || rest.length === 0) return;
      clearTimeout(timer);
      program.child.stdout?.off('data', look);
      resolve(JSON.parse(line) as FakePorts);
    };
    program.child.stdout?.on('data', look);
    const onEnd = () => {
      clearTimeout(timer);
      fail('ended');
    };
    program.exited.then(onEnd, onEnd);
  });
  return { ports, stop: program.stop };
}

function memberId(number: number): string {
  return `n${String(number).padStart(4, '0')}`;
}

function addressOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
export interface QueryNodeOptions {
  logDir: string;
  /** A static list of others; or where they are registered. */
  members?: readonly string[];
  etcd?: string;
  /** Default unless given. */
  refresh?: string;
  flags?: readonly string[];
}

export interface QueryNode extends PortholeServer {
  /** Where it keeps the last words of the others, a file for each. */
  recordDir: string;
}

/** A node that knows these members, besides itself. Nobody of them has to know it. */
export async function startQueryNode(context: BenchContext, options: QueryNodeOptions): Promise<QueryNode> {
  const { logDir, members = [], etcd, refresh, flags = [] } = options;
  const dir = context.tempDir();
  const recordDir = join(dir, 'recorded');
  const file = join(dir, 'cluster.toml');
  const toml = (list: string) =>
    [
      '[cluster]',
      'node-id = "asked"',
      `record-dir = ${JSON.stringify(recordDir)}`,
      ...(refresh === undefined ? [] : [`refresh = ${JSON.stringify(refresh)}`]),
      ...(etcd === undefined ? [`members = [${list}]`] : [`etcd = [${JSON.stringify(etcd)}]`]),
      '',
    ].join('\n');
  const listed = members.map((member) => JSON.stringify(member));
  writeFileSync(file, toml(listed.join(', ')));
  const shown = [...listed.slice(0, SHOWN_MEMBERS), ...(listed.length > SHOWN_MEMBERS ? ['...'] : [])];
  context.recordFile(`cluster.toml with ${members.length} members`, toml(shown.join(', ')));
  const server = await startPorthole(context, logDir, ['--config', file, ...flags]);
  return { ...server, recordDir: recordDir };
}
