import { Writable } from 'node:stream';
import { ONCE, Shared } from '@porthole/logs/shared';
import type { ServiceLevel } from '../own-log/format-record.ts';
import { checkOptions } from '../settings/check-options.ts';
import { SERVICE_LOG_KINDS, ServiceLog, type ServiceLogOptions, type ServiceRecord } from './service-log.ts';

export interface WinstonTransportOptions extends ServiceLogOptions {
  /** Least severe level that is written; default: that of the logger. */
  level?: string;
}

/** Winston's levels (npm and syslog). Others are written as INFO. */
const LEVELS: Readonly<Record<string, ServiceLevel>> = {
  emerg: 'fatal',
  alert: 'fatal',
  crit: 'fatal',
  fatal: 'fatal',
  error: 'error',
  warning: 'warn',
  warn: 'warn',
  notice: 'info',
  info: 'info',
  http: 'debug',
  verbose: 'debug',
  debug: 'debug',
  silly: 'trace',
  trace: 'trace',
};

/** Where winston keeps the level before a format has coloured it. */
const LEVEL = Symbol.for('level');

/** Fields that have a column of their own. */
const COLUMNS: ReadonlySet<string> = new Set(['level', 'message', 'timestamp', 'service', 'label']);

/** What winston passes on. */
type Info = Record<string | symbol, unknown>;

/** The logger a transport is added to. */
interface WinstonLogger {
  level?: string;
  levels?: Readonly<Record<string, number>>;
}

/**
 * A transport for winston that writes records in the line format of the contract, with rotation. It is the stream that
 * winston expects, without its base class, so that this package does not depend on winston.
 */
export class PortholeTransport extends Writable {
  /** Read by winston. */
  level: string | undefined;
  readonly #opening = new Shared<ServiceLog>(ONCE);
  readonly #options: ServiceLogOptions;
  #logger: WinstonLogger | undefined;

  constructor(given: WinstonTransportOptions) {
    super({ objectMode: true });
    checkOptions('PortholeTransport', given, { ...SERVICE_LOG_KINDS, level: 'string' });
    const { level, ...options } = given;
    this.level = level;
    this.#options = options;
    void this.#open(); // a failure is reported by the first write; if nothing is written, there is nobody to report it to
    this.on('pipe', (logger: unknown) => {
      this.#logger = logger as WinstonLogger;
    });
  }

  /** Winston requires it of a transport. */
  log(info: Info, next: () => void): void {
    this.write(info, next);
  }

  override _write(info: Info, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const isWritten = this.#isWritten(info);
    this.#open()
      .then((log) => {
        if (isWritten) log.write(toRecord(info));
        return log.ready();
      })
      .then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#open()
      .then((log) => log.close())
      .then(() => done(), done);
  }

  #open(): Promise<ServiceLog> {
    return this.#opening.run(() => ServiceLog.open(this.#options));
  }

  /** Winston's levels are numbered from the most severe. */
  #isWritten(info: Info): boolean {
    const { levels, level: loggerLevel } = this.#logger ?? {};
    const [most, own] = [this.level ?? loggerLevel, info[LEVEL] ?? info.level].map((name) => levels?.[String(name)]);
    return most === undefined || own === undefined || own <= most;
  }
}

function toRecord(info: Info): ServiceRecord {
  const { message, timestamp, service, label } = info;
  const timeMs = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  const component = service ?? label;
  const entries = Object.entries(info).filter(([key]) => !COLUMNS.has(key));
  return {
    timeMs: Number.isNaN(timeMs) ? Date.now() : timeMs, // clock: timestamps of records that have none
    level: LEVELS[String(info[LEVEL] ?? info.level)] ?? 'info',
    component: typeof component === 'string' ? component : undefined,
    message: typeof message === 'string' ? message : (JSON.stringify(message) ?? ''),
    ...(entries.length > 0 && { context: Object.fromEntries(entries) }),
  };
}
