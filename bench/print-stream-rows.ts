import { dirname } from 'node:path';
import { createClient, type NodeClient } from '@porthole/client';
import type { BenchContext } from './context.ts';
import { type Counted, countOutput } from './count-lines.ts';
import { startPorthole } from './porthole.ts';
import { type PrintedLog, recordRates, type StreamRates, streamRates } from './print-files.ts';
import { startQueryNode } from './query-node.ts';
import { median, showNumber } from './rounds.ts';
import { atLeast, type Row } from './row.ts';
import { startWarmNode } from './warm-node.ts';

const LEAST_MILLION = 0.5;

/** All of the log in one response, by one scanning thread. */
const FLAGS = ['--search-workers', '1', '--search-max-records', '1000000', '--search-budget', '5m'];
const ZONE_FLAGS = ['--node-time-zone', 'UTC'];
const BUDGET_MS = 300_000;

/** Fails unless the status is 200 and the response is whole; `recordRates` checks the number of lines. */
const CURL = ['--silent', '--show-error', '--fail'];

/** Records as a stream over HTTP: of a node, read by the SDK, merged from members, and as a download. */
export async function streamRows(context: BenchContext, log: PrintedLog): Promise<Row[]> {
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
  for await (const item of client.search({ file, order: 'oldest', limit: records }, { budgetMs: BUDGET_MS }))
    if (item.type === 'batch') bytes += item.bytes.length;
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
