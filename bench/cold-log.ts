import type { FileHandle } from 'node:fs/promises';
import { BROKER_MIX, RARE_TEXT } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import type { LineMix } from './log-lines.ts';
import { TimedBlock } from './timed-block.ts';

/** Written again and again, with later times: making every line of 20 GiB anew would take minutes. */
const BLOCK_BYTES = 1024 ** 2;

/** One block of so many has a line with the rare text: some 20 of them in a GiB. */
const RARE_EVERY = 50;
const RARE_AT = 17;

const RARE_LINE = 1000;

const PLAIN_MIX: LineMix = { levelFor: BROKER_MIX.levelFor };

const RARE_MIX: LineMix = {
  levelFor: BROKER_MIX.levelFor,
  specialFor: (number) =>
    number === RARE_LINE ? `tsdb/compact.go:310\t[tsdb] [compact]: ${RARE_TEXT} after 7 of 96 files` : undefined,
};

/** A log like that of a broker, too large for the page cache. */
export function ensureColdLog(context: BenchContext, path: string, sizeBytes: number): Promise<void> {
  return ensureFile(context, path, sizeBytes, (handle) => writeBlocks(handle, sizeBytes / BLOCK_BYTES));
}

async function writeBlocks(handle: FileHandle, blocks: number): Promise<void> {
  const [plain, rare] = [new TimedBlock(BLOCK_BYTES, PLAIN_MIX), new TimedBlock(BLOCK_BYTES, RARE_MIX)];
  let line = 0;
  for (let number = 0; number < blocks; number++) {
    const block = number % RARE_EVERY === RARE_AT ? rare : plain;
    block.setTimes(line);
    await handle.write(block.bytes);
    line += block.lines;
  }
}
