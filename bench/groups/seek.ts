import { createReadStream } from 'node:fs';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atMost, type Bar, below, type Row } from '../group.ts';
import { FIRST_TIME_MS, MS_PER_LINE } from '../log-lines.ts';
import { median, showNumber } from '../rounds.ts';
import { runPeer } from '../run-peer.ts';
import { ensureSeekFolder, type SeekFile, type SeekFolder } from '../seek-files.ts';
import { searchNode } from '../send-request.ts';
import { startWarmNode } from '../warm-node.ts';

const MOST_ERRORS_MS = 50;
const MOST_SEEK_MS = 20;
const MOST_GROWTH = 2;
const RECORDS = 100;

/** Where the errors stand, and a little more. */
const END_SHARE = 0.011;

/** About what a line of the files takes: from this and the size follow the times in it, but for the very last. */
const LINE_BYTES = 170;
const LAST_FRACTION = 0.95;

/** No bar: how fast the disk is says nothing about us, how often we wait for it does. */
const UNCACHED_SEEKS = 5;

/** What a log too large to be read as a whole gives at once: its newest errors, and what was at a given time. */
export const seekGroup: Group = {
  name: 'seek',
  needs: ['dd'],
  async run(context) {
    const folder = await ensureSeekFolder(context);
    return [...(await errorRows(context, folder)), ...(await timeRows(context, folder))];
  },
};

/** Every round has a new node, which has not seen the file, and asks it twice. */
async function errorRows(context: BenchContext, { dir, large }: SeekFolder): Promise<Row[]> {
  context.log(`  newest errors of ${large.size}`);
  const [cold, again]: [number[], number[]] = [[], []];
  for (let round = 0; round < context.effort.rounds; round++) {
    await readEnd(large);
    const server = await startWarmNode(context, dir);
    for (const times of [cold, again]) {
      const { tookMs, end } = await searchNode(server.url, { file: large.name, level: 'error', limit: RECORDS });
      if (end.records !== RECORDS) throw new Error(`${end.records} errors found instead of ${RECORDS}`);
      times.push(tookMs);
    }
    await server.stop();
  }
  const figure = `newest ${RECORDS} errors of ${large.size}, spread over the last 1 %`;
  return [
    timeRow(`${figure}, ms`, cold, below(median(cold), MOST_ERRORS_MS)),
    timeRow(`${figure}, asked again, ms`, again, below(median(again), MOST_ERRORS_MS)),
  ];
}

async function timeRows(context: BenchContext, { dir, small, large }: SeekFolder): Promise<Row[]> {
  context.log(`  records from a time on, of ${small.size} and ${large.size}`);
  // A different fraction every time, the same in both files.
  const fractions = Array.from({ length: context.effort.seeks }, (_, round) => (round * 0.618 + 0.3) % 1);
  const both = [small, large];
  const times = { small: [] as number[], large: [] as number[], uncached: [] as number[] };
  // Asked of another node before: what is measured is not the disk.
  await queryNewNode(
    context,
    dir,
    fractions.flatMap((fraction) => both.map((file) => ({ file, fraction }))),
  );
  for (const [round, fraction] of fractions.entries()) {
    const inOrder = round % 2 === 0 ? both : both.toReversed();
    const took = await queryNewNode(
      context,
      dir,
      inOrder.map((file) => ({ file, fraction })),
    );
    times.small.push(took[inOrder.indexOf(small)] ?? Number.NaN);
    times.large.push(took[inOrder.indexOf(large)] ?? Number.NaN);
  }
  for (const fraction of fractions.slice(0, UNCACHED_SEEKS)) {
    await dropFromPageCache(context, large);
    times.uncached.push(...(await queryNewNode(context, dir, [{ file: large, fraction: fraction }])));
  }
  const ratio = median(times.large) / median(times.small);
  const figure = `${RECORDS} records from a time on, file not seen before`;
  return [
    timeRow(`${figure}: ${small.size}, ms`, times.small, below(median(times.small), MOST_SEEK_MS)),
    timeRow(`${figure}: ${large.size}, ms`, times.large, below(median(times.large), MOST_SEEK_MS)),
    {
      figure: `${figure}: ${large.size} against ${small.size}`,
      porthole: showNumber(median(times.large)),
      against: showNumber(median(times.small)),
      ratio,
      bar: atMost(ratio, MOST_GROWTH),
    },
    timeRow(`${figure}: ${large.size}, not in the page cache either, ms`, times.uncached),
  ];
}

interface Seek {
  file: SeekFile;
  /** As a share of the file. */
  fraction: number;
}

/** How long a new node takes for each of them, one after the other. */
async function queryNewNode(context: BenchContext, dir: string, seeks: readonly Seek[]): Promise<number[]> {
  const server = await startWarmNode(context, dir);
  const times: number[] = [];
  for (const { file, fraction } of seeks) {
    const timeMs =
      FIRST_TIME_MS + Math.floor((file.sizeBytes * fraction * LAST_FRACTION) / LINE_BYTES) * MS_PER_LINE - 1;
    const query = { file: file.name, order: 'oldest', time: timeMs, limit: RECORDS };
    const { tookMs, body, end } = await searchNode(server.url, query);
    const { timeMs: found } = JSON.parse(body.subarray(0, body.indexOf(10)).toString()) as { timeMs: number };
    if (end.records !== RECORDS || found !== timeMs + 1) {
      throw new Error(`${file.name}: ${end.records} records from ${found} on instead of ${timeMs}`);
    }
    times.push(tookMs);
  }
  await server.stop();
  return times;
}

async function readEnd({ path, sizeBytes }: SeekFile): Promise<void> {
  for await (const _ of createReadStream(path, { start: Math.floor(sizeBytes * (1 - END_SHARE)) }));
}

/** Copying nothing with this flag makes dd advise the system that the file is not needed any more. */
async function dropFromPageCache(context: BenchContext, { path }: SeekFile): Promise<void> {
  await runPeer(context, 'dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
}

function timeRow(figure: string, times: readonly number[], bar?: Bar): Row {
  return {
    figure,
    porthole: showNumber(median(times)),
    rounds: times.map(showNumber).join(', '),
    ...(bar && { bar }),
  };
}
