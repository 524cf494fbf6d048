import { setTimeout as sleep } from 'node:timers/promises';
import { ABSENT_TEXT } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { createFollowedFile, runFollow } from './follow-run.ts';
import { ensureMemoryFolder } from './memory-files.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { residentBytes, watchResident } from './process-usage.ts';
import { showNumber } from './rounds.ts';
import { below, type Row } from './row.ts';
import type { SearchFolder } from './search-files.ts';
import { fetchHistogram, fetchTop, searchNode } from './send-request.ts';
import { ensureTracedLog } from './traced-log.ts';

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
export async function memoryRows(context: BenchContext, folder: SearchFolder): Promise<Row[]> {
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
