import { dirname, join } from 'node:path';
import { createClient, type NodeClient } from '@porthole/client';
import { LogDir } from '@porthole/logs';
import { type BenchContext, ROOT } from '../context.ts';
import { atLeast, type Group, type Row } from '../group.ts';
import type { PeerName } from '../peers.ts';
import { startPorthole } from '../porthole.ts';
import { busiestSince, threadSeconds } from '../process-usage.ts';
import { showCommand, startProgram } from '../program.ts';
import { startQueryNode } from '../query-node.ts';
import { median, showNumber } from '../rounds.ts';
import { ensureBrokerLog, showSize } from '../search-files.ts';
import { startWarmNode, WARM_UP_FILE } from '../warm-node.ts';

/** All records of a log, printed or sent: what it costs to get many of them out. */
export const printGroup: Group = {
  name: 'print',
  needs: ['curl', 'lnav', 'mawk', 'rg'],
  async run(context) {
    const log = await ensurePrintedLog(context);
    return [
      ...(await engineRows(context, log)),
      ...(await programRows(context, log)),
      ...(await streamRows(context, log)),
    ];
  },
};

const LEAST_TEXT = 1;
const LEAST_JSON = 0.5;

/** By the processor time of all threads: how many records one core renders. */
interface Case {
  figure: string;
  least?: number;
  run(logs: LogDir, query: Query): Promise<number>;
}

interface Query {
  file: string;
  order: 'oldest';
  limit: number;
  before: 0;
  after: 0;
}

const CASES: readonly Case[] = [
  { figure: 'text of all records', least: LEAST_TEXT, run: countText },
  { figure: 'all records as JSON', least: LEAST_JSON, run: (logs, query) => countLines(logs, query) },
  { figure: 'all records as JSON with all fields', run: (logs, query) => countLines(logs, query, ['*']) },
];

/** All records of a log as the engine returns them in this process, without anybody who prints or sends them. */
async function engineRows(context: BenchContext, log: PrintedLog): Promise<Row[]> {
  context.log('  records of the engine');
  const query: Query = { file: log.file, order: 'oldest', limit: log.records, before: 0, after: 0 };
  const rows: Row[] = [];
  for (const { figure, least, run } of CASES) {
    const logs = new LogDir(log.dir, { workers: 1 });
    try {
      // The threads compile what they run.
      await run(logs, query);
      const rates: number[] = [];
      for (let round = 0; round < context.effort.rounds; round++) {
        const before = process.cpuUsage();
        const found = await run(logs, query);
        const { user, system } = process.cpuUsage(before);
        if (found !== log.records) throw new Error(`${figure}: ${found} of ${log.records}`);
        rates.push(found / (user + system));
      }
      rows.push({
        figure: `${figure} of ${log.size}, in process, million per second of CPU time`,
        porthole: showNumber(median(rates)),
        rounds: rates.map(showNumber).join(', '),
        ...(least !== undefined && { bar: atLeast(median(rates), least) }),
      });
    } finally {
      await logs.close();
    }
  }
  return rows;
}

async function countText(logs: LogDir, query: Query): Promise<number> {
  let records = 0;
  for await (const item of logs.search(query, { reusesMemory: true, asText: true }))
    if (item.type === 'batch') records += item.ends.length;
  return records;
}

async function countLines(logs: LogDir, query: Query, fields?: readonly string[]): Promise<number> {
  for await (const item of logs.search({ ...query, ...(fields && { fields }) }, { reusesMemory: true }))
    if (item.type === 'end') return item.records;
  throw new Error('the search has no end');
}

const BINARY = `${ROOT}packages/cli/bin/porthole.cjs`;

const LEAST_RAW_MILLION = 1;
const LEAST_JSON_MILLION = 0.4;
const LEAST_TIMES_LNAV = 5;

/** Far longer than it takes for such a log. */
const LNAV_MAX_MS = 120_000;

interface CommandLine {
  figure: string;
  args: readonly string[];
  leastMillion?: number;
  /** How often the records of the log are printed. */
  copies?: number;
}

/** The program on a file, from its start to its end, against programs that print the same. */
async function programRows(context: BenchContext, log: PrintedLog): Promise<Row[]> {
  context.log('  printing all records');
  const { path, otherPath, text } = log;
  const commandLines: readonly CommandLine[] = [
    { figure: 'porthole logs FILE -n all', args: [path], leastMillion: LEAST_RAW_MILLION },
    { figure: 'porthole logs FILE -n all -o json', args: [path, '-o', 'json'], leastMillion: LEAST_JSON_MILLION },
    { figure: 'porthole logs FILE FILE -n all, merged', args: [path, otherPath], copies: 2 },
    { figure: 'porthole logs FILE FILE -n all -o json, merged', args: [path, otherPath, '-o', 'json'], copies: 2 },
    { figure: `porthole logs FILE -g ${text} -n all`, args: [path, '-g', text] },
    { figure: 'porthole logs FILE -n all -o csv', args: [path, '-o', 'csv'] },
    { figure: 'porthole logs FILE -n all -o logfmt', args: [path, '-o', 'logfmt'] },
    { figure: 'porthole logs FILE -n all -o pretty', args: [path, '-o', 'pretty'] },
  ];
  const print = () => countOutput(context, 'mawk', ['{ print }', path]);
  const awk = await recordRates(context, { records: log.records, run: print });
  const rows: Row[] = [];
  for (const line of commandLines) rows.push(await commandRow(context, log, { line, awk }));
  return [...rows, await lnavRow(context, log)];
}

async function commandRow(
  context: BenchContext,
  { records, size }: PrintedLog,
  { line: { figure, args, leastMillion, copies = 1 }, awk }: { line: CommandLine; awk: readonly number[] },
): Promise<Row> {
  const command = [BINARY, 'logs', '--log-zone', 'UTC', '-n', 'all', ...args];
  const run = () => countOutput(context, 'node', command);
  const ours = await recordRates(context, { records: records * copies, run });
  const rate = median(ours);
  return {
    figure: `${size}: ${figure}, million records/s`,
    porthole: showNumber(rate),
    against: `awk ${showNumber(median(awk))}`,
    ratio: rate / median(awk),
    rounds: `${ours.map(showNumber).join(', ')} against ${awk.map(showNumber).join(', ')}`,
    ...(leastMillion !== undefined && { bar: atLeast(rate, leastMillion) }),
  };
}

/** lnav indexes the file before it prints. */
async function lnavRow(context: BenchContext, { path, records, size }: PrintedLog): Promise<Row> {
  const env = { HOME: context.tempDir() };
  const lnav = await countOutput(context, 'lnav', ['-n', path], { env, maxMs: LNAV_MAX_MS });
  const ours = await countOutput(context, 'node', [BINARY, 'logs', '--log-zone', 'UTC', '-n', 'all', path]);
  const ratio = lnav.tookMs / ours.tookMs;
  return {
    figure: `${size}: porthole logs FILE -n all, times as fast as lnav -n`,
    porthole: showNumber(ratio),
    against: `${showNumber(ours.tookMs)} ms, lnav ${lnav.gaveUp ? 'given up after ' : ''}${showNumber(lnav.tookMs)} ms`,
    bar: atLeast(ratio, LEAST_TIMES_LNAV),
    rounds: `one run each, of ${records} records`,
  };
}

const LEAST_MILLION = 0.5;

/** All of the log in one response, by one scanning thread. */
const FLAGS = ['--search-workers', '1', '--search-max-records', '1000000', '--search-budget', '5m'];
const ZONE_FLAGS = ['--node-time-zone', 'UTC'];
const BUDGET_MS = 300_000;

/** Fails unless the status is 200 and the response is whole; `recordRates` checks the number of lines. */
const CURL = ['--silent', '--show-error', '--fail'];

/** Records as a stream over HTTP: of a node, read by the SDK, merged from members, and as a download. */
async function streamRows(context: BenchContext, log: PrintedLog): Promise<Row[]> {
  context.log('  streams of all records');
  const { records } = log;
  const countResponse = (url: string) => countOutput(context, 'curl', [...CURL, url]);
  const runRipgrep = () => countOutput(context, 'rg', ['--no-config', '--json', '^', log.path]);
  const ripgrep = await recordRates(context, { records, run: runRipgrep });
  const node = await startWarmNode(context, log.dir, FLAGS);
  const query = `file=${log.file}&order=oldest&limit=${log.records}&budget=${BUDGET_MS}`;
  const search = `${node.url}/api/v1/log/search?${query}`;
  const client = createClient({ url: node.url });
  const measure = (run: () => Promise<Counted>, pid: number) => streamRates(context, { records, run }, pid);
  const rows = [
    ...streamRowPair('records sent over HTTP as NDJSON by one thread', {
      ours: await measure(() => countResponse(search), node.pid),
      ripgrep,
      thread: 'the busiest thread of the node',
    }),
    ...streamRowPair('the same read by the SDK, as objects', {
      ours: await measure(() => countSdk(client, log), process.pid),
      ripgrep,
      thread: 'the thread of the reader',
    }),
    ...streamRowPair('the same read by the SDK, as lines', {
      ours: await measure(() => countSdkLines(client, log), process.pid),
      ripgrep,
      thread: 'the thread of the reader',
    }),
  ];
  await node.stop();
  return [...rows, ...(await clusterRows(context, log, ripgrep))];
}

/** One node asks another one, so that every record comes over HTTP twice. */
async function clusterRows(context: BenchContext, log: PrintedLog, ripgrep: readonly number[]): Promise<Row[]> {
  const countResponse = (url: string) => countOutput(context, 'curl', [...CURL, url]);
  // There is no other log in its directory, which a download or a bundle would contain, too.
  const member = await startPorthole(context, dirname(log.otherPath), [...ZONE_FLAGS, ...FLAGS]);
  const flags = [...ZONE_FLAGS, ...FLAGS];
  const asked = await startQueryNode(context, { logDir: context.tempDir(), members: [`other=${member.url}`], flags });
  const query = `file=${log.file}&order=oldest&limit=${log.records}&budget=${BUDGET_MS}`;
  const merged = `${asked.url}/api/v1/cluster/log/search?${query}`;
  const passedOn = `${asked.url}/api/v1/cluster/nodes/other/log/search?${query}`;
  const download = `${asked.url}/api/v1/cluster/log/download`;
  const bundle = `${asked.url}/api/v1/bundle?since=${FIRST_MS}&until=${FIRST_MS + BUNDLED_RECORDS * STEP_MS}`;
  const thread = 'the busiest thread of that node';
  const measure = (run: () => Promise<Counted>, records = log.records) =>
    streamRates(context, { records, run }, asked.pid);
  const rows = [
    ...streamRowPair('records of a member, merged into the response of another node', {
      ours: await measure(() => countResponse(merged)),
      ripgrep,
      thread,
    }),
    ...streamRowPair('records of a member, passed on by another node', {
      ours: await measure(() => countResponse(passedOn)),
      ripgrep,
      thread,
    }),
    ...streamRowPair('records of a member as a download of the console', {
      ours: await measure(() => countResponse(download)),
      ripgrep,
      thread,
    }),
    ...streamRowPair('records of a member in a support bundle, merged and as files', {
      ours: await measure(() => countBundle(bundle), BUNDLED_RECORDS),
      ripgrep,
      thread,
    }),
  ];
  await asked.stop();
  await member.stop();
  return rows;
}

/** The log has a record every few milliseconds. */
const FIRST_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 7;

/** As many as the log has with `--quick`, at least. */
const BUNDLED_RECORDS = 50_000;

/** Far less than their text, compressed. */
const LEAST_BUNDLE_BYTES = 500_000;

async function countBundle(url: string): Promise<Counted> {
  const startedAt = performance.now();
  const response = await fetch(url);
  const bytes = (await response.arrayBuffer()).byteLength;
  if (!response.ok || bytes < LEAST_BUNDLE_BYTES)
    throw new Error(`${url} answers ${response.status} with ${bytes} bytes`);
  return { tookMs: performance.now() - startedAt, lines: BUNDLED_RECORDS, gaveUp: false };
}

async function countSdk(client: NodeClient, { file, records }: PrintedLog): Promise<Counted> {
  const startedAt = performance.now();
  let lines = 0;
  for await (const items of client.searchLogs({ file, order: 'oldest', limit: records }, { budgetMs: BUDGET_MS }))
    lines += items.length;
  return { tookMs: performance.now() - startedAt, lines, gaveUp: false };
}

async function countSdkLines(client: NodeClient, { file, records }: PrintedLog): Promise<Counted> {
  const startedAt = performance.now();
  let bytes = 0;
  for await (const piece of client.search({ file, order: 'oldest', limit: records }, { budgetMs: BUDGET_MS }))
    if (piece.type === 'batch') bytes += piece.bytes.length;
  return { tookMs: performance.now() - startedAt, lines: bytes > 0 ? records : 0, gaveUp: false };
}

/** By the clock, which counts all processes that share the cores, and by what one thread does in a second. */
function streamRowPair(
  figure: string,
  { ours, ripgrep, thread }: { ours: StreamRates; ripgrep: readonly number[]; thread: string },
): Row[] {
  const rate = median(ours.all);
  const perThread = median(ours.perThread);
  return [
    {
      figure: `${figure}, million/s`,
      porthole: showNumber(rate),
      against: `ripgrep --json ${showNumber(median(ripgrep))}`,
      ratio: rate / median(ripgrep),
      rounds: `${ours.all.map(showNumber).join(', ')} against ${ripgrep.map(showNumber).join(', ')}`,
      bar: atLeast(rate, LEAST_MILLION),
    },
    {
      figure: `${figure}, million per second of CPU time of ${thread}`,
      porthole: showNumber(perThread),
      rounds: ours.perThread.map(showNumber).join(', '),
      bar: atLeast(perThread, LEAST_MILLION),
    },
  ];
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
const ENOUGH_MS = 20_000;

interface RateOptions {
  records: number;
  run(): Promise<Counted>;
}

/** Millions of records per second, round by round: by the clock, and by the processor time of one thread. */
interface StreamRates {
  all: number[];
  perThread: number[];
}

/** The same, and of the busiest thread of a process. */
async function streamRates(context: BenchContext, options: RateOptions, pid: number): Promise<StreamRates> {
  const perThread: number[] = [];
  const run = async () => {
    const before = threadSeconds(pid);
    const counted = await options.run();
    perThread.push(options.records / busiestSince(pid, before) / 1e6);
    return counted;
  };
  return { all: await recordRates(context, { ...options, run }), perThread };
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
