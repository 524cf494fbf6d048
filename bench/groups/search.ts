import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import { ensureOperatorInputs } from '../operator-inputs.ts';
import { OPERATOR_PEERS, operatorRows } from '../operator-rows.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { fastest, showAll, showNumber } from '../rounds.ts';
import { type PeerRun, runPeer } from '../run-peer.ts';
import { type SearchCase, searchCases } from '../search-cases.ts';
import {
  ensureSearchFolder,
  ensureUnreadCopies,
  middleMinute,
  type SearchFolder,
  untilSettled,
} from '../search-files.ts';
import { searchNode } from '../send-request.ts';
import { startWarmNode } from '../warm-node.ts';

/** All that one search may give, as the default settings have it. */
const LIMIT = 10_000;

/**
 * The regex that has to be tried on every line may take longer than the 30 seconds of the default settings. What a node
 * of an earlier round has learned must not be known to the next one.
 */
const FLAGS = ['--search-budget', '5m', '--search-max-index-disk', '0'];

/** Until a node that has just started is asked for the first time. */
const IDLE_MS = 5000;

/** lnav reads all of the file before it shows anything; beyond this nobody waits. */
const LNAV_MAX_MS = 30_000;

/** grep has no target; more rounds of it would only take time. */
const GREP_ROUNDS = 2;

/** A question that has taken us so long in all is not asked any more: one slow answer must not take minutes. */
const ENOUGH_MS = 20_000;

/**
 * Every response names the time range it covers: for that, each reads up to four blocks more at either end of the log, and
 * they are remembered. What is skipped for a question that was not asked before must be no more than those.
 */
const MAX_END_BYTES = 8 * 1024 ** 2;

const RG_FLAGS = ['--no-config'];

/** Bytes are enough to find ASCII by, and grep is quicker in this locale. */
const GREP_ENV = { LC_ALL: 'C' };

interface Times {
  porthole: number[];
  rg: number[];
  grep: number[];
  /** Its only run. */
  lnav: PeerRun | undefined;
  found: number;
}

/** Questions about a whole log, against programs that are asked about the same file. The file is in the page cache. */
export const searchGroup: Group = {
  name: 'search',
  needs: ['rg', 'grep', ...OPERATOR_PEERS],
  async run(context) {
    const folder = await ensureSearchFolder(context);
    const unread = await ensureUnreadCopies(folder);
    const inputs = await ensureOperatorInputs(context, folder);
    await untilSettled(context, folder.dir);
    return [...(await caseRows(context, folder, unread)), ...(await operatorRows(context, inputs))];
  },
};

/** Each round has a new node, which was never asked anything about the file. */
async function caseRows(context: BenchContext, folder: SearchFolder, unread: readonly string[]): Promise<Row[]> {
  const cases = searchCases(middleMinute(folder));
  const times = await checkSameFound(context, folder, cases);
  for (let round = 0; round < context.effort.rounds; round++) {
    context.log(`  round ${round + 1} of ${context.effort.rounds}`);
    const server = await startWarmNode(context, folder.dir, FLAGS);
    for (const file of unread) await searchNode(server.url, { src: `=${file}`, limit: LIMIT, level: 'error' });
    for (const question of cases) {
      const taken = timesFor(times, question);
      if (taken.porthole.reduce((sum, tookMs) => sum + tookMs, 0) > ENOUGH_MS) continue;
      await measureOnce(context, { folder, server, question, round, times: taken });
    }
    await server.stop();
  }
  const rows = cases.map((question) => searchRow(question, timesFor(times, question), folder));
  const [literal] = cases;
  return literal ? [...rows, await firstQuestionRow(context, folder, literal)] : rows;
}

/** The first request of all to a node that was started 5 s before. */
async function firstQuestionRow(context: BenchContext, folder: SearchFolder, question: SearchCase): Promise<Row> {
  context.log(`  ${question.figure}: the first question after the start`);
  const times: Times = { porthole: [], rg: [], grep: [], lnav: undefined, found: 0 };
  for (let round = 0; round < context.effort.rounds; round++) {
    const server = await startPorthole(context, folder.dir, ['--node-time-zone', 'UTC', ...FLAGS]);
    if (context.effort.waitsForRest) await sleep(IDLE_MS);
    const { tookMs, end } = await runPorthole(server, folder, question);
    times.porthole.push(tookMs);
    times.found = end.records;
    await server.stop();
    times.rg.push((await runRg(context, folder, question)).tookMs);
  }
  const { mostRatio: _, ...untargeted } = question;
  return searchRow({ ...untargeted, figure: `${question.figure}, first question after the start` }, times, folder);
}

/** Asks everybody everything once, which also brings the file into the page cache; lnav's times are from here. */
async function checkSameFound(
  context: BenchContext,
  folder: SearchFolder,
  questions: readonly SearchCase[],
): Promise<Map<SearchCase, Times>> {
  const times = new Map<SearchCase, Times>();
  const server = await startWarmNode(context, folder.dir, FLAGS);
  for (const question of questions) {
    context.log(`  ${question.figure}: what everybody finds`);
    const { tookMs, end } = await runPorthole(server, folder, question);
    const found = end.records;
    const rg = await runRg(context, folder, question);
    const grep = await runGrep(context, folder, question);
    const lnav = question.lnav === undefined ? undefined : await runLnav(context, folder, question.lnav);
    if ([rg, grep, lnav].some((run) => run && !run.gaveUp && run.lines !== found)) {
      const others = `ripgrep ${rg.lines}, grep ${grep.lines}${lnav ? `, lnav ${lnav.lines}` : ''}`;
      throw new Error(`${question.figure}: Porthole finds ${found}, but ${others}`);
    }
    const none: Times = { porthole: [], rg: [], grep: [], lnav, found };
    const once: Times = { ...none, porthole: [tookMs], rg: [rg.tookMs], grep: [grep.tookMs] };
    times.set(question, tookMs > ENOUGH_MS ? once : none);
  }
  await server.stop();
  return times;
}

interface Turn {
  folder: SearchFolder;
  server: PortholeServer;
  question: SearchCase;
  round: number;
  times: Times;
}

/** Everybody in turn, in the other order every other round. */
async function measureOnce(context: BenchContext, { folder, server, question, round, times }: Turn): Promise<void> {
  if (question.again) await runPorthole(server, folder, question);
  const runs = [
    async () => {
      const { tookMs, end } = await runPorthole(server, folder, question);
      // Of files that were just made, more is known.
      if (context.effort.waitsForRest && !question.again && end.skippedBytes > MAX_END_BYTES)
        throw new Error(`${question.figure}: the index was not cold: ${end.skippedBytes} bytes were skipped`);
      times.porthole.push(tookMs);
    },
    async () => times.rg.push((await runRg(context, folder, question)).tookMs),
    async () => {
      if (round < GREP_ROUNDS) times.grep.push((await runGrep(context, folder, question)).tookMs);
    },
  ];
  for (const run of round % 2 === 0 ? runs : runs.reverse()) await run();
}

function runPorthole({ url }: PortholeServer, { file }: SearchFolder, { query }: SearchCase) {
  return searchNode(url, { src: `=${file}`, limit: LIMIT, ...query });
}

function runRg(context: BenchContext, { path }: SearchFolder, { rg }: SearchCase) {
  return runPeer(context, 'rg', [...RG_FLAGS, ...rg, path]);
}

function runGrep(context: BenchContext, { path }: SearchFolder, { grep }: SearchCase) {
  return runPeer(context, 'grep', [...grep, path], { env: GREP_ENV });
}

/** lnav keeps its state in the home directory. */
function runLnav(context: BenchContext, { path }: SearchFolder, command: string) {
  return runPeer(context, 'lnav', ['-n', '-c', command, path], {
    env: { HOME: context.tempDir() },
    maxMs: LNAV_MAX_MS,
  });
}

function timesFor(times: ReadonlyMap<SearchCase, Times>, question: SearchCase): Times {
  const found = times.get(question);
  if (!found) throw new Error(`${question.figure} was not asked`);
  return found;
}

function searchRow(question: SearchCase, { porthole, rg, grep, lnav, found }: Times, { size }: SearchFolder): Row {
  const ratio = fastest(porthole) / fastest(rg);
  const others = [`ripgrep ${showNumber(fastest(rg))}`];
  if (grep.length > 0) others.push(`grep ${showNumber(fastest(grep))}`);
  if (lnav) others.push(`lnav ${lnav.gaveUp ? 'given up after ' : ''}${showNumber(lnav.tookMs)}`);
  return {
    figure: `${size}: ${question.figure} (${found} found), ms`,
    porthole: showNumber(fastest(porthole)),
    against: others.join(', '),
    ratio,
    rounds: `${showAll(porthole)} against ripgrep ${showAll(rg)}${grep.length > 0 ? ` and grep ${showAll(grep)}` : ''}`,
    ...(question.mostRatio !== undefined && { target: atMost(ratio, question.mostRatio) }),
  };
}
