import { allRecordsRows } from '../cluster-all-rows.ts';
import { loadMerge, mergeRate } from '../cluster-merge.ts';
import { searchRows } from '../cluster-search-rows.ts';
import { sizeRows } from '../cluster-size-rows.ts';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atLeast, type Row } from '../group.ts';
import { recorderRows } from '../recorder-rows.ts';
import { median, showNumber } from '../rounds.ts';

const LANES = [3, 100, 1000];
const MERGED_RECORDS = 300_000;
const LEAST_THOUSAND_PER_SECOND = 500;

/** What it costs that any node answers for all. */
export const clusterGroup: Group = {
  name: 'cluster',
  needs: [],
  async run(context) {
    context.log('  merged search');
    const merged = [...(await searchRows(context)), ...(await allRecordsRows(context))];
    return [...merged, ...(await mergeRows(context))];
  },
};

/** The same for many members, which are only as much of a node as others see of it. */
export const scaleGroup: Group = { name: 'scale', needs: ['etcd'], run: sizeRows };

/** What it costs that members record each other. */
export const recorderGroup: Group = { name: 'recorder', needs: [], run: recorderRows };

/** The built code in this thread, over lanes that never let it wait. */
async function mergeRows({ effort, log }: BenchContext): Promise<Row[]> {
  log('  merging on one core');
  const merge = await loadMerge();
  const rows: Row[] = [];
  for (const lanes of LANES) {
    await mergeRate(merge, { lanes, records: MERGED_RECORDS });
    const rates: number[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      rates.push(await mergeRate(merge, { lanes, records: MERGED_RECORDS }));
    }
    rows.push({
      figure: `records of ${lanes} members merged on one core, thousand/s`,
      porthole: showNumber(median(rates)),
      bar: atLeast(median(rates), LEAST_THOUSAND_PER_SECOND),
      rounds: rates.map(showNumber).join(', '),
    });
  }
  return rows;
}
