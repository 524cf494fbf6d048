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

/** What it costs to mask secrets in log text: the same answers of the same node with and without any to mask. */
export const scrubGroup: Group = {
  name: 'scrub',
  needs: ['wrk'],
  async run(context) {
    const { dir, file } = await ensureLogFolder(context);
    const configFile = writeConfig(context);
    const ours = await startPorthole(context, dir, ['--service-config', configFile]);
    const theirs = await startPorthole(context, dir, ['--service-config', configFile, '--logs-scrub=false']);
    const rows: Row[] = [];
    for (const sizeBytes of [MEBIBYTE, 16 * MEBIBYTE]) {
      const path = `/api/v1/log/view?file=${file}&size=${sizeBytes}`;
      rows.push(await ratioRow(context, `view ${sizeBytes / MEBIBYTE} MiB`, { path, ours, theirs, least: 0.7 }));
    }
    const path = `/api/v1/log/search?file=${file}&q=does-not-occur`;
    rows.push(await ratioRow(context, 'search for a text that does not occur', { path, ours, theirs, least: 0.9 }));
    return rows;
  },
};

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
    figure: `${name}, ${SECRETS} secrets masked, requests/s`,
    porthole: showNumber(result.ours),
    against: `none masked ${showNumber(result.theirs)}`,
    ratio: result.ratio,
    rounds: result.rounds,
    bar: atLeast(result.ratio, least),
  };
}

/** Generated passwords of 16 to 34 signs, some of which URLs and JSON write differently. */
function writeConfig(context: BenchContext): string {
  const lines = Array.from({ length: SECRETS }, (_, index) => {
    const random = createHash('sha256').update(`secret ${index}`).digest('base64');
    return `[service-${index}]\npassword = "${random.slice(0, 16 + 2 * index)}"\n`;
  });
  const path = join(context.tempDir(), 'service.toml');
  writeFileSync(path, lines.join('\n'));
  context.recordFile('service.toml', lines.join('\n'));
  return path;
}
