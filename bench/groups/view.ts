import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBareServer } from '../bare-server.ts';
import type { BenchContext } from '../context.ts';
import { startGoHandler } from '../go-handler.ts';
import type { Group } from '../group.ts';
import { ensureLogFolder, LISTED_FILES } from '../input-files.ts';
import { startNginx } from '../nginx.ts';
import { startPorthole } from '../porthole.ts';
import { compareLoads, showNumber } from '../rounds.ts';
import { atLeast, type Row } from '../row.ts';
import type { Load } from '../wrk.ts';

const CONNECTIONS = 16;

/** Sizes of the tail with the least share of nginx's rate; the smallest is reported without a bar. */
const VIEWS = [
  { label: '4 KiB', sizeBytes: 4 * 1024 },
  { label: '256 KiB', sizeBytes: 256 * 1024, leastRatio: 0.35 },
  { label: '1 MiB', sizeBytes: 1024 ** 2, leastRatio: 0.5 },
  { label: '16 MiB', sizeBytes: 16 * 1024 ** 2, leastRatio: 0.5 },
];

/** Of the rate of the Go handler, for small responses. */
const LEAST_OF_GO = 1;

/**
 * The three operations of the contract against nginx giving the same bytes, and against a handler in Go, all warm in the
 * page cache.
 */
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
    for (const { label, sizeBytes } of VIEWS.slice(1, 3)) {
      const pair = differentTails(context, { porthole, nginx, file, sizeBytes });
      rows.push(await rateRow(context, `view ${label}, each of another size`, pair));
    }
    const list = { url: `${porthole}/api/v1/log/list` };
    await checkList(list);
    rows.push(await rateRow(context, `list ${LISTED_FILES} files`, { ours: list, theirs: { url: `${nginx}/list/` } }));
    const config = { url: `${porthole}/api/v1/config` };
    rows.push(await rateRow(context, 'config', { ours: config, theirs: { url: `${nginx}/body.json` } }));
    rows.push(...(await bareRows(context, { porthole, file })));
    rows.push(...(await goRows(context, { porthole, dir, file, config: JSON.parse(jsonBody).config })));
    return rows;
  },
};

/** Against finished responses sent by Node's HTTP server alone: the rest is Porthole's own. */
async function bareRows(context: BenchContext, { porthole, file }: { porthole: string; file: string }): Promise<Row[]> {
  const cases = [
    { name: 'view 4 KiB', path: `/api/v1/log/view?file=${file}&size=4096` },
    { name: `list ${LISTED_FILES} files`, path: '/api/v1/log/list' },
    { name: 'config', path: '/api/v1/config' },
  ];
  const paths = cases.map(({ path }) => path);
  const bare = await startBareServer(context, porthole, paths);
  const rows: Row[] = [];
  for (const { name, path } of cases) {
    const pair = { ours: { url: `${porthole}${path}` }, theirs: { url: `${bare}${path}` }, peer: 'bare node:http' };
    rows.push(await rateRow(context, name, pair));
  }
  return rows;
}

/** Against a node of the contract in Go, which does the work of each request anew. */
async function goRows(
  context: BenchContext,
  { porthole, file, ...site }: { porthole: string; dir: string; file: string; config: string },
): Promise<Row[]> {
  const go = await startGoHandler(context, site);
  const cases = [
    ...VIEWS.map(({ label, sizeBytes }) => ({
      name: `view ${label}`,
      path: `/api/v1/log/view?file=${file}&size=${sizeBytes}`,
      leastRatio: sizeBytes === VIEWS[0]?.sizeBytes ? LEAST_OF_GO : undefined,
    })),
    { name: `list ${LISTED_FILES} files`, path: '/api/v1/log/list', leastRatio: LEAST_OF_GO },
    { name: 'config', path: '/api/v1/config', leastRatio: LEAST_OF_GO },
  ];
  const rows: Row[] = [];
  for (const { name, path, leastRatio } of cases) {
    const pair = { ours: { url: `${porthole}${path}` }, theirs: { url: `${go}${path}` }, leastRatio, peer: 'Go' };
    if (go === undefined)
      rows.push({ figure: `${name}, requests/s`, porthole: '', against: 'Go is missing (golang-go)' });
    else {
      await checkSameShape(pair);
      rows.push(await rateRow(context, name, pair));
    }
  }
  return rows;
}

type Target = Omit<Load, 'connections'>;

interface Pair {
  ours: Target;
  theirs: Target;
  leastRatio?: number | undefined;
  /** Who `theirs` is; default nginx. */
  peer?: string;
}

async function rateRow(
  context: BenchContext,
  name: string,
  { ours, theirs, leastRatio, peer = 'nginx' }: Pair,
): Promise<Row> {
  context.log(`  ${name} against ${peer}`);
  const loads = { ours: { ...ours, connections: CONNECTIONS }, theirs: { ...theirs, connections: CONNECTIONS } };
  const result = await compareLoads(context, loads, ({ requestsPerSecond }) => requestsPerSecond);
  return {
    figure: `${name}, requests/s`,
    porthole: showNumber(result.ours),
    against: `${peer} ${showNumber(result.theirs)}`,
    ratio: result.ratio,
    rounds: result.rounds,
    ...(leastRatio !== undefined && { bar: atLeast(result.ratio, leastRatio) }),
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

/** The same text; or the same JSON, but for the values of the node object, which differ from process to process. */
async function checkSameShape({ ours, theirs }: Pair): Promise<void> {
  const [our, their] = [await fetchBytes(ours), await fetchBytes(theirs)];
  if (!our.equals(their) && shape(our) !== shape(their))
    throw new Error(`${ours.url} and ${theirs.url} give different responses`);
}

function shape(body: Buffer): string {
  const { node, ...rest } = JSON.parse(body.toString());
  return JSON.stringify([Object.keys(node).sort(), rest]);
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
