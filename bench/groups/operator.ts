import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { barChart } from '../bar-chart.ts';
import { type BenchContext, ROOT } from '../context.ts';
import type { Group, Row } from '../group.ts';
import { dropFromCache, ensureOperatorInputs, type OperatorInput, type OperatorInputs } from '../operator-inputs.ts';
import { type Question, questions } from '../operator-questions.ts';
import type { PeerName } from '../peers.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { cpuSeconds, ownMemory, watchOwnMemory } from '../process-usage.ts';
import { startProgram } from '../program.ts';
import { median, showNumber } from '../rounds.ts';
import { sendRequest } from '../send-request.ts';
import { readMetric } from './text-index.ts';

const PEERS = ['rg', 'zgrep', 'mawk', 'lnav', 'goaccess', 'journalctl'] as const;

const NAMES: Readonly<Record<string, string>> = {
  node: 'Porthole, a running node',
  program: 'Porthole, the program on the files',
  rg: 'ripgrep',
  goaccess: 'GoAccess',
};

/** Nobody waits longer. */
const MAX_MS = 120_000;

/** Who takes longer is asked once more and not in every round: the rest is enough to see by how much. */
const SLOW_MS = 4000;

const MIB = 1024 ** 2;

/** Who answered one question about one input. */
interface Answers {
  input: OperatorInput['name'];
  figure: string;
  coldMs: Map<string, number>;
  warmMs: Map<string, number[]>;
  memoryBytes: Map<string, number>;
  /** Answers of a peer that were not the same records as ours: how many lines each printed. */
  differs: string[];
}

/** What an operator asks, answered by whatever is at hand: everything from the same records, on this machine, in this run. */
export const operatorGroup: Group = {
  name: 'operator',
  needs: ['rg', 'zgrep', 'mawk', 'lnav', 'goaccess', 'journalctl', 'systemd-journal-remote', 'dd'],
  async run(context) {
    const inputs = await ensureOperatorInputs(context);
    const rows: Row[] = [];
    const all: Answers[] = [];
    for (const input of inputs.inputs) {
      const flags = ['--node-time-zone', 'UTC', '--search-max-index-disk', '2%'];
      const server = await startPorthole(context, input.dir, flags);
      context.log(`  ${input.name}: the node indexes it in the background`);
      const built = await watchIndexing(server);
      rows.push({
        figure: `${inputs.size} as ${input.name}: what a node prepares, s of CPU in the background`,
        porthole: showNumber(built.cpuSeconds),
        rounds: `${showNumber(built.tookSeconds)} s in all, memory of the node then ${showMib(ownMemory(server.pid))}`,
      });
      all.push(...(await answerAll(context, { inputs, input, server })));
      await server.stop();
    }
    const { importMs, sizeBytes } = inputs.journal;
    rows.push({
      figure: `${inputs.size} as text: what journalctl needs, s to import it`,
      porthole: '',
      against: `systemd-journal-remote ${showNumber(importMs / 1000)}, ${showMib(sizeBytes)} on disk`,
    });
    context.recordFile('operator.svg', chart(inputs, all));
    return [...rows, ...all.flatMap((answers) => toRows(inputs, answers))];
  },
};

/** Polls until a node has indexed nothing new for so long, after it has begun; a node begins 15 s after its start. */
const POLL_MS = 1000;
const QUIET_MS = 20_000;
const BEGUN_MS = 90_000;

/** What a node that nobody asks anything does to its logs. Of some it indexes nothing: they are read when they are asked for. */
async function watchIndexing({ url, pid }: PortholeServer): Promise<{ cpuSeconds: number; tookSeconds: number }> {
  const startedAt = performance.now();
  const before = cpuSeconds(pid);
  let last = { at: startedAt, bytes: 0, cpu: before };
  for (;;) {
    await sleep(POLL_MS);
    const bytes = await readMetric(url, 'porthole_text_index_built_bytes_total');
    const at = performance.now();
    if (bytes > last.bytes) last = { at, bytes, cpu: cpuSeconds(pid) };
    if (at - last.at >= (last.bytes > 0 ? QUIET_MS : BEGUN_MS))
      return { cpuSeconds: last.cpu - before, tookSeconds: (last.at - startedAt) / 1000 };
  }
}

interface Asked {
  inputs: OperatorInputs;
  input: OperatorInput;
  server: PortholeServer;
}

async function answerAll(context: BenchContext, { inputs, input, server }: Asked): Promise<Answers[]> {
  const ask = (round: number) =>
    questions({ input: input.name, minute: inputs.minute, journalDir: inputs.journal.dir, round });
  const all: Answers[] = ask(0).map(({ figure }) => ({
    ...{ input: input.name, figure, coldMs: new Map(), warmMs: new Map(), memoryBytes: new Map(), differs: [] },
  }));
  for (const [index, answers] of all.entries()) {
    context.log(`  ${input.name}: ${answers.figure}`);
    for (let round = 0; round <= context.effort.rounds; round++) {
      const question = ask(round)[index];
      if (!question) break;
      const names = ['node', 'program', ...PEERS.filter((name) => question.peers[name] !== undefined)];
      for (const name of round % 2 === 0 ? names : names.reverse()) {
        // Who was too slow the first time is not asked again.
        const coldMs = answers.coldMs.get(name) ?? 0;
        if (coldMs >= MAX_MS || (coldMs >= SLOW_MS && round > 1)) continue;
        if (round === 0) await dropFromCache(context, [...input.files]);
        const { tookMs, lines, memoryBytes } = await answer(context, name, { question, input, server });
        answers.memoryBytes.set(name, Math.max(memoryBytes, answers.memoryBytes.get(name) ?? 0));
        if (round === 0) answers.coldMs.set(name, tookMs);
        else answers.warmMs.set(name, [...(answers.warmMs.get(name) ?? []), tookMs]);
        if (name === 'program') answers.differs = [String(lines)];
        else if (question.sameLines.includes(name as PeerName)) answers.differs.push(`${name} ${lines}`);
      }
      checkSame(answers);
    }
  }
  return all;
}

/** Everybody finds the same records, or the comparison means nothing. */
function checkSame(answers: Answers): void {
  const counts = answers.differs.map((text) => text.replace(/^\w+ /, ''));
  if (new Set(counts).size > 1)
    throw new Error(`${answers.input}, ${answers.figure}: lines printed differ: program ${answers.differs.join(', ')}`);
  answers.differs = [];
}

interface Answer {
  tookMs: number;
  lines: number;
  memoryBytes: number;
}

async function answer(
  context: BenchContext,
  name: string,
  { question, input, server }: { question: Question; input: OperatorInput; server: PortholeServer },
): Promise<Answer> {
  if (name === 'node') {
    const { path, query } = question.node;
    const watch = watchOwnMemory(server.pid);
    const { tookMs, body } = await sendRequest(`${server.url}/api/v1/log/${path}`, { ...query, rotated: 'true' });
    return { tookMs, lines: body.toString('latin1').split('\n').length - 2, memoryBytes: watch.stop() };
  }
  if (name === 'program') {
    const { command, flags } = question.porthole;
    const args = ['packages/cli/bin/porthole.cjs', 'logs', ...command, ...input.files, '--log-zone', 'UTC', ...flags];
    return runCommand(context, [process.execPath, ...args]);
  }
  const shell = question.peers[name as PeerName] ?? '';
  return runCommand(context, ['sh', '-c', shell, 'sh', ...input.files]);
}

/** Runs it until it has ended and all that it printed has been read. */
async function runCommand(context: BenchContext, command: readonly string[]): Promise<Answer> {
  context.recordCommand(command);
  const path = [dirname(context.peer('rg')), process.env.PATH].join(':');
  const env = { ...process.env, PATH: path, HOME: context.tempDir(), LC_ALL: 'C', TZ: 'UTC' };
  const startedAt = performance.now();
  const program = startProgram(command, context.cleanup, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const watch = watchOwnMemory(program.child.pid ?? 0);
  const timer = setTimeout(() => void program.stop(), MAX_MS);
  await program.exited;
  clearTimeout(timer);
  const tookMs = performance.now() - startedAt;
  return { tookMs, lines: program.output.split('\n').length - 1, memoryBytes: watch.stop() };
}

function toRows({ size }: OperatorInputs, { input, figure, coldMs, warmMs, memoryBytes }: Answers): Row[] {
  const others = (show: (name: string) => string | undefined) =>
    ['program', ...PEERS]
      .flatMap((name) => {
        const text = show(name);
        return text === undefined ? [] : [`${name === 'program' ? 'the program' : (NAMES[name] ?? name)} ${text}`];
      })
      .join(', ');
  const warm = (name: string) => showMs(warmMs.get(name) ?? []);
  const cold = (name: string) => showMs([coldMs.get(name) ?? []].flat());
  const memory = (name: string) => (memoryBytes.has(name) ? showMib(memoryBytes.get(name) ?? 0) : undefined);
  return [
    { figure: `${size} as ${input}: ${figure}, ms`, porthole: warm('node') ?? '', against: others(warm) },
    {
      figure: `${size} as ${input}: ${figure}, not in the page cache, ms`,
      porthole: cold('node') ?? '',
      against: others(cold),
    },
    { figure: `${size} as ${input}: ${figure}, memory`, porthole: memory('node') ?? '', against: others(memory) },
  ];
}

function showMs(values: readonly number[]): string | undefined {
  if (values.length === 0) return undefined;
  return median(values) >= MAX_MS ? `given up after ${showNumber(MAX_MS)}` : showNumber(median(values));
}

function showMib(bytes: number): string {
  return `${showNumber(bytes / MIB)} MiB`;
}

/** The text log, whose pages are in the cache: what most people compare. */
function chart({ size }: OperatorInputs, all: readonly Answers[]): string {
  return barChart({
    title: `Five questions about ${size} of log, ms (logarithmic; shorter is better)`,
    groups: all
      .filter(({ input }) => input === 'text')
      .map(({ figure, warmMs }) => ({
        title: figure,
        bars: ['node', 'program', ...PEERS].flatMap((name) => {
          const values = warmMs.get(name);
          return values
            ? [{ name: NAMES[name] ?? name, value: median(values), isOurs: name === 'node' || name === 'program' }]
            : [];
        }),
      })),
  });
}
