import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, ROOT } from './context.ts';
import type { FakePorts } from './fake-members.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { startProgram } from './program.ts';

/** A thousand ports are open in less than a second. */
const READY_MS = 30_000;

/** Of the list of members, what a report shows. */
const SHOWN_MEMBERS = 2;

export interface FakeMembers {
  /** As `cluster.members` has them. */
  answering: string[];
  silent: string;
  refusing: string;
  stop(): Promise<void>;
}

/** So many members in one other process, each with so many records. */
export async function startFakeMembers(context: BenchContext, count: number, records: number): Promise<FakeMembers> {
  const command = [process.execPath, '--import', 'tsx', 'bench/fake-members.ts', String(count), String(records)];
  context.recordCommand(['node', ...command.slice(1)]);
  const program = startProgram(command, context.cleanup, { cwd: ROOT });
  const { answering, silent, refusing } = await new Promise<FakePorts>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the fake members ${why}\n${program.output}`));
    const timer = setTimeout(() => fail(`were not there within ${READY_MS} ms`), READY_MS);
    program.child.stdout?.on('data', () => {
      if (!program.output.includes('\n')) return;
      clearTimeout(timer);
      resolve(JSON.parse(program.output) as FakePorts);
    });
    const onEnd = () => {
      clearTimeout(timer);
      fail('ended before they were there');
    };
    program.exited.then(onEnd, onEnd);
  });
  return {
    answering: answering.map((port, number) => entry(`n${String(number).padStart(4, '0')}`, port)),
    // Last by their names too, so that they are asked last: what they cost comes on top of the others.
    silent: entry('z-silent', silent),
    refusing: entry('z-refusing', refusing),
    stop: program.stop,
  };
}

function entry(id: string, port: number): string {
  return `${id}=http://127.0.0.1:${port}`;
}

export interface QueryNodeOptions {
  logDir: string;
  members: readonly string[];
  /** Default unless given. */
  refresh?: string;
  flags?: readonly string[];
}

export interface QueryNode extends PortholeServer {
  /** Where it keeps the last words of the others, a file for each. */
  snapshotDir: string;
}

/** A node that knows these members, besides itself. Nobody of them has to know it. */
export async function startQueryNode(context: BenchContext, options: QueryNodeOptions): Promise<QueryNode> {
  const { logDir, members, refresh, flags = [] } = options;
  const dir = context.tempDir();
  const snapshotDir = join(dir, 'last-words');
  const file = join(dir, 'cluster.toml');
  const toml = (list: string) =>
    [
      '[cluster]',
      'node-id = "asked"',
      `last-words-dir = ${JSON.stringify(snapshotDir)}`,
      ...(refresh === undefined ? [] : [`refresh = ${JSON.stringify(refresh)}`]),
      `members = [${list}]`,
      '',
    ].join('\n');
  const listed = members.map((member) => JSON.stringify(member));
  writeFileSync(file, toml(listed.join(', ')));
  const shown = [...listed.slice(0, SHOWN_MEMBERS), ...(listed.length > SHOWN_MEMBERS ? ['...'] : [])];
  context.recordFile(`cluster.toml with ${members.length} members`, toml(shown.join(', ')));
  const server = await startPorthole(context, logDir, ['--config', file, ...flags]);
  return { ...server, snapshotDir: snapshotDir };
}
