import { createZone } from '@porthole/logs';
import { createLocalTime, formatRecord, type ServiceLevel } from '../own-log/format-record.ts';
import { RotatingLog } from '../own-log/rotating-log.ts';
import type { OptionKinds } from '../settings/check-options.ts';

const MIB = 1024 ** 2;
const DAY_MS = 86_400_000;

/** More is not queued: loggers wait instead of losing records while the disk is slow. */
const MAX_WAITING_BYTES = MIB;

/** Where a logger of a service writes, and how its files are rotated. */
export interface ServiceLogOptions {
  /** Created if missing. */
  dir: string;
  /** Default: `service.log`. */
  fileName?: string;
  /** First label of records whose logger has no name; default: `app`. */
  component?: string;
  /** Zone of the timestamps; default: the system's. */
  timeZone?: string;
  /** The file is rotated at this size; default 64 MiB. 0: never. */
  maxFileBytes?: number;
  /** The file is rotated at this age; default one day. 0: never. */
  maxFileAgeMs?: number;
  /** Rotated files to keep; default 8. 0: all. */
  keepFiles?: number;
  /** Rotated files are removed at this age; default 30 days. 0: never. */
  keepAgeMs?: number;
  /** Compress rotated files; default false. */
  gzip?: boolean;
}

export const SERVICE_LOG_KINDS: OptionKinds<ServiceLogOptions> = {
  dir: 'string',
  fileName: 'string',
  component: 'string',
  timeZone: 'string',
  maxFileBytes: 'number',
  maxFileAgeMs: 'number',
  keepFiles: 'number',
  keepAgeMs: 'number',
  gzip: 'boolean',
};

/** A record as a logger of a service has it. */
export interface ServiceRecord {
  timeMs: number;
  level: ServiceLevel;
  /** Position in the code, if the logger knows it. */
  source?: string | undefined;
  component?: string | undefined;
  message: string;
  context?: Readonly<Record<string, unknown>>;
}

/** The log of a service, in the line format of the contract, written in the background and rotated. */
export class ServiceLog {
  readonly #log: RotatingLog;
  readonly #format: (record: ServiceRecord) => string;

  private constructor(log: RotatingLog, format: (record: ServiceRecord) => string) {
    this.#log = log;
    this.#format = format;
  }

  static async open(options: ServiceLogOptions): Promise<ServiceLog> {
    const { component = 'app', timeZone = '', fileName = 'service.log', ...rotation } = options;
    const time = createLocalTime(createZone(timeZone));
    const format = (record: ServiceRecord): string =>
      formatRecord({
        time: time.format(record.timeMs),
        level: record.level,
        source: record.source ?? '',
        component: record.component ?? component,
        tag: '',
        message: record.message,
        context: record.context,
      });
    const describeDrops = (dropped: number): string =>
      // clock: timestamps
      format({ timeMs: Date.now(), level: 'warn', message: `${dropped} records dropped here: the disk was too slow` });
    const log = await RotatingLog.open({
      maxFileBytes: 64 * MIB,
      maxFileAgeMs: DAY_MS,
      keepFiles: 8,
      keepAgeMs: 30 * DAY_MS,
      gzip: false,
      ...rotation,
      fileName,
      now: Date.now, // clock: timestamps, and ages of files, which outlive the process
      parseTime: time.parse,
      describeDrops,
    });
    return new ServiceLog(log, format);
  }

  /** Absolute path of the file being written. */
  get file(): string {
    return this.#log.file;
  }

  write(record: ServiceRecord): void {
    this.#log.write(this.#format(record));
  }

  /** Resolves when more records can be written without filling the queue. */
  async ready(): Promise<void> {
    if (this.#log.stats().queuedBytes > MAX_WAITING_BYTES) await this.#log.flush();
  }

  flush(): Promise<void> {
    return this.#log.flush();
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
