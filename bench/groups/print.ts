import { join } from 'node:path';
import { type BenchContext, ROOT } from '../context.ts';
import { atLeast, type Group, type Row } from '../group.ts';
import type { PeerName } from '../peers.ts';
import { showCommand, startProgram } from '../program.ts';
import { highest, showAll, showNumber } from '../rounds.ts';
import { ensureBrokerLog, showSize } from '../search-files.ts';
import { startWarmNode, WARM_UP_FILE } from '../warm-node.ts';

/** All records of a log, printed or sent: what it costs to get many of them out. */
export const printGroup: Group = {
  name: 'print',
  needs: ['curl', 'lnav', 'mawk', 'rg', 'wc'],
  async run(context) {
    const log = await ensurePrintedLog(context);
    const { path, records } = log;
    context.log('  printing all records by other programs');
    const awk = await recordRates(context, { records, run: () => countOutput(context, 'mawk', ['{ print }', path]) });
    const rgJson = ['--no-config', '--json', '^', path];
    const ripgrep = await recordRates(context, { records, run: () => countOutput(context, 'rg', rgJson) });
    const peers = { awk, 'ripgrep --json': ripgrep };
    return [
      ...(await programRows(context, log, peers)),
      await lnavRow(context, log),
      await streamRow(context, log, peers),
    ];
  },
};

/** Millions of records per second, round by round. */
type Peers = Readonly<Record<'awk' | 'ripgrep --json', readonly number[]>>;

const BINARY = `${ROOT}packages/cli/bin/porthole.cjs`;

/** Of the rates of awk, which prints lines, and of ripgrep, which writes JSON of each. */
const LEAST_RAW_RATIO = 0.2;
const LEAST_JSON_RATIO = 0.5;
const LEAST_TIMES_LNAV = 3;

/** Far longer than it takes for such a log. */
const LNAV_MAX_MS = 60_000;

interface CommandLine {
  figure: string;
  args: readonly string[];
  peer?: keyof Peers;
  leastRatio?: number;
  /** How often the records of the log are printed. */
  copies?: number;
}

/** The program on a file, from its start to its end, against programs that print the same. */
async function programRows(context: BenchContext, log: PrintedLog, peers: Peers): Promise<Row[]> {
  context.log('  printing all records');
  const { path, otherPath, text } = log;
  const commandLines: readonly CommandLine[] = [
    { figure: 'porthole logs FILE -n all', args: [path], leastRatio: LEAST_RAW_RATIO },
    {
      figure: 'porthole logs FILE -n all -o json',
      args: [path, '-o', 'json'],
      peer: 'ripgrep --json',
      leastRatio: LEAST_JSON_RATIO,
    },
    { figure: 'porthole logs FILE FILE -n all, merged', args: [path, otherPath], copies: 2 },
    { figure: `porthole logs FILE -g ${text} -n all`, args: [path, '-g', text] },
    { figure: 'porthole logs FILE -n all -o csv', args: [path, '-o', 'csv'] },
    { figure: 'porthole logs FILE -n all -o logfmt', args: [path, '-o', 'logfmt'] },
    { figure: 'porthole logs FILE -n all -o pretty', args: [path, '-o', 'pretty'] },
  ];
  const rows: Row[] = [];
  for (const { figure, args, peer = 'awk', leastRatio, copies = 1 } of commandLines) {
    const command = [BINARY, 'logs', '--log-zone', 'UTC', '-n', 'all', ...args];
    const run = () => countOutput(context, 'node', command);
    const ours = await recordRates(context, { records: log.records * copies, run });
    rows.push(rateRow(`${log.size}: ${figure}`, { ours, peer, theirs: peers[peer], leastRatio }));
  }
  return rows;
}

interface Rates {
  ours: readonly number[];
  peer: string;
  theirs: readonly number[];
  leastRatio?: number | undefined;
}

function rateRow(figure: string, { ours, peer, theirs, leastRatio }: Rates): Row {
  const ratio = highest(ours) / highest(theirs);
  return {
    figure: `${figure}, million records/s`,
    porthole: showNumber(highest(ours)),
    against: `${peer} ${showNumber(highest(theirs))}`,
    ratio,
    rounds: `${showAll(ours)} against ${showAll(theirs)}`,
    ...(leastRatio !== undefined && { target: atLeast(ratio, leastRatio) }),
  };
}

/** lnav indexes the file before it prints. */
async function lnavRow(context: BenchContext, { path, records, size }: PrintedLog): Promise<Row> {
  const env = { HOME: context.tempDir() };
  const lnav = await countOutput(context, 'lnav', ['-n', path], { env, maxMs: LNAV_MAX_MS });
  const ours = await countOutput(context, 'node', [BINARY, 'logs', '--log-zone', 'UTC', '-n', 'all', path]);
  const ratio = lnav.tookMs / ours.tookMs;
  return {
    figure: `${size}: porthole logs FILE -n all, ms; ratio: times as fast as lnav -n`,
    porthole: showNumber(ours.tookMs),
    against: `lnav ${lnav.gaveUp ? 'given up after ' : ''}${showNumber(lnav.tookMs)}`,
    ratio,
    target: atLeast(ratio, LEAST_TIMES_LNAV),
    rounds: `one run each, of ${records} records`,
  };
}

/** All of the log in one response, by one scanning thread. */
const FLAGS = ['--search-workers', '1', '--search-max-records', '1000000', '--search-budget', '5m'];
const BUDGET_MS = 300_000;

/** Fails unless the status is 200 and the response is whole; `recordRates` checks the number of lines. */
const CURL = ['--silent', '--show-error', '--fail'];

async function streamRow(context: BenchContext, { dir, file, records, size }: PrintedLog, peers: Peers): Promise<Row> {
  context.log('  a stream of all records');
  const node = await startWarmNode(context, dir, FLAGS);
  const url = `${node.url}/api/v1/log/search?src==${file}&order=oldest&limit=${records}&budget=${BUDGET_MS}`;
  const ours = await recordRates(context, { records, run: () => countOutput(context, 'curl', [...CURL, url]) });
  await node.stop();
  const peer = 'ripgrep --json';
  const figure = `${size}: records sent over HTTP as NDJSON by one thread`;
  return rateRow(figure, { ours, peer, theirs: peers[peer], leastRatio: LEAST_JSON_RATIO });
}

/** Divides the log that is searched: 128 MiB, about the size that one pipes into another program. */
const SHARE = 8;

interface PrintedLog {
  dir: string;
  file: string;
  path: string;
  /** The same in another file. */
  otherPath: string;
  records: number;
  /** In every record. */
  text: string;
  /** e.g. `128 MiB` */
  size: string;
}

async function ensurePrintedLog(context: BenchContext): Promise<PrintedLog> {
  const sizeBytes = context.effort.logBytes / SHARE;
  const size = showSize(sizeBytes);
  const dir = context.dataDir('print');
  const file = `broker-${size.replace(' ', '-').toLowerCase()}.log`;
  const path = join(dir, file);
  const otherPath = join(context.dataDir('print-other'), file);
  await ensureBrokerLog(context, path, sizeBytes);
  await ensureBrokerLog(context, otherPath, sizeBytes);
  await ensureBrokerLog(context, join(dir, WARM_UP_FILE), WARM_UP_BYTES);
  // The last line only fills the file up: it belongs to the record before it.
  const { lines } = await countOutput(context, 'mawk', ['/^20/', path]);
  return { dir, file, path, otherPath, records: lines, text: '2026-', size };
}

/** Enough for the threads to compile what they run. */
const WARM_UP_BYTES = 16 * 1024 ** 2;

/** Rounds are enough once they have taken so long. */
const ENOUGH_MS = 10_000;

interface RateOptions {
  records: number;
  run(): Promise<Counted>;
}

/** Millions of records per second, round by round. */
async function recordRates({ effort }: BenchContext, { records, run }: RateOptions): Promise<number[]> {
  const rates: number[] = [];
  let leftMs = ENOUGH_MS;
  while (rates.length < effort.rounds && leftMs > 0) {
    const { tookMs, lines } = await run();
    if (lines < records) throw new Error(`only ${lines} of ${records} records arrived`);
    rates.push(records / tookMs / 1000);
    leftMs -= tookMs;
  }
  return rates;
}

/** What was written or sent, without keeping it. */
interface Counted {
  /** From the start until the last byte has been read. */
  tookMs: number;
  lines: number;
  /** It took longer than it may and was ended. */
  gaveUp: boolean;
}

/** Runs a program that writes to a pipe, which `wc` reads: it takes no time that the program needs. */
async function countOutput(
  context: BenchContext,
  name: PeerName | 'node',
  args: readonly string[],
  { env = {}, maxMs = 2 ** 31 - 1 }: { env?: NodeJS.ProcessEnv; maxMs?: number } = {},
): Promise<Counted> {
  context.recordCommand([name, ...args]);
  const counter = startProgram(['wc', '-l'], context.cleanup, { stdio: ['pipe', 'pipe', 'inherit'] });
  const startedAt = performance.now();
  const path = name === 'node' ? process.execPath : context.peer(name);
  const { child, exited } = startProgram([path, ...args], context.cleanup, {
    cwd: ROOT,
    stdio: ['ignore', counter.child.stdin, 'inherit'],
    env: { ...process.env, ...env },
  });
  // Only the program holds it open now.
  counter.child.stdin?.destroy();
  let gaveUp = false;
  const timer = setTimeout(() => {
    gaveUp = true;
    child.kill('SIGKILL');
  }, maxMs);
  const code = await exited;
  clearTimeout(timer);
  if (!gaveUp && code !== 0) throw new Error(`${showCommand([name, ...args])} ended with ${code ?? 'a signal'}`);
  await counter.exited;
  return { tookMs: performance.now() - startedAt, lines: Number(counter.output), gaveUp };
}
