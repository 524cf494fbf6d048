import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchContext, ROOT } from './context.ts';
import { atMost, type Row } from './group.ts';
import type { OperatorInput, OperatorInputs } from './operator-inputs.ts';
import { type Question, questions } from './operator-questions.ts';
import type { PeerName } from './peers.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { cpuSeconds } from './process-usage.ts';
import { startProgram } from './program.ts';
import { fastest, showAll, showNumber } from './rounds.ts';
import { sendRequest } from './send-request.ts';

const ANSWERING = ['rg', 'zgrep', 'mawk', 'lnav', 'goaccess', 'journalctl'] as const;

export const OPERATOR_PEERS: readonly PeerName[] = [...ANSWERING, 'systemd-journal-remote'];

const NAMES: Readonly<Record<string, string>> = { program: 'the program', rg: 'ripgrep', goaccess: 'GoAccess' };

/** Nobody waits longer. */
const MAX_MS = 40_000;

/** Who takes longer is asked once: that is enough to see by how much. */
const SLOW_MS = 3000;

const MIB = 1024 ** 2;

/** Who answered one question about one input. */
interface Answers {
  input: OperatorInput['name'];
  figure: string;
  mostRatio: number;
  times: Map<string, number[]>;
}

/** What an operator asks, of a node, of the program and of whatever else is at hand: all of the same records. */
export async function operatorRows(context: BenchContext, inputs: OperatorInputs): Promise<Row[]> {
  const rows: Row[] = [];
  const all: Answers[] = [];
  for (const input of inputs.inputs) {
    const flags = ['--node-time-zone', 'UTC', '--search-max-index-disk', '2%'];
    const server = await startPorthole(context, input.dir, flags);
    if (input.name === 'text' && context.effort.waitsForRest) {
      context.log(`  ${input.name}: the node indexes it in the background`);
      rows.push(await indexRow(context, server, inputs));
    }
    all.push(...(await answerAll(context, { inputs, input, server })));
    await server.stop();
  }
  const { importMs, sizeBytes } = inputs.journal;
  rows.push({
    figure: `${inputs.size}: what journalctl needs, s to import it`,
    porthole: '',
    against: `systemd-journal-remote ${showNumber(importMs / 1000)}, ${showNumber(sizeBytes / MIB)} MiB on disk`,
  });
  return [...rows, ...all.map((answers) => toRow(inputs, answers))];
}

const POLL_MS = 500;
const MAX_BUILD_MS = 300_000;

/** The newest blocks are read when they are asked for. */
const INDEXED_SHARE = 0.9;

/** Until a node that nobody asks anything has indexed its log; it begins 15 s after its start. */
async function indexRow(context: BenchContext, server: PortholeServer, { size }: OperatorInputs): Promise<Row> {
  const startedAt = performance.now();
  const before = cpuSeconds(server.pid);
  while ((await indexedBytes(server)) < context.effort.logBytes * INDEXED_SHARE) {
    if (performance.now() - startedAt > MAX_BUILD_MS) throw new Error(`${size} was not indexed within five minutes`);
    await sleep(POLL_MS);
  }
  return {
    figure: `${size}: what a node prepares, s of CPU in the background`,
    porthole: showNumber(cpuSeconds(server.pid) - before),
    rounds: `${showNumber((performance.now() - startedAt) / 1000)} s from its start`,
  };
}

async function indexedBytes({ url }: PortholeServer): Promise<number> {
  const { body } = await sendRequest(`${url}/metrics`, {});
  return Number(/^porthole_text_index_built_bytes_total (\S+)$/m.exec(body.toString())?.[1] ?? Number.NaN);
}

interface Asked {
  inputs: OperatorInputs;
  input: OperatorInput;
  server: PortholeServer;
}

/** The first round brings everything into the page cache; it counts only for those who are slow. */
async function answerAll(context: BenchContext, { inputs, input, server }: Asked): Promise<Answers[]> {
  const ask = (round: number) =>
    questions({ input: input.name, minute: inputs.minute, journalDir: inputs.journal.dir, round });
  const all: Answers[] = ask(0).map(({ figure, mostRatio }) => ({
    input: input.name,
    figure,
    mostRatio,
    times: new Map(),
  }));
  const rounds = context.effort.waitsForRest ? context.effort.rounds : 0;
  for (const [index, { figure, times }] of all.entries()) {
    context.log(`  ${input.name}: ${figure}`);
    for (let round = 0; round <= rounds; round++) {
      const question = ask(round)[index];
      if (!question) break;
      const names = ['node', 'program', ...ANSWERING.filter((name) => question.peers[name] !== undefined)];
      const lines = new Map<string, number>();
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const before = times.get(name) ?? [];
        if (before.some((tookMs) => tookMs >= SLOW_MS)) continue;
        const answered = await answer(context, name, { question, input, server });
        // The first one is replaced by the second.
        times.set(name, round === 1 ? [answered.tookMs] : [...before, answered.tookMs]);
        lines.set(name, answered.lines);
      }
      checkSame(`${input.name}, ${figure}`, question, lines);
    }
  }
  return all;
}

/** Everybody finds the same records, or the comparison means nothing. */
function checkSame(figure: string, { sameLines }: Question, lines: ReadonlyMap<string, number>): void {
  const counts = [...lines].filter(([name]) => name === 'program' || sameLines.includes(name as PeerName));
  if (new Set(counts.map(([, count]) => count)).size > 1)
    throw new Error(`${figure}: lines printed differ: ${counts.map(([name, count]) => `${name} ${count}`).join(', ')}`);
}

interface Answer {
  tookMs: number;
  lines: number;
}

async function answer(
  context: BenchContext,
  name: string,
  { question, input, server }: { question: Question; input: OperatorInput; server: PortholeServer },
): Promise<Answer> {
  if (name === 'node') {
    const { path, query } = question.node;
    const { tookMs, body } = await sendRequest(`${server.url}/api/v1/log/${path}`, { ...query, rotated: 'true' });
    return { tookMs, lines: body.toString('latin1').split('\n').length - 2 };
  }
  if (name === 'program') {
    const { command, flags } = question.porthole;
    const args = ['packages/cli/bin/porthole.cjs', 'logs', ...command, input.path, '--log-zone', 'UTC', ...flags];
    return runCommand(context, [process.execPath, ...args]);
  }
  const shell = question.peers[name as PeerName] ?? '';
  return runCommand(context, ['sh', '-c', shell, 'sh', input.path]);
}

/** Runs it until it has ended and all that it printed has been read, or until nobody would wait any longer. */
async function runCommand(context: BenchContext, command: readonly string[]): Promise<Answer> {
  context.recordCommand(command);
  const path = [dirname(context.peer('rg')), process.env.PATH].join(':');
  const env = { ...process.env, PATH: path, HOME: context.tempDir(), LC_ALL: 'C', TZ: 'UTC' };
  const startedAt = performance.now();
  const program = startProgram(command, context.cleanup, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const timer = setTimeout(() => void program.stop(), MAX_MS);
  await program.exited;
  clearTimeout(timer);
  return { tookMs: performance.now() - startedAt, lines: program.output.split('\n').length - 1 };
}

function toRow({ size }: OperatorInputs, { input, figure, mostRatio, times }: Answers): Row {
  const { node = [], ...others } = Object.fromEntries(times);
  const { program: _, ...peers } = others;
  const show = (taken: readonly number[]) =>
    `${fastest(taken) >= MAX_MS ? 'given up after ' : ''}${showNumber(fastest(taken))}`;
  const ratio = fastest(node) / fastest(Object.values(peers).flat());
  return {
    figure: `${size} as ${input}: ${figure}, ms; ratio to the fastest`,
    porthole: show(node),
    against: Object.entries(others)
      .map(([name, taken]) => `${NAMES[name] ?? name} ${show(taken)}`)
      .join(', '),
    ratio,
    target: atMost(ratio, mostRatio),
    rounds: Object.entries({ node, ...others })
      .map(([name, taken]) => `${NAMES[name] ?? name} ${showAll(taken)}`)
      .join('; '),
  };
}
