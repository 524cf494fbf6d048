import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atLeast, type Row } from '../group.ts';
import { ensureLogFolder, LISTED_FILES } from '../input-files.ts';
import { startNginx } from '../nginx.ts';
import { startPorthole } from '../porthole.ts';
import { compareLoads, showNumber } from '../rounds.ts';
import type { Load } from '../wrk.ts';

const CONNECTIONS = 16;
const MIB = 1024 ** 2;

/** Sizes of the tail with the least share of nginx's rate; the smallest is reported without a target. */
const VIEWS = [
  { label: '4 KiB', sizeBytes: 4 * 1024 },
  { label: '256 KiB', sizeBytes: 256 * 1024, leastRatio: 0.2 },
  { label: '1 MiB', sizeBytes: MIB, leastRatio: 0.35 },
  { label: '16 MiB', sizeBytes: 16 * MIB, leastRatio: 0.5 },
];

/** The three operations of the contract against nginx serving the same bytes, all warm in the page cache. */
export const viewGroup: Group = {
  name: 'view',
  needs: ['nginx', 'wrk'],
  async run(context) {
    const { dir, file } = await ensureLogFolder(context);
    const { url: porthole } = await startPorthole(context, dir);
    const jsonBody = (await fetchBytes({ url: `${porthole}/api/v1/config` })).toString();
    const nginx = await startNginx(context, { dir, jsonBody });

    const rows: Row[] = [];
    for (const { label, sizeBytes, leastRatio } of VIEWS) {
      const ours = { url: `${porthole}/api/v1/log/view?file=${file}&size=${sizeBytes}` };
      const theirs = await sameTail(ours, `${nginx}/files/${file}`);
      rows.push(await rateRow(context, `view ${label}`, { ours, theirs, leastRatio }));
    }
    const pair = differentTails(context, { porthole, nginx, file, sizeBytes: MIB });
    rows.push(await rateRow(context, 'view 1 MiB, each of another size', pair));
    const list = { url: `${porthole}/api/v1/log/list` };
    await checkList(list);
    rows.push(await rateRow(context, `list ${LISTED_FILES} files`, { ours: list, theirs: { url: `${nginx}/list/` } }));
    const config = { url: `${porthole}/api/v1/config` };
    rows.push(await rateRow(context, 'config', { ours: config, theirs: { url: `${nginx}/body.json` } }));
    return rows;
  },
};

type Target = Omit<Load, 'connections'>;

interface Pair {
  ours: Target;
  theirs: Target;
  leastRatio?: number | undefined;
}

async function rateRow(context: BenchContext, name: string, { ours, theirs, leastRatio }: Pair): Promise<Row> {
  context.log(`  ${name}`);
  const loads = { ours: { ...ours, connections: CONNECTIONS }, theirs: { ...theirs, connections: CONNECTIONS } };
  const result = await compareLoads(context, loads);
  return {
    figure: `${name}, requests/s`,
    porthole: showNumber(result.ours),
    against: `nginx ${showNumber(result.theirs)}`,
    ratio: result.ratio,
    rounds: result.rounds,
    ...(leastRatio !== undefined && { target: atLeast(result.ratio, leastRatio) }),
  };
}

/**
 * Tails that differ by a few bytes from request to request. Porthole reads once for all who want the same bytes at the
 * same time, which is what sixteen connections asking for one URL measure; here each wants its own.
 */
function differentTails(
  context: BenchContext,
  { porthole, nginx, file, sizeBytes }: { porthole: string; nginx: string; file: string; sizeBytes: number },
): Pair {
  const dir = context.tempDir();
  const script = (name: string, request: string): string => {
    const path = join(dir, `${name}.lua`);
    const text = `local n = 0\nrequest = function()\n  n = n + 1\n  local size = ${sizeBytes} - n % 4096\n  return ${request}\nend\n`;
    writeFileSync(path, text);
    context.recordFile(`${name}.lua`, text);
    return path;
  };
  const path = `/api/v1/log/view?file=${file}&size=`;
  const ours = script(`view-${sizeBytes}`, `wrk.format("GET", "${path}" .. size)`);
  const theirs = script(`range-${sizeBytes}`, `wrk.format("GET", "/files/${file}", { ["Range"] = "bytes=-" .. size })`);
  return { ours: { url: porthole, script: ours }, theirs: { url: nginx, script: theirs } };
}

/** The range that makes nginx give what `view` gives: its tail starts with a whole line and so is a little shorter than asked. */
async function sameTail(ours: Target, url: string): Promise<Target> {
  const expected = await fetchBytes(ours);
  const theirs = { url, header: `Range: bytes=-${expected.length}` };
  if (!expected.equals(await fetchBytes(theirs))) throw new Error(`${ours.url} and ${url} give different bytes`);
  return theirs;
}

async function checkList(list: Target): Promise<void> {
  const entries: unknown = JSON.parse((await fetchBytes(list)).toString());
  if (!Array.isArray(entries) || entries.length !== LISTED_FILES) {
    throw new Error(`the log folder of the bench does not hold ${LISTED_FILES} files: remove .bench and run again`);
  }
}

async function fetchBytes({ url, header }: Target): Promise<Buffer> {
  const [name, value = ''] = header?.split(': ') ?? [];
  const response = await fetch(url, { headers: name === undefined ? {} : { [name]: value } });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${bytes.subarray(0, 500)}`);
  return bytes;
}
