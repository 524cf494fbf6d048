import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, ROOT } from './context.ts';
import type { Row } from './group.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { cpuSeconds } from './process-usage.ts';
import { startProgram } from './program.ts';
import { startQueryNode } from './query-node.ts';
import { showNumber } from './rounds.ts';
import { failedMembers, searchCluster } from './search-cluster.ts';

const NODES = 5;
const PAGE = 10_000;
const BINARY = `${ROOT}packages/cli/bin/porthole.cjs`;
const ZONE = ['--node-time-zone', 'UTC'];

/** Between two records of a node; those of the others lie between them. */
const RECORD_EVERY_MS = 50;
const FIRST_MS = Date.UTC(2026, 0, 6);

/** How often the processor time of a program is read: it cannot be when the program has ended. */
const SAMPLE_MS = 20;

const NEWLINE = 10;

/** Processor time, in seconds. */
interface Cost {
  tookMs: number;
  asked: number;
  others: number;
  program: number;
}

/** All records of five nodes through one of them: page by page over HTTP, and by the program. */
export async function allRecordsRows(context: BenchContext): Promise<Row[]> {
  const { allRecords: records } = context.effort;
  context.log(`  all ${records} records of ${NODES} nodes`);
  const nodes = await startNodes(context, records);
  const [asked] = nodes as [PortholeServer, ...PortholeServer[]];
  const figure = `all ${records} records of ${NODES} nodes`;
  const byPages = await measure(nodes, async () => {
    await readPages(asked, records);
    return 0;
  });
  const rows = [toRow(`${figure} over HTTP, in pages of ${PAGE}: s`, byPages)];
  for (const format of ['raw', 'json'] as const) {
    const cost = await measure(nodes, () => printAll(context, asked, { records, format }));
    rows.push(toRow(`${figure} by porthole logs --all -n all -o ${format}: s`, cost, byPages));
  }
  for (const node of nodes) await node.stop();
  return rows;
}

function toRow(figure: string, { tookMs, asked, others, program }: Cost, pages?: Cost): Row {
  const own = program > 0 ? `, of the program ${showNumber(program)}` : '';
  return {
    figure,
    porthole: showNumber(tookMs / 1000),
    against: `CPU time of the asked node ${showNumber(asked)} s, of the others ${showNumber(others)}${own}`,
    ...(pages && { ratio: tookMs / pages.tookMs }),
  };
}

/** The first one knows the others. */
async function startNodes(context: BenchContext, records: number): Promise<PortholeServer[]> {
  const dirs = Array.from({ length: NODES }, (_, number) => {
    const dir = context.tempDir();
    const own = Math.floor(records / NODES) + (number < records % NODES ? 1 : 0);
    writeFileSync(join(dir, 'broker.log'), logText(number, own));
    return dir;
  });
  const [first = '', ...rest] = dirs;
  const others = await Promise.all(rest.map((dir) => startPorthole(context, dir, ZONE)));
  const members = others.map(({ url }, index) => `other-${index + 1}=${url}`);
  return [await startQueryNode(context, { logDir: first, members, flags: ZONE }), ...others];
}

function logText(node: number, records: number): string {
  const step = RECORD_EVERY_MS / NODES;
  const lines = Array.from({ length: records }, (_, at) => {
    const time = new Date(FIRST_MS + at * RECORD_EVERY_MS + node * step).toISOString();
    const text = `replica channel is behind the leader, sending from sequence ${at}`;
    return `${time.slice(0, -1).replace('T', ' ')}\tINFO\treplica/partition.go:78\t[Replica]: ${text}\t{"shard":${at % 64}}\n`;
  });
  return lines.join('');
}

async function measure(nodes: readonly PortholeServer[], act: () => Promise<number>): Promise<Cost> {
  const before = nodes.map(({ pid }) => cpuSeconds(pid));
  const startedMs = performance.now();
  const program = await act();
  const tookMs = performance.now() - startedMs;
  const [asked = 0, ...others] = nodes.map(({ pid }, index) => cpuSeconds(pid) - (before[index] ?? 0));
  return { tookMs, asked, others: others.reduce((sum, each) => sum + each, 0), program };
}

async function readPages({ url }: PortholeServer, records: number): Promise<void> {
  let found = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { order: 'oldest', limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const { end } = await searchCluster(url, query);
    if (failedMembers(end).length > 0) throw new Error(`these members failed: ${failedMembers(end).join()}`);
    found += end.records;
    cursor = end.cursor;
  }
  if (found !== records) throw new Error(`the pages have ${found} records instead of ${records}`);
}

/** Resolves to the processor time of the program. */
async function printAll(
  context: BenchContext,
  { url }: PortholeServer,
  { records, format }: { records: number; format: string },
): Promise<number> {
  const args = [BINARY, 'logs', '--all', '-n', 'all', '-o', format, '--url', url];
  context.recordCommand(['node', ...args]);
  const { child, exited } = startProgram([process.execPath, ...args], context.cleanup, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines = 0;
  // As bytes: as text they would be collected.
  child.stdout?.removeAllListeners('data').on('data', (text: Buffer | string) => {
    const chunk = Buffer.from(text);
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  });
  let seconds = 0;
  const sample = setInterval(() => {
    if (child.exitCode === null) seconds = Math.max(seconds, readSeconds(child.pid ?? 0));
  }, SAMPLE_MS);
  const code = await exited;
  clearInterval(sample);
  if (code !== 0) throw new Error(`porthole logs ended with ${code ?? 'a signal'}`);
  if (lines < records) throw new Error(`it printed ${lines} lines instead of ${records}`);
  return seconds;
}

/** 0 if it has ended meanwhile. */
function readSeconds(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0;
  }
}
