import type { LogFileDetails } from '@porthole/client';
import type { Extent, ShownRecord } from './log-source.ts';

/** Where a fraction of a log's bytes is. */
export type BytePosition =
  /** Offset in an uncompressed file. */
  | { file: string; offset: number }
  /** In a compressed file, estimated from its times. By the node's clock. */
  | { timeMs: number };

type LogFile = Pick<
  LogFileDetails,
  'name' | 'size' | 'compressed' | 'state' | 'firstTimeMs' | 'lastTimeMs' | 'modifiedMs'
>;

/** The files of one log, oldest first, as one range of bytes. */
export class LogBytes {
  readonly files: readonly LogFile[];
  readonly totalBytes: number;

  constructor(files: readonly LogFile[]) {
    this.files = files.toSorted(byAge);
    this.totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  }

  extent(offsetMs: number): Extent {
    const times = this.files.flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs]).filter(isTime);
    return {
      kind: 'bytes',
      totalBytes: this.totalBytes,
      firstMs: times.length === 0 ? null : Math.min(...times) - offsetMs,
      lastMs: times.length === 0 ? null : Math.max(...times) - offsetMs,
    };
  }

  /** `undefined` if there is no file. */
  positionAt(fraction: number): BytePosition | undefined {
    let left = Math.min(1, Math.max(0, fraction)) * this.totalBytes;
    for (const file of this.files) {
      if (left < file.size) return positionIn(file, left);
      left -= file.size;
    }
    const last = this.files.at(-1);
    return last && positionIn(last, last.size);
  }

  fractionAt({ file: name, offset, timeMs }: ShownRecord): number | undefined {
    let before = 0;
    for (const file of this.files) {
      if (file.name === name) {
        const inside = file.compressed ? shareOfTime(file, timeMs) : Math.min(1, offset / Math.max(1, file.size));
        return inside === undefined || this.totalBytes === 0
          ? undefined
          : (before + inside * file.size) / this.totalBytes;
      }
      before += file.size;
    }
    return undefined;
  }

  /** The next file in a direction. */
  neighbour(name: string, direction: 'older' | 'newer'): string | undefined {
    const index = this.files.findIndex((file) => file.name === name);
    if (index < 0) return undefined;
    return this.files[index + (direction === 'older' ? -1 : 1)]?.name;
  }
}

function positionIn(file: LogFile, bytes: number): BytePosition {
  const { name, size, compressed, firstTimeMs, lastTimeMs } = file;
  if (!compressed) return { file: name, offset: Math.floor(bytes) };
  if (!isTime(firstTimeMs) || !isTime(lastTimeMs) || size === 0) return { file: name, offset: 0 };
  return { timeMs: Math.round(firstTimeMs + (bytes / size) * (lastTimeMs - firstTimeMs)) };
}

function shareOfTime({ firstTimeMs, lastTimeMs }: LogFile, timeMs: number | undefined): number | undefined {
  if (!isTime(firstTimeMs) || !isTime(lastTimeMs) || timeMs === undefined) return undefined;
  if (lastTimeMs <= firstTimeMs) return 0;
  return Math.min(1, Math.max(0, (timeMs - firstTimeMs) / (lastTimeMs - firstTimeMs)));
}

/** The live file is the newest, whatever its times say. */
function byAge(a: LogFile, b: LogFile): number {
  if (a.state !== b.state) return a.state === 'live' ? 1 : -1;
  return startTime(a) - startTime(b) || a.modifiedMs - b.modifiedMs;
}

function startTime({ firstTimeMs, modifiedMs }: LogFile): number {
  return firstTimeMs ?? modifiedMs;
}

function isTime(timeMs: number | null): timeMs is number {
  return timeMs !== null;
}
