import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ServiceLevel } from '../own-log/format-record.ts';
import { checkOptions } from '../settings/check-options.ts';
import { SERVICE_LOG_KINDS, ServiceLog, type ServiceLogOptions, type ServiceRecord } from './service-log.ts';

export interface PinoTransportOptions extends ServiceLogOptions {
  /** Key of the message, as pino's own option; default: `msg`. */
  messageKey?: string;
  /** Fields that are left out; default: `pid` and `hostname`, which are the same in every record. */
  omit?: readonly string[];
}

const KINDS = { ...SERVICE_LOG_KINDS, messageKey: 'string', omit: 'any' } as const;

/** Pino's levels from the most severe. Levels of a program's own are between them. */
const LEVELS: readonly (readonly [number, ServiceLevel])[] = [
  [60, 'fatal'],
  [50, 'error'],
  [40, 'warn'],
  [30, 'info'],
  [20, 'debug'],
];

/** The transport `porthole/pino`: writes the records of pino in the line format of the contract, with rotation. */
export default async function pinoTransport(options: PinoTransportOptions): Promise<Writable> {
  // Pino adds options of its own to what it passes on.
  checkOptions('porthole/pino', options, KINDS, { mayHaveOthers: true });
  const { messageKey = 'msg', omit = ['pid', 'hostname'], ...logOptions } = options;
  const log = await ServiceLog.open(logOptions);
  const decoder = new StringDecoder('utf8');
  const left = new Set([...omit, 'level', 'time', 'name', 'caller', 'v', messageKey]);
  let rest = '';
  const writeLine = (line: string) => {
    if (line !== '') log.write(toRecord(line, messageKey, left));
  };
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) writeLine(line);
      log.ready().then(() => done(), done);
    },
    final(done) {
      writeLine(rest);
      log.close().then(() => done(), done);
    },
  });
}

function toRecord(line: string, messageKey: string, left: ReadonlySet<string>): ServiceRecord {
  const fields = parseObject(line);
  // clock: timestamps of records that have none
  if (!fields) return { timeMs: Date.now(), level: 'info', message: line };
  const { level, time, name, caller } = fields;
  const message = fields[messageKey];
  const entries = Object.entries(fields).filter(([key]) => !left.has(key));
  return {
    timeMs: toTime(time),
    level: toLevel(level),
    source: typeof caller === 'string' ? caller : undefined,
    component: typeof name === 'string' ? name : undefined,
    message: typeof message === 'string' ? message : '',
    ...(entries.length > 0 && { context: Object.fromEntries(entries) }),
  };
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined; // written by something else than pino: kept as it is
  }
}

/** Milliseconds, or a text with `stdTimeFunctions.isoTime`. */
function toTime(time: unknown): number {
  const timeMs = typeof time === 'string' ? Date.parse(time) : Number(time);
  return Number.isFinite(timeMs) ? timeMs : Date.now(); // clock: timestamps of records that have none
}

/** A number, or a name with `formatters.level`. */
function toLevel(level: unknown): ServiceLevel {
  if (typeof level === 'number') return LEVELS.find(([number]) => level >= number)?.[1] ?? 'trace';
  return LEVELS.find(([, name]) => name === level)?.[1] ?? (level === 'trace' ? 'trace' : 'info');
}
