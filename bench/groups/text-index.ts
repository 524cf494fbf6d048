import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createZone, LogDir } from '@porthole/logs';
import { ABSENT_TEXT, BROKER_MIX, RARE_TEXT, RARE_TEXT_REGEX } from '../broker-mix.ts';
import { type BenchContext, ROOT } from '../context.ts';
import { atMost, type Bar, below, type Group, type Row } from '../group.ts';
import { ensureFile } from '../input-files.ts';
import type { LineMix } from '../log-lines.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { cpuSeconds } from '../process-usage.ts';
import { median, showNumber } from '../rounds.ts';
import { runPeer } from '../run-peer.ts';
import { ensureBrokerLog, ensureSearchFolder, type SearchFolder, showSize } from '../search-files.ts';
import { TimedBlock } from '../seek-files.ts';
import { type Query, searchNode } from '../send-request.ts';
import { startWarmNode, WARM_UP_FILE } from '../warm-node.ts';

const GIB = 1024 ** 3;

const MOST_RATIO = 0.1;
const MOST_BUILDING_PERCENT = 5;
const MOST_SHARE_PERCENT = 2;
const MOST_COLD_MS = 1000;

/** A file is indexed once it has not changed for a minute. */
const SETTLED_MS = 65_000;

/** A node starts to build 15 seconds after its start, and pauses for some seconds after each part, also the last one. */
const POLL_MS = 1000;
const DONE_MS = 20_000;

/** The share of the text: 4 KiB for each 256 KiB, and a little more. */
const LEAST_SHARE = 4 / 256 - 0.0002;

const MAX_BUILD_MS = 3_600_000;

const COLD_BYTES = 20 * GIB;

const QUESTIONS: readonly { figure: string; query: Query; rg: readonly string[] }[] = [
  { figure: 'literal, rare', query: { q: RARE_TEXT, case: 'sensitive' }, rg: ['-F', RARE_TEXT] },
  { figure: 'literal that occurs nowhere', query: { q: ABSENT_TEXT, case: 'sensitive' }, rg: ['-F', ABSENT_TEXT] },
  {
    figure: 'literal in any case',
    query: { q: RARE_TEXT.toLowerCase() },
    rg: ['-i', '-F', RARE_TEXT.toLowerCase()],
  },
  { figure: 'regex with a rare text', query: { regex: RARE_TEXT_REGEX, case: 'sensitive' }, rg: [RARE_TEXT_REGEX] },
];

/** Queries for other texts, until the code that reads the index has been compiled. */
const WARM_UP_QUERIES: readonly Query[] = Array.from({ length: 16 }, (_, index) =>
  index % 4 === 0
    ? { regex: `no shard ${index} says [0-9]+ of`, case: 'sensitive' }
    : { q: `no shard ${index} says so`, ...(index % 2 === 0 && { case: 'sensitive' }) },
);

/** Searches for texts that were not searched before, in a log that the node has indexed in the background. */
export const textIndexGroup: Group = {
  name: 'text-index',
  needs: ['rg', 'dd'],
  async run(context) {
    const folder = await ensureSearchFolder(context);
    await settle(folder.path);
    const flags = ['--node-time-zone', 'UTC', '--search-max-index-disk', '2%', '--logging-dir'];
    flags.push(join(context.tempDir(), 'log'));
    const rows = await buildRows(context, folder, flags);
    const server = await startWarmNode(context, folder.dir, flags.slice(2));
    for (const query of WARM_UP_QUERIES) await searchNode(server.url, { file: folder.file, limit: 1000, ...query });
    for (const question of QUESTIONS) rows.push(await searchRow(context, { folder, server, question }));
    rows.push(await falsePositiveRow(server, folder));
    await server.stop();
    rows.push(...(await restartRows(context, folder, flags)));
    rows.push(...(await liveRows(context, folder)));
    if (context.effort.logBytes >= GIB) rows.push(...(await coldRows(context)));
    return rows;
  },
};

async function settle(path: string): Promise<void> {
  await sleep(Math.max(0, SETTLED_MS - (Date.now() - statSync(path).ctimeMs)));
}

/** From the start of a node without an index until there is nothing left to build, and some time after that. */
async function buildRows(context: BenchContext, { dir, sizeBytes, size }: SearchFolder, flags: readonly string[]) {
  const server = await startPorthole(context, dir, flags);
  context.log('  the index is built in the background');
  const indexed = indexedBytes(dir);
  const built = await waitForIndex(server, indexed);
  context.log('  and nothing is left to do');
  const { idleSeconds } = context.effort;
  const before = cpuSeconds(server.pid);
  await sleep(idleSeconds * 1000);
  const idlePercent = ((cpuSeconds(server.pid) - before) / idleSeconds) * 100;
  await server.stop();
  const bytes = indexFiles(flags).reduce((sum, path) => sum + statSync(path).size, 0);
  const [perGib, share] = [built.cpuSeconds / (indexed / GIB), (bytes / indexed) * 100];
  return [
    row(`text index of ${size}: CPU time to build it, s/GiB`, perGib, {
      rounds: `${built.tookSeconds.toFixed(0)} s in all`,
    }),
    row('text index: CPU while it is built, % of a core', built.percent, {
      bar: below(built.percent, MOST_BUILDING_PERCENT),
    }),
    row('text index: CPU once it is built, % of a core', idlePercent, { rounds: `${idleSeconds} s` }),
    row('text index: size, % of the text', share, { bar: atMost(share, MOST_SHARE_PERCENT) }),
    row('text index: size, MiB/GiB', (bytes / 1024 ** 2 / indexed) * GIB, { rounds: `log of ${sizeBytes} bytes` }),
  ];
}

interface Built {
  cpuSeconds: number;
  tookSeconds: number;
  /** The share of a core, from the first part to the last one. */
  percent: number;
}

async function waitForIndex({ url, pid }: PortholeServer, textBytes: number): Promise<Built> {
  const startedAt = performance.now();
  let first: { at: number; cpu: number } | undefined;
  let last = { at: startedAt, cpu: 0, bytes: 0 };
  let idle = { at: startedAt, cpu: cpuSeconds(pid) };
  while (performance.now() - startedAt < MAX_BUILD_MS) {
    await sleep(POLL_MS);
    const bytes = await readMetric(url, 'porthole_text_index_built_bytes_total');
    const now = { at: performance.now(), cpu: cpuSeconds(pid) };
    if (bytes > last.bytes) last = { ...now, bytes };
    if (bytes > 0) first ??= idle;
    idle = now;
    if (!first || bytes < textBytes * LEAST_SHARE || now.at - last.at < DONE_MS) continue;
    const tookSeconds = (last.at - first.at) / 1000;
    const used = last.cpu - first.cpu;
    // The last part is followed by a pause, too.
    return { cpuSeconds: used, tookSeconds, percent: ((now.cpu - first.cpu) / ((now.at - first.at) / 1000)) * 100 };
  }
  throw new Error('the text index was not built within an hour');
}

export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

function indexedBytes(dir: string): number {
  return readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
}

function indexFiles(flags: readonly string[]): string[] {
  const dir = join(dirname(flags.at(-1) ?? ''), 'index');
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name));
}

interface Asked {
  folder: SearchFolder;
  server: PortholeServer;
  question: (typeof QUESTIONS)[number];
}

async function searchRow(context: BenchContext, { folder, server, question }: Asked): Promise<Row> {
  const { file, path, size } = folder;
  const times = { porthole: [] as number[], rg: [] as number[] };
  let found = 0;
  for (let round = 0; round < context.effort.rounds; round++) {
    const { tookMs, end } = await searchNode(server.url, { file, limit: 1000, ...question.query });
    if (end.scannedBytes > folder.sizeBytes / 4) throw new Error(`${question.figure}: the index was not used`);
    const rg = await runPeer(context, 'rg', ['--no-config', ...question.rg, path]);
    if (rg.lines !== end.records)
      throw new Error(`${question.figure}: ${end.records} found, but ${rg.lines} by ripgrep`);
    found = end.records;
    times.porthole.push(tookMs);
    times.rg.push(rg.tookMs);
  }
  return compared(`search ${size}, indexed: ${question.figure} (${found} found), ms`, times);
}

/** Blocks that are read although they do not contain the text. Asked again: the ends of the log are known by then. */
async function falsePositiveRow({ url }: PortholeServer, { file, sizeBytes }: SearchFolder): Promise<Row> {
  const shares: number[] = [];
  for (const text of [
    ABSENT_TEXT,
    'no such shard anywhere',
    'lease of nobody lost',
    'zzz-4711-zzz',
    'checksum of the moon',
  ]) {
    await searchNode(url, { file, q: text });
    shares.push(((await searchNode(url, { file, q: text })).end.scannedBytes / sizeBytes) * 100);
  }
  return row('text index: read of a log without the text, % of it (mean of five texts)', mean(shares), {
    rounds: shares.map((share) => share.toFixed(2)).join(', '),
  });
}

/** The first questions after a restart, in two restarts each. */
async function restartRows(context: BenchContext, { dir, file, path, size }: SearchFolder, flags: readonly string[]) {
  const text = { porthole: [] as number[], rg: [] as number[] };
  const level = { porthole: [] as number[], rg: [] as number[] };
  for (let round = 0; round < 3; round++) {
    const server = await startPorthole(context, dir, flags);
    if (round === 0) {
      // What is kept from now on.
      await searchNode(server.url, { file, level: 'error', limit: 1000 });
      await searchNode(server.url, { file, level: 'error', limit: 1000 });
      await server.stop();
      continue;
    }
    text.porthole.push((await searchNode(server.url, { file, q: RARE_TEXT, case: 'sensitive' })).tookMs);
    text.rg.push((await runPeer(context, 'rg', ['--no-config', '-F', RARE_TEXT, path])).tookMs);
    level.porthole.push((await searchNode(server.url, { file, level: 'error', limit: 1000 })).tookMs);
    level.rg.push((await runPeer(context, 'rg', ['--no-config', '\\tERROR\\t', path])).tookMs);
    await server.stop();
  }
  return [
    compared(`search ${size}, first question after a restart: literal, rare, ms`, text, { bar: false }),
    compared(`search ${size}, second question after a restart: level ERROR, ms`, level, { bar: false }),
  ];
}

/** A line is added to a copy of the log every so often, so that it never comes to rest. */
const APPENDED_EVERY_MS = 100;

/** The end of a log that is being written is not indexed: at most this much. */
const MOST_OPEN_BYTES = 130 * 1024 ** 2;

/** The same questions to a node that has only seen the log while it was being written. */
async function liveRows(context: BenchContext, { path, size }: SearchFolder): Promise<Row[]> {
  const [dir, file] = [context.tempDir(), 'live.log'];
  const live = join(dir, file);
  await copyFile(path, live);
  await ensureBrokerLog(context, join(dir, WARM_UP_FILE), 32 * 1024 ** 2);
  let count = 0;
  const line = () => `2026-12-31 23:00:00.${String(count++ % 1000).padStart(3, '0')}\tINFO\ta.go:1\tappended\n`;
  const appending = setInterval(() => appendFileSync(live, line()), APPENDED_EVERY_MS);
  try {
    const flags = ['--search-max-index-disk', '4%', '--logging-dir', join(context.tempDir(), 'log')];
    const server = await startWarmNode(context, dir, flags);
    context.log('  the index is built while the log is written');
    for (const query of WARM_UP_QUERIES) await searchNode(server.url, { file: WARM_UP_FILE, limit: 1000, ...query });
    await waitForLiveIndex(server, statSync(live).size);
    for (const query of WARM_UP_QUERIES) await searchNode(server.url, { file, limit: 1000, ...query });
    const rows: Row[] = [];
    for (const question of QUESTIONS) {
      const folder = { dir, file, path: live, sizeBytes: statSync(live).size, size: `${size} being written` };
      rows.push(await searchRow(context, { folder, server, question }));
    }
    await server.stop();
    return rows;
  } finally {
    clearInterval(appending);
  }
}

async function waitForLiveIndex({ url }: PortholeServer, sizeBytes: number): Promise<void> {
  const startedAt = performance.now();
  const least = Math.max(1, sizeBytes - MOST_OPEN_BYTES) * LEAST_SHARE;
  while ((await readMetric(url, 'porthole_text_index_built_bytes_total')) < least) {
    if (performance.now() - startedAt > MAX_BUILD_MS) throw new Error('the text index was not built within an hour');
    await sleep(POLL_MS);
  }
}

/** A log that is not in the page cache, nor its index. */
async function coldRows(context: BenchContext): Promise<Row[]> {
  const dir = context.dataDir('text-index');
  const [file, size] = ['broker.log', showSize(COLD_BYTES)];
  const path = join(dir, file);
  await ensureColdLog(context, path, COLD_BYTES);
  await settle(path);
  const state = context.tempDir();
  const flags = ['--node-time-zone', 'UTC', '--search-max-index-disk', '2%', '--logging-dir', join(state, 'log')];
  context.log(`  the index of ${size} is built`);
  await buildAtOnce(dir, file, join(state, 'index'));
  const server = await startPorthole(context, dir, flags);
  const rows: Row[] = [];
  for (const { figure, query, rg } of QUESTIONS.slice(0, 2)) {
    const times: number[] = [];
    for (let round = 0; round < context.effort.rounds; round++) {
      for (const each of [path, ...indexFiles(flags)])
        await runPeer(context, 'dd', [`if=${each}`, 'iflag=nocache', 'count=0', 'status=none']);
      const { tookMs, end } = await searchNode(server.url, { file, limit: 100, ...query });
      if (end.scannedBytes > COLD_BYTES / 4) throw new Error(`${figure}: the index was not used`);
      times.push(tookMs);
    }
    await runPeer(context, 'dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
    const peer = await runPeer(context, 'rg', ['--no-config', ...rg, path]);
    rows.push({
      figure: `search ${size}, indexed, nothing in the page cache: ${figure}, 100 records at most, ms`,
      porthole: showNumber(median(times)),
      against: `ripgrep ${showNumber(peer.tookMs)}`,
      ratio: median(times) / peer.tookMs,
      rounds: times.map(showNumber).join(', '),
      bar: below(median(times), MOST_COLD_MS, 'ms'),
    });
  }
  await server.stop();
  return rows;
}

/** As the node would build it in half an hour. */
async function buildAtOnce(dir: string, file: string, indexDir: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'packages/server/package.json'), 'utf8')) as { version: string };
  const options = { dir: indexDir, maxBytes: () => Infinity, version: manifest.version };
  const logs = new LogDir(dir, { zone: createZone('UTC'), indexDir: options });
  await logs.indexText(file);
  await logs.close();
}

function compared(
  figure: string,
  { porthole, rg }: { porthole: readonly number[]; rg: readonly number[] },
  { bar = true } = {},
): Row {
  const ratio = median(porthole) / median(rg);
  return {
    figure,
    porthole: showNumber(median(porthole)),
    against: `ripgrep ${showNumber(median(rg))}`,
    ratio,
    rounds: `${porthole.map(showNumber).join(', ')} against ${rg.map(showNumber).join(', ')}`,
    ...(bar && { bar: atMost(ratio, MOST_RATIO) }),
  };
}

function row(figure: string, value: number, more: { rounds?: string; bar?: Bar } = {}): Row {
  return { figure, porthole: value.toFixed(value < 10 ? 2 : 1), ...more };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Written again and again, with later times: making every line of 20 GiB anew would take minutes. */
const BLOCK_BYTES = 1024 ** 2;

/** One block of so many has a line with the rare text: some 20 of them in a GiB. */
const RARE_EVERY = 50;
const RARE_AT = 17;

const RARE_LINE = 1000;

const PLAIN_MIX: LineMix = { levelFor: BROKER_MIX.levelFor };

const RARE_MIX: LineMix = {
  levelFor: BROKER_MIX.levelFor,
  specialFor: (number) =>
    number === RARE_LINE ? `tsdb/compact.go:310\t[tsdb] [compact]: ${RARE_TEXT} after 7 of 96 files` : undefined,
};

/** A log like that of a broker, too large for the page cache. */
function ensureColdLog(context: BenchContext, path: string, sizeBytes: number): Promise<void> {
  return ensureFile(context, path, sizeBytes, (handle) => writeBlocks(handle, sizeBytes / BLOCK_BYTES));
}

async function writeBlocks(handle: FileHandle, blocks: number): Promise<void> {
  const [plain, rare] = [new TimedBlock(BLOCK_BYTES, PLAIN_MIX), new TimedBlock(BLOCK_BYTES, RARE_MIX)];
  let line = 0;
  for (let number = 0; number < blocks; number++) {
    const block = number % RARE_EVERY === RARE_AT ? rare : plain;
    block.setTimes(line);
    await handle.write(block.bytes);
    line += block.lines;
  }
}
