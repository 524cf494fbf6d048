import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { ensureLogFolder } from '../input-files.ts';
import { startPorthole } from '../porthole.ts';
import { compareLoads, showNumber } from '../rounds.ts';
import { atLeast, type Row } from '../row.ts';

const CONNECTIONS = 16;

const MEBIBYTE = 1024 ** 2;

/** With the forms in which each is looked for, about sixty texts. None of them stands in the log. */
const SECRETS = 10;

/** Signs of the shortest of them: the shorter it is, the less of a text can be passed over. */
const SHORTEST = [16, 12];

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
  const { dir, file } = await ensureLogFolder(context);
  const configFile = writeConfig(context, shortest);
  const ours = await startPorthole(context, dir, ['--service-config', configFile]);
  const theirs = await startPorthole(context, dir, ['--service-config', configFile, '--logs-scrub=false']);
  const secrets = `${SECRETS} secrets of ${shortest} signs and more masked`;
  const rows: Row[] = [];
  for (const sizeBytes of [MEBIBYTE, 16 * MEBIBYTE]) {
    const path = `/api/v1/log/view?file=${file}&size=${sizeBytes}`;
    const name = `view ${sizeBytes / MEBIBYTE} MiB, ${secrets}`;
    rows.push(await ratioRow(context, name, { path, ours, theirs, least: 0.7 }));
  }
  await ours.stop();
  await theirs.stop();
  return rows;
}

interface Measured {
  path: string;
  ours: { url: string };
  theirs: { url: string };
  least: number;
}

async function ratioRow(context: BenchContext, name: string, { path, ours, theirs, least }: Measured): Promise<Row> {
  context.tell(`  ${name}`);
  const loads = {
    ours: { url: `${ours.url}${path}`, connections: CONNECTIONS },
    theirs: { url: `${theirs.url}${path}`, connections: CONNECTIONS },
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
