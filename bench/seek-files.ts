import { statfsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import { FIRST_TIME_MS, type LineMix, logLines, MS_PER_LINE } from './log-lines.ts';
import { ensureBrokerLog, showSize } from './search-files.ts';
import { WARM_UP_FILE } from './warm-node.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Written again and again, with later times: making every line anew would take minutes. */
const BLOCK_BYTES = MIB;

/** Errors stand in the last hundredth of the file, evenly: for the newest 100 nearly all of that has to be scanned. */
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

const DAY_MS = 86_400_000;
const ZERO = 48;
const DATE_BYTES = '2026-01-01'.length;

/** A stretch of a log whose lines can be given other times in place, some ten million of them per second. */
export class TimedBlock {
  readonly bytes: Buffer;
  readonly #lineStarts: number[] = [];

  constructor(sizeBytes: number, mix: LineMix) {
    this.bytes = Buffer.concat([...logLines(sizeBytes, mix)]);
    for (let start = 0; start < sizeBytes; start = this.bytes.indexOf(10, start) + 1) this.#lineStarts.push(start);
  }

  get lines(): number {
    return this.#lineStarts.length;
  }

  /** The first line gets the time of the line with this number in the whole log. */
  setTimes(firstLine: number): void {
    let day = -1;
    let date = '';
    let timeMs = FIRST_TIME_MS + firstLine * MS_PER_LINE;
    for (const start of this.#lineStarts) {
      if (Math.floor(timeMs / DAY_MS) !== day) {
        day = Math.floor(timeMs / DAY_MS);
        date = new Date(timeMs).toISOString().slice(0, DATE_BYTES);
      }
      for (let index = 0; index < DATE_BYTES; index++) this.bytes[start + index] = date.charCodeAt(index);
      this.#setClock(start + DATE_BYTES + 1, timeMs % DAY_MS);
      timeMs += MS_PER_LINE;
    }
  }

  /** `HH:MM:SS.mmm` */
  #setClock(at: number, ms: number): void {
    const seconds = Math.floor(ms / 1000);
    this.#setTwoDigits(at, Math.floor(seconds / 3600));
    this.#setTwoDigits(at + 3, Math.floor(seconds / 60) % 60);
    this.#setTwoDigits(at + 6, seconds % 60);
    this.#setTwoDigits(at + 9, Math.floor((ms % 1000) / 10));
    this.bytes[at + 11] = ZERO + (ms % 10);
  }

  #setTwoDigits(at: number, value: number): void {
    this.bytes[at] = ZERO + Math.floor(value / 10);
    this.bytes[at + 1] = ZERO + (value % 10);
  }
}
