import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { ABSENT_TEXT, BROKER_MIX } from '../broker-mix.ts';
import type { BenchContext } from '../context.ts';
import { createFollowedFile, runFollow } from '../follow-run.ts';
import type { Group } from '../group.ts';
import { atMost, below, type Row } from '../group.ts';
import { ensureFile } from '../input-files.ts';
import { logLines } from '../log-lines.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { residentBytes, watchResident } from '../process-usage.ts';
import { median, showNumber } from '../rounds.ts';
import { ensureBrokerLog, ensureSearchFolder, type SearchFolder, showSize } from '../search-files.ts';
import { fetchHistogram, fetchTop, searchNode } from '../send-request.ts';
import { startWarmNode } from '../warm-node.ts';
import { recordLoad, runWrk } from '../wrk.ts';

const VIEW_BYTES = 256 * 1024;
const SEARCHES = 2;
const MOST_RATIO = 2;

/** What searching does to the rest of the node: how prompt `view` stays, and how much memory is taken. */
export const besideGroup: Group = {
  name: 'beside',
  needs: ['wrk'],
  async run(context) {
    const folder = await ensureSearchFolder(context);
    return [await viewRow(context, folder), ...(await memoryRows(context, folder))];
  },
};

/** Rounds without and with searches in turn, on one node. */
async function viewRow(context: BenchContext, { dir, file, size }: SearchFolder): Promise<Row> {
  context.log('  view beside searches');
  const { rounds, roundSeconds, warmUpSeconds } = context.effort;
  const server = await startWarmNode(context, dir);
  const load = { url: `${server.url}/api/v1/log/view?file=${file}&size=${VIEW_BYTES}`, connections: 1 };
  recordLoad(context, load);
  await runWrk(context, load, warmUpSeconds);
  const p99Us = { idle: [] as number[], busy: [] as number[] };
  let searched = 0;
  for (let round = 0; round < rounds; round++) {
    p99Us.idle.push((await runWrk(context, load, roundSeconds)).p99Us);
    const searches = keepSearching(context, () => searchNode(server.url, { file, q: ABSENT_TEXT, case: 'sensitive' }));
    p99Us.busy.push((await runWrk(context, load, roundSeconds)).p99Us);
    searched += await searches.stop();
  }
  await server.stop();
  const [idle, busy] = [median(p99Us.idle), median(p99Us.busy)];
  const show = (values: readonly number[]) => values.map(showNumber).join(', ');
  return {
    figure: `view 256 KiB during ${SEARCHES} searches of ${size} at a time, p99 in us`,
    porthole: showNumber(busy),
    against: `without searches ${showNumber(idle)}`,
    ratio: busy / idle,
    bar: atMost(busy / idle, MOST_RATIO),
    rounds: `${show(p99Us.busy)} against ${show(p99Us.idle)}; ${searched} searches meanwhile`,
  };
}

/** Searches one after the other, several at a time, until stopped; then gives how many there were. */
function keepSearching(context: BenchContext, search: () => Promise<unknown>): { stop(): Promise<number> } {
  let isStopped = false;
  let count = 0;
  context.cleanup.add(() => {
    isStopped = true;
  });
  const loops = Array.from({ length: SEARCHES }, async () => {
    for (; !isStopped; count++) await search();
  });
  const ended = Promise.all(loops);
  ended.catch(() => {}); // reported to whoever stops them
  return {
    async stop() {
      isStopped = true;
      await ended;
      return count;
    },
  };
}

const MIB = 1024 ** 2;
const LIMIT_MIB = 64;

/** Searches take some 100 ms. */
const SAMPLE_MS = 10;

/** What the start leaves behind is gone by then, and searches are prepared: their first thread is part of an idle node. */
const SETTLE_MS = 5000;

/** Each question is asked so often: what the first leaves behind is there when the next is answered. */
const TIMES = 3;

const FOLLOWERS = 50;
const FOLLOWED_LINES = 1000;
const MOST_RECORDS = 10_000;

interface MemoryCase {
  figure: string;
  dir: string;
  run(server: PortholeServer): Promise<unknown>;
}

/** How much memory of a new node that was not asked anything yet grows with each kind of question; the threads are part of it. */
async function memoryRows(context: BenchContext, folder: SearchFolder): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { figure, dir, run } of await memoryCases(context, folder)) {
    context.log(`  memory: ${figure}`);
    const server = await startPorthole(context, dir);
    await sleep(SETTLE_MS);
    const before = residentBytes(server.pid);
    const resident = watchResident(server.pid, SAMPLE_MS);
    context.cleanup.add(() => void resident.stop());
    await run(server);
    const peak = resident.stop();
    await server.stop();
    const grownMib = (peak - before) / MIB;
    rows.push({
      figure: `${figure}: growth of resident memory, MiB`,
      porthole: showNumber(grownMib),
      against: `before ${showNumber(before / MIB)}, peak ${showNumber(peak / MIB)}`,
      bar: below(grownMib, LIMIT_MIB),
    });
  }
  return rows;
}

async function memoryCases(context: BenchContext, { dir, file, size }: SearchFolder): Promise<MemoryCase[]> {
  const hard = await ensureMemoryFolder(context);
  const traced = await ensureTracedLog(context);
  const followed = context.tempDir();
  createFollowedFile(followed);
  const absent = { q: ABSENT_TEXT };
  const severalTimes = (ask: (url: string) => Promise<unknown>) => async (server: PortholeServer) => {
    for (let times = 0; times < TIMES; times++) await ask(server.url);
  };
  return [
    { figure: `search ${size}, literal`, dir, run: severalTimes((url) => searchNode(url, { file, ...absent })) },
    {
      figure: `search ${size}, ${MOST_RECORDS} records of level WARN`,
      dir,
      run: severalTimes((url) => searchNode(url, { file, level: 'warn', limit: MOST_RECORDS })),
    },
    { figure: `histogram of ${size}`, dir, run: severalTimes((url) => fetchHistogram(url, { file })) },
    {
      figure: 'top of a field with a million different values',
      dir: traced.dir,
      run: severalTimes((url) => fetchTop(url, { file: traced.file, by: 'trace', buckets: 100 })),
    },
    {
      figure: 'search a single line of 200 MB, literal',
      dir: hard.dir,
      run: severalTimes((url) => searchNode(url, { file: hard.oneLine, ...absent })),
    },
    {
      figure: 'the newest 200 parts of a single line of 200 MB',
      dir: hard.dir,
      run: severalTimes((url) => searchNode(url, { file: hard.oneLine, limit: 200 })),
    },
    {
      figure: `search a family with ${hard.gzSize} in .gz, literal and level ERROR`,
      dir: hard.dir,
      run: severalTimes(async (url) => {
        await searchNode(url, { family: hard.family, ...absent });
        await searchNode(url, { family: hard.family, level: 'error' });
      }),
    },
    {
      figure: `${FOLLOWERS} followers, ${FOLLOWED_LINES} lines/s`,
      dir: followed,
      run: (server) =>
        runFollow(context, {
          dir: followed,
          server,
          followers: FOLLOWERS,
          linesPerSecond: FOLLOWED_LINES,
          seconds: context.effort.followSeconds / 4,
        }),
    },
  ];
}

const ONE_LINE_BYTES = 200_000_000;

/** The share of the searched log that the compressed one has. */
const GZ_SHARE = 1 / 4;

interface MemoryFolder {
  dir: string;
  /** A file that is one line of 200 MB. */
  oneLine: string;
  /** A live log whose rotated file is compressed, and the size of the text in that. */
  family: string;
  gzSize: string;
}

/** A folder with logs that are hard to search in little memory. */
async function ensureMemoryFolder(context: BenchContext): Promise<MemoryFolder> {
  const dir = context.dataDir('memory');
  const oneLine = 'one-line.log';
  await ensureFile(context, join(dir, oneLine), ONE_LINE_BYTES, writeOneLine);
  const gzBytes = context.effort.logBytes * GZ_SHARE;
  const gzSize = showSize(gzBytes);
  const family = `orders-of-${gzSize.replace(' ', '-').toLowerCase()}.log`;
  await ensureBrokerLog(context, join(dir, family), 4 * MIB);
  await ensureFile(context, join(dir, `${family}.1.gz`), undefined, (handle) => writeGz(handle, gzBytes));
  return { dir, oneLine, family, gzSize };
}

/** The start of an ordinary record, and no line feed for 200 MB. */
async function writeOneLine(handle: FileHandle): Promise<void> {
  const head = '2026-01-01 00:00:00.000\tINFO\trpc/server.go:61\t[rpc] [stream]: ';
  const text = Buffer.from('a request that was written to the log as a whole, '.repeat(20_000));
  let left = ONE_LINE_BYTES - head.length - 1;
  await handle.write(head);
  for (; left > 0; left -= text.length) await handle.write(text.subarray(0, left));
  await handle.write('\n');
}

function writeGz(handle: FileHandle, textBytes: number): Promise<void> {
  const lines = Readable.from(logLines(textBytes, BROKER_MIX));
  return pipeline(lines, createGzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await handle.write(chunk);
  });
}

/** The size of a log in which each record has another `trace`: a bit more than a million. */
const TRACED_BYTES = 192 * MIB;

/** A log with a million different values of `trace`. */
async function ensureTracedLog(context: BenchContext): Promise<{ dir: string; file: string }> {
  const [dir, file] = [context.dataDir('traced'), 'traced.log'];
  await ensureFile(context, join(dir, file), undefined, async (handle) => {
    let number = 0;
    for (const block of logLines(TRACED_BYTES, BROKER_MIX)) {
      const text = block.toString('latin1').replace(/\{/g, () => `{"trace":"${toTrace(number++)}",`);
      await handle.write(Buffer.from(text, 'latin1'));
    }
  });
  return { dir, file };
}

/** Like a UUID. */
function toTrace(number: number): string {
  const hash = Math.imul(number + 1, 0x9e3779b1) >>> 0;
  return `${hash.toString(16).padStart(8, '0')}-4c21-4f7a-9b1e-0242${number.toString(16).padStart(8, '0')}`;
}
