import { basename, join, resolve } from 'node:path';
import { createZone, type Zone } from '@porthole/logs';
import { createCallSite } from './call-site.ts';
import { formatRecord, type LogLevel } from './format-record.ts';
import { LiveFile } from './live-file.ts';
import { createLocalTime } from './local-time.ts';
import { LogWriter } from './log-writer.ts';
import { createLoggers, type Logger } from './logger.ts';
import { RecordQueue } from './record-queue.ts';
import { RotatedFiles } from './rotated-files.ts';
import { createRotatedNames } from './rotated-name.ts';

const DEFAULT_FILE_NAME = 'porthole.log';
const DEFAULT_MAX_QUEUE_BYTES = 4 * 1024 * 1024;

/** Twice the time within which another process writing to the same file notices that it was rotated. */
const DEFAULT_GZIP_DELAY_MS = 2000;

export interface OwnLogOptions {
  /** Created if missing, also if it is removed later. */
  readonly dir: string;
  readonly fileName?: string;
  readonly level: LogLevel;
  /** Zone of the timestamps; default: the system's zone. */
  readonly zone?: Zone;
  /** 0: no rotation by size. */
  readonly maxFileBytes: number;
  /** Counted from the file's first record, across restarts. 0: no rotation by age. */
  readonly maxFileAgeMs: number;
  /** Rotated files to keep. 0: all. */
  readonly keepFiles: number;
  /** How long a file is kept after its rotation. 0: forever. */
  readonly keepAgeMs: number;
  readonly gzip: boolean;
  readonly gzipDelayMs?: number;
  /** Size of the queue for a slow or failing disk; more is dropped and reported. */
  readonly maxQueueBytes?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export interface OwnLogStats {
  /** Records written. */
  readonly written: number;
  /** Records lost: the queue was full, or the log was closed. */
  readonly dropped: number;
  /** Failures of any kind since the start: writing, rotating, compressing, removing. */
  readonly errors: number;
  readonly queuedBytes: number;
  /** Not reset after recovery; see `isFailing`. */
  readonly lastError: string | undefined;
  /** The last attempt to write failed; records are queued and it will be retried. */
  readonly isFailing: boolean;
}

/** The node's own log: a file in the contract's line format, written in the background. */
export interface OwnLog {
  component(name: string): Logger;
  /** Absolute path of the file being written. */
  readonly file: string;
  /** The file did not exist when the log was opened: no other process can be writing to it. */
  readonly isNew: boolean;
  stats(): OwnLogStats;
  /** Resolves when the records so far are written, or an attempt to write them failed (see `stats`). */
  flush(): Promise<void>;
  /** Writes what is queued, waits for work on rotated files, closes. Later records count as dropped. */
  close(): Promise<void>;
  /** For a process that is about to exit without another turn of its event loop. */
  flushSync(): void;
}

/**
 * Rejects only for an invalid file name. A failing disk does not prevent the start: records are queued, writing is retried,
 * and `stats` shows the failure.
 */
export async function openOwnLog(options: OwnLogOptions): Promise<OwnLog> {
  const { fileName = DEFAULT_FILE_NAME, gzipDelayMs = DEFAULT_GZIP_DELAY_MS, now = Date.now } = options;
  assertFileName(fileName);
  const dir = resolve(options.dir);
  const time = createLocalTime(options.zone ?? createZone());
  const names = createRotatedNames(fileName);
  const onError = (thrown: unknown): void => writer.countError(thrown);
  const rotated = new RotatedFiles({ ...options, dir, names, gzipDelayMs, now, onError });
  const onRotated = (): void => rotated.sweep();
  const file = new LiveFile({ ...options, dir, fileName, names, time, now, onRotated, onError });
  const queue = new RecordQueue(options.maxQueueBytes ?? DEFAULT_MAX_QUEUE_BYTES);
  const writer = new LogWriter({ queue, file, describeDrops: createDescribeDrops(() => time.format(now())) });
  const write = (record: string): void => writer.push(record);
  const component = createLoggers({ level: options.level, time, now, write, onError });

  await rotated.removeTemporaries().catch(onError);
  // Makes `stats` show at once whether the file can be written.
  await file.prepare(0).catch(onError);
  rotated.sweep();

  let closing: Promise<void> | undefined;
  return {
    component,
    file: join(dir, fileName),
    isNew: file.wasCreated,
    stats: () => ({ ...writer.counts, dropped: queue.dropped, queuedBytes: queue.queuedBytes }),
    flush: () => closing ?? writer.flush(),
    close: () => {
      closing ??= writer.close().then(() => rotated.close());
      return closing;
    },
    flushSync: () => writer.flushSync(),
  };
}

/** Written at any level: a log must not hide that records are missing. */
function createDescribeDrops(localTime: () => string): (dropped: number) => string {
  const callSite = createCallSite();
  const describeDrops = (dropped: number): string =>
    formatRecord({
      time: localTime(),
      level: 'warn',
      source: callSite(describeDrops),
      component: 'own-log',
      tag: 'queue',
      message: `${dropped} records dropped here: the disk was too slow`,
      context: { dropped },
    });
  return describeDrops;
}

function assertFileName(fileName: string): void {
  const isPlain = fileName !== '' && basename(fileName) === fileName && !['.', '..'].includes(fileName);
  if (!isPlain || fileName.includes('\0')) throw new TypeError(`"${fileName}" is not a plain file name`);
}
