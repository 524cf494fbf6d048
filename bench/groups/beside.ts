import { ABSENT_TEXT } from '../broker-mix.ts';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { memoryRows } from '../memory-rows.ts';
import { median, showNumber } from '../rounds.ts';
import { atMost, type Row } from '../row.ts';
import { ensureSearchFolder, type SearchFolder } from '../search-files.ts';
import { searchNode } from '../send-request.ts';
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
