import { setMaxListeners } from 'node:events';
import type { Group } from '../group.ts';
import { below } from '../group.ts';
import { ensureLogFolder } from '../input-files.ts';
import { startPorthole } from '../porthole.ts';
import { residentBytes, watchResident } from '../process-usage.ts';
import { type ReaderLimits, readTail } from '../reader.ts';
import { showNumber } from '../rounds.ts';

const READERS = 64;

/** Every fourth reader is slow: it takes so much, then does nothing for a while. */
const SLOW_EVERY = 4;
const SLOW_PAUSE = { afterBytes: 64 * 1024, pauseMs: 50 };

const SAMPLE_MS = 50;
const LIMIT_MIB = 64;
const MIB = 1024 ** 2;

/** Many readers of a whole 1 GiB tail, some slow: what the answers in flight hold in memory. */
export const readersGroup: Group = {
  name: 'readers',
  needs: [],
  async run(context) {
    const { dir, file, sizeBytes } = await ensureLogFolder(context);
    const { url, pid } = await startPorthole(context, dir);
    const { readerMaxBytes: maxBytes, readerMaxMs: maxMs } = context.effort;
    const before = residentBytes(pid);
    const resident = watchResident(pid, SAMPLE_MS);
    const hangUp = new AbortController();
    setMaxListeners(READERS, hangUp.signal);
    context.cleanup.add(() => {
      resident.stop();
      hangUp.abort();
    });
    const startedAt = performance.now();
    const view = `${url}/api/v1/log/view?file=${file}&size=${sizeBytes}`;
    const reads = await Promise.all(
      Array.from({ length: READERS }, (_, number) => {
        const limits: ReaderLimits = {
          maxBytes,
          maxMs,
          signal: hangUp.signal,
          ...(number % SLOW_EVERY === 0 && { slow: SLOW_PAUSE }),
        };
        return readTail(view, limits);
      }),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    const peak = resident.stop();
    const fast = reads.filter((_, number) => number % SLOW_EVERY !== 0);
    const slow = reads.filter((_, number) => number % SLOW_EVERY === 0);
    const fastSeconds = Math.max(...fast.map(({ tookMs }) => tookMs)) / 1000;
    const grownMib = (peak - before) / MIB;
    return [
      {
        figure: `${READERS} readers of a 1 GiB tail, ${slow.length} slow: growth of resident memory, MiB`,
        porthole: showNumber(grownMib),
        against: `before ${showNumber(before / MIB)}, peak ${showNumber(peak / MIB)}`,
        bar: below(grownMib, LIMIT_MIB),
        rounds: `${showNumber(totalMib(reads))} MiB read in ${showNumber(seconds)} s`,
      },
      {
        figure: `the ${fast.length} fast ones meanwhile, MiB/s`,
        porthole: showNumber(totalMib(fast) / fastSeconds),
      },
    ];
  },
};

function totalMib(reads: readonly { bytes: number }[]): number {
  return reads.reduce((sum, { bytes }) => sum + bytes, 0) / MIB;
}
