import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atLeast, type Row } from '../group.ts';
import { ensureLogFolder } from '../input-files.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { compareLoads, median, showNumber } from '../rounds.ts';
import { ensureSearchFolder } from '../search-files.ts';
import { WARM_UP_FILE } from '../warm-node.ts';

/** Many readers at once, and one alone, who waits for all that is done. */
const READERS = [16, 1];

const MEBIBYTE = 1024 ** 2;

/** With the forms in which each is looked for, about sixty texts. None of them stands in the log. */
const SECRETS = 10;

/** Signs of the shortest of them: the shorter it is, the less of a text can be passed over. */
const SHORTEST = [16, 12];

/** The share of the throughput without secrets that a node with secrets must reach. */
const LEAST_RATIO = 0.7;

/** Threads share the blocks of a log as it comes: after some, each has seen nearly all. */
const WARM_UP_SEARCHES = 4;

/** Searches of another log, until threads have compiled their code. */
const COLD_WARM_UP_SEARCHES = 8;

const LIVE_LINE = '2026-01-01 00:00:00.000\tINFO\ta.go:1\tanother line\n';

/** What it costs to mask secrets in log text: the same answers of the same node with and without any to mask. */
export const scrubGroup: Group = {
  name: 'scrub',
  needs: ['wrk'],
  async run(context) {
    const rows: Row[] = [];
    for (const shortest of SHORTEST) rows.push(...(await scrubRows(context, shortest)));
    return rows;
  },
};

async function scrubRows(context: BenchContext, shortest: number): Promise<Row[]> {
  const { dir, file, sizeBytes: size } = await ensureLogFolder(context);
  const configFile = writeConfig(context, shortest);
  const ours = await startNode(context, dir, configFile, 'ours');
  const theirs = await startNode(context, dir, configFile, 'theirs');
  const secrets = `${SECRETS} secrets of ${shortest} signs and more masked`;
  const rows: Row[] = [];
  for (const sizeBytes of [MEBIBYTE, 16 * MEBIBYTE]) {
    const path = `/api/v1/log/view?file=${file}&size=${sizeBytes}`;
    for (const connections of READERS) {
      const readers = connections === 1 ? 'one reader' : `${connections} readers`;
      const name = `view ${sizeBytes / MEBIBYTE} MiB, ${readers}, ${secrets}`;
      rows.push(await ratioRow(context, name, { path, ours, theirs, connections, least: LEAST_RATIO }));
    }
  }
  rows.push(await searchRow(context, `search, ${secrets}`, { ours, theirs, file, sizeBytes: size }));
  await ours.stop();
  await theirs.stop();
  rows.push(await coldSearchRow(context, `first search of a log, ${secrets}`, configFile));
  rows.push(...(await liveRows(context, secrets, configFile)));
  return rows;
}

/** A node that was never asked about the log, but whose threads have compiled their code: each round has new ones. */
async function coldSearchRow(context: BenchContext, name: string, configFile: string): Promise<Row> {
  context.log(`  ${name}`);
  const { dir, file, sizeBytes } = await ensureSearchFolder(context);
  const rates: SearchRates = { ours: [], theirs: [] };
  for (let round = 0; round < context.effort.rounds; round++) {
    for (const side of inTurn(round)) {
      const node = await startNode(context, dir, configFile, side);
      for (let warmUp = 0; warmUp < COLD_WARM_UP_SEARCHES; warmUp++) await search(node.url, WARM_UP_FILE);
      rates[side].push(toRate(sizeBytes, await search(node.url, file)));
      await node.stop();
    }
  }
  return searchRatioRow(name, rates);
}

/** A log that has just been written to, and is appended to before every request: nothing can be known by its stamp. */
async function liveRows(context: BenchContext, secrets: string, configFile: string): Promise<Row[]> {
  const log = await ensureLogFolder(context);
  const dir = context.tempDir();
  const path = join(dir, log.file);
  copyFileSync(join(log.dir, log.file), path);
  const ours = await startNode(context, dir, configFile, 'ours');
  const theirs = await startNode(context, dir, configFile, 'theirs');
  const name = `search of a log that is written to, ${secrets}`;
  const append = () => appendFileSync(path, LIVE_LINE);
  const nodes = { ours, theirs, file: log.file, sizeBytes: log.sizeBytes, append };
  const rows = [await searchRow(context, name, nodes)];
  append();
  for (const sizeBytes of [MEBIBYTE, 16 * MEBIBYTE]) {
    const view = `view ${sizeBytes / MEBIBYTE} MiB of a log that is written to, one reader, ${secrets}`;
    const path = `/api/v1/log/view?file=${log.file}&size=${sizeBytes}`;
    rows.push(await ratioRow(context, view, { path, ours, theirs, connections: 1, least: LEAST_RATIO }));
    append();
  }
  await ours.stop();
  await theirs.stop();
  return rows;
}

function startNode(
  context: BenchContext,
  dir: string,
  configFile: string,
  side: keyof SearchRates,
): Promise<PortholeServer> {
  const flags = ['--service-config', configFile];
  return startPorthole(context, dir, side === 'ours' ? flags : [...flags, '--logs-scrub=false']);
}

/** Which is first: the other one every other round. */
function inTurn(round: number): (keyof SearchRates)[] {
  return round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours'];
}

interface Nodes {
  ours: { url: string };
  theirs: { url: string };
}

interface Measured extends Nodes {
  path: string;
  connections: number;
  least: number;
}

async function ratioRow(
  context: BenchContext,
  name: string,
  { path, ours, theirs, connections, least }: Measured,
): Promise<Row> {
  context.log(`  ${name}`);
  const loads = {
    ours: { url: `${ours.url}${path}`, connections },
    theirs: { url: `${theirs.url}${path}`, connections },
  };
  const result = await compareLoads(context, loads, ({ requestsPerSecond }) => requestsPerSecond);
  return {
    figure: `${name}, requests/s`,
    porthole: showNumber(result.ours),
    against: `none masked ${showNumber(result.theirs)}`,
    ratio: result.ratio,
    rounds: result.rounds,
    bar: atLeast(result.ratio, least),
  };
}

/** MiB/s of a node with secrets, and of one without. */
interface SearchRates {
  ours: number[];
  theirs: number[];
}

interface SearchedNodes extends Nodes {
  file: string;
  sizeBytes: number;
  /** Before every search. */
  append?: () => void;
}

/** All of the log is searched, and nothing is found. The first searches, which look for secrets, count as warm-up. */
async function searchRow(
  context: BenchContext,
  name: string,
  { ours, theirs, file, sizeBytes, append = () => {} }: SearchedNodes,
): Promise<Row> {
  context.log(`  ${name}`);
  const rates: SearchRates = { ours: [], theirs: [] };
  const nodes = { ours, theirs };
  for (const { url } of [ours, theirs]) {
    for (let warmUp = 0; warmUp < WARM_UP_SEARCHES; warmUp++) {
      append();
      await search(url, file);
    }
  }
  for (let round = 0; round < 2 * context.effort.rounds; round++) {
    for (const side of inTurn(round)) {
      append();
      rates[side].push(toRate(sizeBytes, await search(nodes[side].url, file)));
    }
  }
  return searchRatioRow(name, rates);
}

/** For a text that is nowhere. Returns how long it took. */
async function search(url: string, file: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${url}/api/v1/log/search?file=${file}&q=no+such+text&limit=10&budget=60s`);
  const end = (await response.text()).trim().split('\n').at(-1) ?? '';
  if (!end.includes('"reason":"exhausted"')) throw new Error(`the search did not see all of the log: ${end}`);
  return performance.now() - started;
}

function toRate(sizeBytes: number, tookMs: number): number {
  return sizeBytes / MEBIBYTE / (tookMs / 1000);
}

function searchRatioRow(name: string, { ours, theirs }: SearchRates): Row {
  const ratio = median(ours) / median(theirs);
  return {
    figure: `${name}, MiB/s`,
    porthole: showNumber(median(ours)),
    against: `none masked ${showNumber(median(theirs))}`,
    ratio,
    rounds: `${ours.map(showNumber).join(', ')} against ${theirs.map(showNumber).join(', ')}`,
    bar: atLeast(ratio, LEAST_RATIO),
  };
}

/** Generated passwords, each two signs longer than the one before; URLs and JSON write some of them differently. */
function writeConfig(context: BenchContext, shortest: number): string {
  const lines = Array.from({ length: SECRETS }, (_, index) => {
    const random = createHash('sha256').update(`secret ${index}`).digest('base64');
    return `[service-${index}]\npassword = "${random.slice(0, shortest + 2 * index)}"\n`;
  });
  const path = join(context.tempDir(), 'service.toml');
  writeFileSync(path, lines.join('\n'));
  context.recordFile(`service.toml with secrets of ${shortest} signs and more`, lines.join('\n'));
  return path;
}
