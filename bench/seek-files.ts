import { statfsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import type { LineMix } from './log-lines.ts';
import { ensureBrokerLog, showSize } from './search-files.ts';
import { TimedBlock } from './timed-block.ts';
import { WARM_UP_FILE } from './warm-node.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Written again and again, with later times: making every line anew would take minutes. */
const BLOCK_BYTES = MIB;

/** Errors stand in the last hundredth of the file, evenly: for the newest 100 nearly all of that has to be looked at. */
const LAST_SHARE = 0.01;
const ERRORS = 110;

const CALM_MIX: LineMix = { levelFor: (_, hash) => ((hash >>> 8) % 50 === 0 ? 'WARN' : 'INFO') };

const SMALL_BYTES = 100 * MIB;

/** Beside the file itself, for everything else that is written meanwhile. */
const SPARE_BYTES = 2 * GIB;

export interface SeekFolder {
  dir: string;
  small: SeekFile;
  large: SeekFile;
}

export interface SeekFile {
  name: string;
  path: string;
  sizeBytes: number;
  /** e.g. `10 GiB` */
  size: string;
}

/** A folder with a small and a large log that have equally many lines per second. */
export async function ensureSeekFolder(context: BenchContext): Promise<SeekFolder> {
  const dir = context.dataDir('seek');
  await ensureBrokerLog(context, join(dir, WARM_UP_FILE), 32 * MIB);
  const seekFile = (sizeBytes: number): SeekFile => {
    const size = showSize(sizeBytes);
    const name = `${size.replace(' ', '-').toLowerCase()}.log`;
    return { name, path: join(dir, name), sizeBytes, size };
  };
  const [small, large] = [seekFile(SMALL_BYTES), seekFile(context.effort.largeLogBytes)];
  for (const { path, sizeBytes } of [small, large]) {
    await ensureFile(context, path, sizeBytes, (handle) => {
      const { bavail, bsize } = statfsSync(dir);
      if (bavail * bsize < sizeBytes + SPARE_BYTES) throw new Error(`${path} needs ${showSize(sizeBytes)} of disk`);
      return writeBlocks(handle, sizeBytes);
    });
  }
  return { dir, small, large };
}

async function writeBlocks(handle: FileHandle, sizeBytes: number): Promise<void> {
  const blocks = sizeBytes / BLOCK_BYTES;
  const lastBlocks = Math.max(1, Math.floor(blocks * LAST_SHARE));
  const calm = new TimedBlock(BLOCK_BYTES, CALM_MIX);
  const errorEvery = Math.floor((calm.lines * lastBlocks) / ERRORS);
  let line = 0;
  for (let number = 0; number < blocks; number++) {
    const block = number < blocks - lastBlocks ? calm : new TimedBlock(BLOCK_BYTES, errorMix(line, errorEvery));
    block.setTimes(line);
    await handle.write(block.bytes);
    line += block.lines;
  }
}

function errorMix(firstLine: number, errorEvery: number): LineMix {
  return {
    levelFor: (number, hash) => ((firstLine + number) % errorEvery === 0 ? 'ERROR' : CALM_MIX.levelFor(number, hash)),
  };
}
