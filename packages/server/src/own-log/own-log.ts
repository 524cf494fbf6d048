import { createZone, type Zone } from '@porthole/logs';
import { createCallSite } from './call-site.ts';
import { formatRecord, type LogLevel } from './format-record.ts';
import { createLocalTime } from './local-time.ts';
import { createLoggers, type Logger } from './logger.ts';
import { RotatingLog, type RotatingLogOptions } from './rotating-log.ts';

const DEFAULT_FILE_NAME = 'porthole.log';

/** Set here for the format of the node's own log. */
type OwnFormat = 'fileName' | 'now' | 'parseTime' | 'describeDrops';

export interface OwnLogOptions extends Omit<RotatingLogOptions, OwnFormat> {
  readonly fileName?: string;
  readonly level: LogLevel;
  /** Zone of the timestamps; default: the system's zone. */
  readonly zone?: Zone;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** The node's own log: a file in the contract's line format, written in the background. */
export interface OwnLog extends Pick<RotatingLog, 'stats' | 'flush' | 'close' | 'flushSync'> {
  component(name: string): Logger;
  /** Absolute path of the file being written. */
  readonly file: string;
  /** The file did not exist when the log was opened: no other process can be writing to it. */
  readonly isNew: boolean;
}

export async function openOwnLog(options: OwnLogOptions): Promise<OwnLog> {
  const { fileName = DEFAULT_FILE_NAME, level, zone = createZone(), now = Date.now } = options;
  const time = createLocalTime(zone);
  const describeDrops = createDescribeDrops(() => time.format(now()));
  const log = await RotatingLog.open({ ...options, fileName, now, parseTime: time.parse, describeDrops });
  const write = (record: string): void => log.write(record);
  const onError = (thrown: unknown): void => log.countError(thrown);
  return {
    component: createLoggers({ level, time, now, write, onError }),
    file: log.file,
    isNew: log.isNew,
    stats: () => log.stats(),
    flush: () => log.flush(),
    close: () => log.close(),
    flushSync: () => log.flushSync(),
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
