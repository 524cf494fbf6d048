import { createClient, type NodeClient } from '@porthole/client';
import type { BenchContext } from './context.ts';
import { type Counted, countOutput, countResponse } from './count-lines.ts';
import { startPorthole } from './porthole.ts';
import { type PrintedLog, recordRates } from './print-files.ts';
import { startQueryNode } from './query-node.ts';
import { median, showNumber } from './rounds.ts';
import { atLeast, type Row } from './row.ts';
import { startWarmNode } from './warm-node.ts';

const LEAST_MILLION = 0.5;

/** All of the log in one response, by one scanning thread. */
const FLAGS = ['--search-workers', '1', '--search-max-records', '1000000', '--search-budget', '5m'];
const ZONE_FLAGS = ['--node-time-zone', 'UTC'];
const BUDGET_MS = 300_000;

/** Records as a stream over HTTP: of a node, read by the SDK, merged from members, and as a download. */
export async function streamRows(context: BenchContext, log: PrintedLog): Promise<Row[]> {
  context.log('  streams of all records');
  const measure = (run: () => Promise<Counted>) => recordRates(context, { records: log.records, run });
  const ripgrep = await measure(() => countOutput(context, 'rg', ['--no-config', '--json', '^', log.path]));
  const node = await startWarmNode(context, log.dir, FLAGS);
  const query = `file=${log.file}&order=oldest&limit=${log.records}&budget=${BUDGET_MS}`;
  const search = `${node.url}/api/v1/log/search?${query}`;
  const client = createClient({ url: node.url });
  const rows = [
    streamRow('records sent over HTTP as NDJSON by one thread', {
      ours: await measure(() => countResponse(search, isEnd)),
      ripgrep,
      least: LEAST_MILLION,
    }),
    streamRow('the same read by the SDK, as objects', {
      ours: await measure(() => countSdk(client, log)),
      ripgrep,
    }),
    streamRow('the same read by the SDK, as lines', {
      ours: await measure(() => countSdkLines(client, log)),
      ripgrep,
    }),
  ];
  await node.stop();
  return [...rows, ...(await clusterRows(context, log, ripgrep))];
}

/** One node asks another one, so that every record comes over HTTP twice. */
async function clusterRows(context: BenchContext, log: PrintedLog, ripgrep: readonly number[]): Promise<Row[]> {
  const measure = (run: () => Promise<Counted>) => recordRates(context, { records: log.records, run });
  const member = await startPorthole(context, log.dir, [...ZONE_FLAGS, ...FLAGS]);
  const flags = [...ZONE_FLAGS, ...FLAGS];
  const asked = await startQueryNode(context, { logDir: context.tempDir(), members: [`other=${member.url}`], flags });
  const query = `file=${log.file}&order=oldest&limit=${log.records}&budget=${BUDGET_MS}`;
  const merged = `${asked.url}/api/v1/cluster/log/search?${query}`;
  const passedOn = `${asked.url}/api/v1/cluster/nodes/other/log/search?${query}`;
  const download = `${asked.url}/api/v1/cluster/log/download?file=${log.file}`;
  const rows = [
    streamRow('records of a member, merged into the response of another node', {
      ours: await measure(() => countResponse(merged, isEnd)),
      ripgrep,
    }),
    streamRow('records of a member, passed on by another node', {
      ours: await measure(() => countResponse(passedOn, isEnd)),
      ripgrep,
    }),
    streamRow('records of a member as a download of the console', {
      ours: await measure(() => countResponse(download, (line) => line.includes('complete'))),
      ripgrep,
    }),
  ];
  await asked.stop();
  await member.stop();
  return rows;
}

function isEnd(line: string): boolean {
  const { type, reason } = JSON.parse(line) as { type: string; reason: string };
  return type === 'end' && reason !== 'cancelled' && reason !== 'time budget';
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
  for await (const piece of client.searchLogLines({ file, order: 'oldest', limit: records }, { budgetMs: BUDGET_MS }))
    bytes += piece.length;
  return { tookMs: performance.now() - startedAt, lines: bytes > 0 ? records : 0, gaveUp: false };
}

function streamRow(
  figure: string,
  { ours, ripgrep, least }: { ours: readonly number[]; ripgrep: readonly number[]; least?: number },
): Row {
  const rate = median(ours);
  return {
    figure: `${figure}, million/s`,
    porthole: showNumber(rate),
    against: `ripgrep --json ${showNumber(median(ripgrep))}`,
    ratio: rate / median(ripgrep),
    rounds: `${ours.map(showNumber).join(', ')} against ${ripgrep.map(showNumber).join(', ')}`,
    ...(least !== undefined && { bar: atLeast(rate, least) }),
  };
}
