import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { ensureLogFolder } from '../input-files.ts';
import { startPorthole } from '../porthole.ts';
import { compareLoads, median, showNumber } from '../rounds.ts';
import { atLeast, type Row } from '../row.ts';

/** Many readers at once, and one alone, who waits for all that is done. */
const READERS = [16, 1];

const MEBIBYTE = 1024 ** 2;

/** With the forms in which each is looked for, about sixty texts. None of them stands in the log. */
const SECRETS = 10;

/** Signs of the shortest of them: the shorter it is, the less of a text can be passed over. */
const SHORTEST = [16, 12];

/** Of what a node gives without secrets, what one with secrets must. */
const LEAST_RATIO = 0.7;

/** Threads share the blocks of a log as it comes: after some, each has seen nearly all. */
const WARM_UP_SEARCHES = 4;

/** What it costs to mask secrets in log text: the same answers of the same node with and without any to mask. */
export const scrubGroup: Group = {
  name: 'scrub',
  needs: ['wrk'],
  async run(context) {
    const rows: Row[] = [];
    for (const shortest of SHORTEST) rows.push(...(await rowsOf(context, shortest)));
    return rows;
  },
};

async function rowsOf(context: BenchContext, shortest: number): Promise<Row[]> {
  const { dir, file, sizeBytes: size } = await ensureLogFolder(context);
  const configFile = writeConfig(context, shortest);
  const ours = await startPorthole(context, dir, ['--service-config', configFile]);
  const theirs = await startPorthole(context, dir, ['--service-config', configFile, '--logs-scrub=false']);
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
  return rows;
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
  context.tell(`  ${name}`);
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

/** A text that is nowhere: all of the log is looked through, and nothing is shown. The first of all, which look for secrets, count as warm-up. */
async function searchRow(
  context: BenchContext,
  name: string,
  { ours, theirs, file, sizeBytes }: Nodes & { file: string; sizeBytes: number },
): Promise<Row> {
  context.tell(`  ${name}`);
  const rates = new Map<string, number[]>([
    [ours.url, []],
    [theirs.url, []],
  ]);
  const search = async (url: string) => {
    const started = performance.now();
    const response = await fetch(`${url}/api/v1/log/search?file=${file}&q=no+such+text&limit=10&budget=60s`);
    const end = (await response.text()).trim().split('\n').at(-1) ?? '';
    if (!end.includes('"reason":"exhausted"')) throw new Error(`the search did not see all of the log: ${end}`);
    return sizeBytes / MEBIBYTE / ((performance.now() - started) / 1000);
  };
  for (const url of rates.keys()) for (let warmUp = 0; warmUp < WARM_UP_SEARCHES; warmUp++) await search(url);
  for (let round = 0; round < 2 * context.effort.rounds; round++) {
    const [first, second] = round % 2 === 0 ? [ours.url, theirs.url] : [theirs.url, ours.url];
    for (const url of [first, second]) rates.get(url)?.push(await search(url));
  }
  const [our = [], their = []] = rates.values();
  const ratio = median(our) / median(their);
  return {
    figure: `${name}, MiB/s`,
    porthole: showNumber(median(our)),
    against: `none masked ${showNumber(median(their))}`,
    ratio,
    rounds: `${our.map(showNumber).join(', ')} against ${their.map(showNumber).join(', ')}`,
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
