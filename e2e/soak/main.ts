import { parseArgs } from 'node:util';
import { Cleanup, endWithProcess } from '../../bench/cleanup.ts';
import { runSoak } from './run-soak.ts';

const USAGE = 'npm run soak -- [--minutes N]   (5 unless given)';

/** Per node: every few seconds they are cut, and others come. */
const LOAD = { followers: 5, stalledReaders: 300, slowConnections: 100 };

/** Resolves to the exit code: 1 where a promise was broken. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { minutes: { type: 'string', default: '5' } } });
  const seconds = Number(values.minutes) * 60;
  if (!(seconds > 0)) {
    console.error(USAGE);
    return 2;
  }
  const cleanup = new Cleanup();
  endWithProcess(cleanup);
  try {
    const rows = await runSoak({ ...LOAD, seconds, cleanup, log: (progress) => console.error(progress) });
    console.log(`| what | figure | promise | kept |\n|---|---|---|---|`);
    for (const { what, figure, promise, kept } of rows)
      console.log(`| ${what} | ${figure} | ${promise} | ${kept ? 'yes' : '**no**'} |`);
    return rows.every(({ kept }) => kept) ? 0 : 1;
  } finally {
    await cleanup.run();
  }
}
