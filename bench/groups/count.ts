import type { BenchContext } from '../context.ts';
import { ensureFieldFolder } from '../field-files.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import type { PortholeServer } from '../porthole.ts';
import { median, showNumber } from '../rounds.ts';
import { fetchHistogram, fetchTop, type Query } from '../send-request.ts';
import { startWarmNode, WARM_UP_FILE } from '../warm-node.ts';

/** Until code that only counts by field use has been compiled. */
const WARM_UP_TIMES = 8;

const MOST_RATIO = 3;

interface CountCase {
  figure: string;
  query: Query;
  mostRatio?: number;
}

const CASES: readonly CountCase[] = [
  { figure: 'shard, 64 values', query: { by: 'shard' }, mostRatio: MOST_RATIO },
  { figure: 'shard, over time', query: { by: 'shard', buckets: 100 } },
  { figure: 'level', query: { by: 'level' } },
  { figure: 'source', query: { by: 'source' }, mostRatio: MOST_RATIO },
  { figure: 'component', query: { by: 'component' }, mostRatio: MOST_RATIO },
  { figure: 'bytes, nearly all different', query: { by: 'bytes' } },
];

/** Counts by value of a field over HTTP, against the histogram of the same log. The file is in the page cache. */
export const countGroup: Group = {
  name: 'count',
  needs: [],
  async run(context) {
    const { dir, file, jsonFile, size } = await ensureFieldFolder(context);
    const rows: Row[] = [];
    for (const [name, log] of Object.entries({ "the contract's format": file, JSON: jsonFile })) {
      for (const each of CASES) {
        context.log(`  ${name}: ${each.figure}`);
        rows.push(...(await compare(context, each, { dir, file: log, name: `${size} of ${name}` })));
      }
    }
    return rows;
  },
};

/** Every round has new nodes, one for each question, which is asked twice: what a scan has learnt helps the next one. */
async function compare(
  context: BenchContext,
  { figure, query, mostRatio }: CountCase,
  { dir, file, name }: { dir: string; file: string; name: string },
): Promise<Row[]> {
  const times = {
    top: [] as number[],
    histogram: [] as number[],
    again: [] as number[],
    histogramAgain: [] as number[],
  };
  const runs = [
    async () => {
      const server = await startCountingNode(context, dir, query);
      times.top.push((await fetchTop(server.url, { file, ...query })).tookMs);
      times.again.push((await fetchTop(server.url, { file, ...query })).tookMs);
      await server.stop();
    },
    async () => {
      const server = await startWarmNode(context, dir);
      times.histogram.push((await fetchHistogram(server.url, { file })).tookMs);
      times.histogramAgain.push((await fetchHistogram(server.url, { file })).tookMs);
      await server.stop();
    },
  ];
  for (let round = 0; round < context.effort.rounds; round++) {
    for (const run of round % 2 === 0 ? runs : runs.toReversed()) await run();
  }
  const row = (asked: string, ours: readonly number[], theirs: readonly number[], most?: number): Row => {
    const ratio = median(ours) / median(theirs);
    const show = (values: readonly number[]) => values.map(showNumber).join(', ');
    return {
      figure: `top of ${name}: ${figure}${asked}, ms`,
      porthole: showNumber(median(ours)),
      against: `histogram ${showNumber(median(theirs))}`,
      ratio,
      rounds: `${show(ours)} against ${show(theirs)}`,
      ...(most !== undefined && { bar: atMost(ratio, most) }),
    };
  };
  return [row('', times.top, times.histogram, mostRatio), row(', asked again', times.again, times.histogramAgain)];
}

async function startCountingNode(context: BenchContext, dir: string, query: Query): Promise<PortholeServer> {
  const server = await startWarmNode(context, dir);
  for (let times = 0; times < WARM_UP_TIMES; times++) await fetchTop(server.url, { file: WARM_UP_FILE, ...query });
  return server;
}
