import { createZone, type Zone } from '@porthole/logs';
import { type CallSite, createCallSite } from './call-site.ts';
import { createLocalTime, formatRecord, isAtLeast, type LocalTime, type LogLevel } from './format-record.ts';
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

/** Adds one record. Never throws and never waits for the disk. */
export type LogMethod = (tag: string, message: string, context?: Readonly<Record<string, unknown>>) => void;

/** The logger of one component of the node. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  /** For context that is costly to collect. */
  isEnabled(level: LogLevel): boolean;
}

interface LoggerOptions {
  readonly level: LogLevel;
  readonly time: LocalTime;
  readonly now: () => number;
  /** Receives the formatted line. */
  readonly write: (record: string) => void;
  /** Called when a record could not be formatted. */
  readonly onError: (thrown: unknown) => void;
}

/** The loggers it creates share one cache of call sites. */
function createLoggers(options: LoggerOptions): (component: string) => Logger {
  const callSite = createCallSite();
  return (component) => ({
    debug: createMethod('debug', { ...options, component, callSite }),
    info: createMethod('info', { ...options, component, callSite }),
    warn: createMethod('warn', { ...options, component, callSite }),
    error: createMethod('error', { ...options, component, callSite }),
    isEnabled: (level) => isAtLeast(level, options.level),
  });
}

interface MethodOptions extends LoggerOptions {
  readonly component: string;
  readonly callSite: CallSite;
}

function createMethod(level: LogLevel, options: MethodOptions): LogMethod {
  if (!isAtLeast(level, options.level)) return () => {};
  const { component, callSite, time, now, write, onError } = options;
  const method: LogMethod = (tag, message, context) => {
    try {
      const source = callSite(method);
      write(formatRecord({ time: time.format(now()), level, source, component, tag, message, context }));
    } catch (thrown) {
      // For example a stack overflow: a log call must never throw.
      onError(thrown);
    }
  };
  return method;
}
