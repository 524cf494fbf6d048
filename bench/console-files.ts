import { linkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { ensureFile, writeLines } from './input-files.ts';
import { ensureSeekFolder, type SeekFile } from './seek-files.ts';

const SMALL_BYTES = 10 * 1024 ** 2;

export interface ConsoleFolder {
  dir: string;
  small: string;
  large: SeekFile;
}

/** A folder with a log of 10 MiB and the large one of the seek group, which is not made a second time. */
export async function ensureConsoleFolder(context: BenchContext): Promise<ConsoleFolder> {
  const { large } = await ensureSeekFolder(context);
  const dir = context.dataDir('console');
  const small = '10-mib.log';
  await ensureFile(context, join(dir, small), SMALL_BYTES, (handle) => writeLines(handle, SMALL_BYTES));
  const path = join(dir, large.name);
  if (statSync(path, { throwIfNoEntry: false })?.ino !== statSync(large.path).ino) {
    rmSync(path, { force: true });
    linkSync(large.path, path);
  }
  return { dir, small, large: { ...large, path } };
}
