import type { Group } from '../group.ts';
import { atMost } from '../group.ts';
import { ensureGrowthFolder } from '../input-files.ts';
import { startPorthole } from '../porthole.ts';
import { compareLoads, showNumber } from '../rounds.ts';

const SIZE_BYTES = 256 * 1024;

const MOST_RATIO = 1.1;

/** The tail of a file a thousand times as large must cost the same: one connection, median latency. */
export const growthGroup: Group = {
  name: 'growth',
  needs: ['wrk'],
  async run(context) {
    const { dir, small, large } = await ensureGrowthFolder(context);
    const { url } = await startPorthole(context, dir);
    const load = (file: string) => ({ url: `${url}/api/v1/log/view?file=${file}&size=${SIZE_BYTES}`, connections: 1 });
    const loads = { ours: load(large), theirs: load(small) };
    const result = await compareLoads(context, loads, ({ p50Us }) => p50Us);
    return [
      {
        figure: 'view 256 KiB of a 10 GiB file, p50 in us',
        porthole: showNumber(result.ours),
        against: `of a 10 MiB file ${showNumber(result.theirs)}`,
        ratio: result.ratio,
        bar: atMost(result.ratio, MOST_RATIO),
        rounds: result.rounds,
      },
    ];
  },
};
