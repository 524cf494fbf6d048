import { closeSync, openSync, readSync } from 'node:fs';
import { decodeRecord, findColumns } from '@porthole/logs';
import type { BenchContext } from '../context.ts';
import { atLeast, atMost, type Bar, type Group, type Row } from '../group.ts';
import { median, showNumber } from '../rounds.ts';
import { runPeer } from '../run-peer.ts';
import { ensureSearchFolder, type SearchFolder } from '../search-files.ts';
import { fetchDigest, fetchHistogram, type Reply, searchNode } from '../send-request.ts';
import { startWarmNode, WARM_UP_FILE } from '../warm-node.ts';

const MOST_RATIO = 2;
const LEAST_MILLION_PER_SECOND = 1.5;

/** The most a digest may take, compared with the histogram of the same log by a node that knows nothing of it. */
const MOST_DIGEST_RATIO = 2;
const MOST_DIGEST_AGAIN_RATIO = 0.1;

/** The size of the log, for the loops that run in this process. */
const IN_PROCESS_BYTES = 256 * 1024 ** 2;
const WARM_UP_BYTES = 16 * 1024 ** 2;

/** All that can be asked for at once. */
const RETURNED_RECORDS = 1_000_000;
const ONE_THREAD = ['--search-workers', '1', '--search-max-records', String(RETURNED_RECORDS)];
/** To return a million records takes most of the default budget on a quiet machine. */
const LONG_BUDGET = ['--search-budget', '5m'];

/** From bytes to records: counting all of a log over HTTP, and taking lines apart on one core. */
export const parseGroup: Group = {
  name: 'parse',
  needs: ['wc'],
  async run(context) {
    const folder = await ensureSearchFolder(context);
    const { rows, records } = await histogramRows(context, folder);
    return [
      ...rows,
      ...(await digestRows(context, folder, records)),
      ...columnRows(context, folder),
      ...(await oneThreadRows(context, folder, records)),
    ];
  },
};

/** Every round has a new node and asks it twice: the first answer is from the file, the second from what it remembers. */
async function histogramRows(context: BenchContext, folder: SearchFolder): Promise<{ rows: Row[]; records: number }> {
  context.log(`  histogram of ${folder.size}`);
  const lines = await countLines(context, folder); // and brings the file into the page cache
  const times = { cold: [] as number[], again: [] as number[], wc: [] as number[] };
  for (let round = 0; round < context.effort.rounds; round++) {
    const server = await startWarmNode(context, folder.dir);
    const runs = [
      async () => {
        for (const kind of ['cold', 'again'] as const) {
          const reply = await fetchHistogram(server.url, { file: folder.file });
          checkCounts(reply, lines.count);
          times[kind].push(reply.tookMs);
        }
      },
      async () => times.wc.push((await countLines(context, folder)).tookMs),
    ];
    for (const run of round % 2 === 0 ? runs : runs.reverse()) await run();
    await server.stop();
  }
  const row = (figure: string, ours: readonly number[], most?: number): Row => {
    const ratio = median(ours) / median(times.wc);
    return {
      figure: `histogram of ${folder.size}${figure}, ms`,
      porthole: showNumber(median(ours)),
      against: `wc -l ${showNumber(median(times.wc))}`,
      ratio,
      rounds: `${show(ours)} against ${show(times.wc)}`,
      ...(most !== undefined && { bar: atMost(ratio, most) }),
    };
  };
  const rows = [row('', times.cold, MOST_RATIO), row(', asked again', times.again)];
  return { rows, records: lines.count };
}

/** Every round has new nodes, one for each kind of question. */
async function digestRows(context: BenchContext, folder: SearchFolder, records: number): Promise<Row[]> {
  context.log(`  digest of ${folder.size}`);
  const times = { cold: [] as number[], again: [] as number[], histogram: [] as number[] };
  const runs = [
    async () => {
      const server = await startWarmNode(context, folder.dir);
      await fetchDigest(server.url, { file: WARM_UP_FILE });
      for (const kind of ['cold', 'again'] as const) {
        const { body, tookMs } = await fetchDigest(server.url, { file: folder.file });
        const { groups } = JSON.parse(body.toString()) as { groups: { count: number }[] };
        const counted = groups.reduce((sum, { count }) => sum + count, 0);
        if (counted !== records) throw new Error(`the digest has ${counted} records of ${records}`);
        times[kind].push(tookMs);
      }
      await server.stop();
    },
    async () => {
      const server = await startWarmNode(context, folder.dir);
      times.histogram.push((await fetchHistogram(server.url, { file: folder.file })).tookMs);
      await server.stop();
    },
  ];
  for (let round = 0; round < context.effort.rounds; round++) {
    for (const run of round % 2 === 0 ? runs : runs.toReversed()) await run();
  }
  const row = (figure: string, ours: readonly number[], most: number): Row => {
    const ratio = median(ours) / median(times.histogram);
    return {
      figure: `digest of ${folder.size}${figure}, ms`,
      porthole: showNumber(median(ours)),
      against: `histogram ${showNumber(median(times.histogram))}`,
      ratio,
      rounds: `${show(ours)} against ${show(times.histogram)}`,
      bar: atMost(ratio, most),
    };
  };
  return [row('', times.cold, MOST_DIGEST_RATIO), row(', asked again', times.again, MOST_DIGEST_AGAIN_RATIO)];
}

async function countLines(context: BenchContext, { path }: SearchFolder): Promise<{ count: number; tookMs: number }> {
  const { output, tookMs } = await runPeer(context, 'wc', ['-l', path]);
  return { count: Number.parseInt(output, 10), tookMs };
}

function checkCounts({ body }: Reply, lines: number): void {
  const { buckets } = JSON.parse(body.toString()) as { buckets: { counts: Record<string, number> }[] };
  const counted = buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, 0);
  if (counted !== lines) throw new Error(`the histogram counts ${counted} records in ${lines} lines`);
}

/** The built code in this thread: what the node runs where records are returned. */
function columnRows(context: BenchContext, { path }: SearchFolder): Row[] {
  context.log('  lines on one core');
  const bytes = readLines(path, Math.min(IN_PROCESS_BYTES, context.effort.logBytes));
  const rateRow = (figure: string, parse: ParseLine, least?: number): Row => {
    parseRate(readLines(path, WARM_UP_BYTES), parse);
    const rates = Array.from({ length: context.effort.rounds }, () => parseRate(bytes, parse));
    const bar = least === undefined ? undefined : atLeast(median(rates), least);
    return millionRow(figure, rates, bar);
  };
  return [
    rateRow('columns of records found on one core', findColumns, LEAST_MILLION_PER_SECOND),
    rateRow('records decoded to strings and objects on one core', decodeRecord),
  ];
}

/** A node that scans with one thread; the other cores send and receive. */
async function oneThreadRows(context: BenchContext, folder: SearchFolder, records: number): Promise<Row[]> {
  context.log('  records with one thread');
  const rates = { counted: [] as number[], returned: [] as number[] };
  for (let round = 0; round < context.effort.rounds; round++) {
    const { url, stop } = await startWarmNode(context, folder.dir, [...ONE_THREAD, ...LONG_BUDGET]);
    const { tookMs } = await fetchHistogram(url, { file: folder.file });
    rates.counted.push(records / 1000 / tookMs);
    if (round === 0) {
      const returned = await searchNode(url, { file: folder.file, limit: RETURNED_RECORDS });
      rates.returned.push(returned.end.records / 1000 / returned.tookMs);
    }
    await stop();
  }
  return [
    millionRow('time and level of all records, counted over HTTP by one thread', rates.counted),
    millionRow('records sent over HTTP as NDJSON by one thread', rates.returned),
  ];
}

function millionRow(figure: string, rates: readonly number[], bar?: Bar): Row {
  return {
    figure: `${figure}, million/s`,
    porthole: showNumber(median(rates)),
    rounds: show(rates),
    ...(bar && { bar }),
  };
}

function show(values: readonly number[]): string {
  return values.map(showNumber).join(', ');
}

/** Takes one line apart, given where it starts and ends in the bytes. */
type ParseLine = (bytes: Buffer, start: number, end: number) => unknown;

/** Millions of lines that this thread takes apart per second; reading them from the file does not count. */
function parseRate(bytes: Buffer, parse: ParseLine): number {
  let lines = 0;
  const startedAt = performance.now();
  for (let start = 0; start < bytes.length; lines++) {
    const end = bytes.indexOf(10, start) + 1;
    parse(bytes, start, end);
    start = end;
  }
  return lines / 1000 / (performance.now() - startedAt);
}

/** The whole lines in the first so many bytes of a file. */
function readLines(path: string, maxBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(maxBytes);
  const descriptor = openSync(path, 'r');
  try {
    const length = readSync(descriptor, bytes, 0, maxBytes, 0);
    return bytes.subarray(0, bytes.lastIndexOf(10, length - 1) + 1);
  } finally {
    closeSync(descriptor);
  }
}
