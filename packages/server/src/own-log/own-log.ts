import { errorMessage } from '@porthole/contract';
import { createZone, type Zone } from '@porthole/logs';
import { type CallSite, createCallSite } from './call-site.ts';
import {
  createLocalTime,
  formatRecord,
  isAtLeast,
  type LocalTime,
  type LogLevel,
  type RecordFields,
} from './format-record.ts';
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

/** The node's own log: a file in the contract's line format, written in the background, or what its program chose. */
export interface OwnLog extends Pick<RotatingLog, 'stats' | 'flush' | 'close' | 'flushSync'> {
  component(name: string): Logger;
  /** Absolute path of the file being written, or what else it is written to. */
  readonly place: string;
  /** The file did not exist when the log was opened: no other process can be writing to it. */
  readonly isNew: boolean;
}

export async function openOwnLog(options: OwnLogOptions): Promise<OwnLog> {
  // clock: timestamps, and ages of files, which outlive the process
  const { fileName = DEFAULT_FILE_NAME, level, zone = createZone(), now = Date.now } = options;
  const time = createLocalTime(zone);
  const describeDrops = createDescribeDrops(() => time.format(now()));
  const log = await RotatingLog.open({ ...options, fileName, now, parseTime: time.parse, describeDrops });
  const write = (record: OwnRecord): void => log.write(formatRecord(record));
  const onError = (thrown: unknown): void => log.countError(thrown);
  return {
    component: createLoggers({ level, time, now, write, onError }),
    place: log.file,
    isNew: log.isNew,
    stats: () => log.stats(),
    flush: () => log.flush(),
    close: () => log.close(),
    flushSync: () => log.flushSync(),
  };
}

/** A record of the node, before it is a line. */
export interface OwnRecord extends RecordFields {
  readonly level: LogLevel;
}

/** A logger of the program, called as those of pino, bunyan and Fastify are: the fields first. */
export interface HostLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Hands every record to the program's own logger. */
export function passRecordsTo(logger: HostLogger): RecordSink {
  return {
    place: "the program's logger",
    write: ({ level, component, tag, message, context }) => logger[level]({ ...context, component, tag }, message),
  };
}

/** Where a log goes that is not in files; `close` is called once. */
export interface RecordSink {
  place: string;
  write(record: OwnRecord): void;
  close?(): void;
}

/** The same lines as in a file. */
export function openStdout(countError: (thrown: unknown) => void): RecordSink {
  // Without a listener a reader of the output that ends would end the process.
  process.stdout.on('error', countError);
  return {
    place: 'stdout',
    write: (record) => void process.stdout.write(formatRecord(record)),
    close: () => void process.stdout.off('error', countError),
  };
}

/** Nobody wants it. */
export function openNothing(): RecordSink {
  return { place: 'nothing, as logging.to says', write: () => {} };
}

/** A log that is not in files: each record is handed on at once. */
export function createSinkLog(
  options: Pick<OwnLogOptions, 'level' | 'zone' | 'now'>,
  open: (countError: (thrown: unknown) => void) => RecordSink,
): OwnLog {
  // clock: timestamps, and ages of files, which outlive the process
  const { level, zone = createZone(), now = Date.now } = options;
  const counts = { written: 0, errors: 0 };
  let lastError: string | undefined;
  let isFailing = false;
  const onError = (thrown: unknown): void => {
    counts.errors += 1;
    lastError = errorMessage(thrown);
    isFailing = true;
  };
  const sink = open(onError);
  const write = (record: OwnRecord): void => {
    sink.write(record);
    counts.written += 1;
    isFailing = false;
  };
  return {
    component: createLoggers({ level, time: createLocalTime(zone), now, write, onError }),
    place: sink.place,
    isNew: true,
    stats: () => ({ ...counts, dropped: 0, queuedBytes: 0, lastError, isFailing }),
    flush: async () => {},
    close: async () => sink.close?.(),
    flushSync: () => {},
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
  readonly write: (record: OwnRecord) => void;
  /** Called when a record could not be formatted or handed on. */
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
      write({ time: time.format(now()), level, source, component, tag, message, context });
    } catch (thrown) {
      // For example a stack overflow: a log call must never throw.
      onError(thrown);
    }
  };
  return method;
}
