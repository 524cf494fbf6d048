import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { EVENT_LEVELS, type EventKind, isEventKind, parseJson } from '@porthole/contract';
import { expectCode } from '../errors.ts';
import { RotatingLog } from '../own-log/rotating-log.ts';

const FILE_NAME = 'events.log';

/** Files of the log, with the one being written: the oldest is deleted when a new one is begun. */
const FILES = 4;

/** What is read of the last file at the start: what the last run said, and the causes that were reported. */
const TAIL_BYTES = 256 * 1024;

/** Causes that are remembered, so that none is reported twice. */
const MAX_CAUSES = 2000;

export interface EventLogOptions {
  dir: string;
  /** For all files of the log. */
  maxBytes: number;
  now?: () => number;
}

/** What is written of an event. */
export interface EventText {
  kind: EventKind;
  message: string;
  /** When it happened, if that was not now. */
  timeMs?: number;
  /** Events of one cause are the same event: only the first is written. */
  cause?: string;
  fields?: Readonly<Record<string, unknown>>;
}

/** An event as it is in the file. */
export interface WrittenEvent {
  timeMs: number;
  kind: EventKind;
  fields: Readonly<Record<string, unknown>>;
}

/** The events of a node: JSON lines in a directory that the engine reads like any log. Survives a kill at any moment. */
export class EventLog {
  readonly #log: RotatingLog;
  readonly #now: () => number;
  readonly #causes: Set<string>;
  /** What was written since the node has started, by kind. */
  readonly counts = new Map<EventKind, number>();
  /** The newest events of earlier runs, oldest first. */
  readonly past: readonly WrittenEvent[];

  private constructor(log: RotatingLog, { past, now }: { past: readonly WrittenEvent[]; now: () => number }) {
    this.#log = log;
    this.#now = now;
    this.past = past;
    this.#causes = new Set(past.flatMap(({ fields: { cause } }) => (typeof cause === 'string' ? [cause] : [])));
  }

  // clock: times of events
  static async open({ dir, maxBytes, now = Date.now }: EventLogOptions): Promise<EventLog> {
    // What cannot be read cannot be written either, which is the problem of the log.
    const tail = await readTail(join(dir, FILE_NAME)).catch(expectCode);
    const past = (tail ?? []).flatMap((line) => parseEvent(line) ?? []);
    const describe = (dropped: number) =>
      formatEvent({ timeMs: now(), kind: 'started', fields: {} }, `${dropped} events could not be written`, 'WARN');
    const log = await RotatingLog.open({
      dir,
      // Only for the user of the node: events say what is configured.
      dirMode: 0o700,
      fileName: FILE_NAME,
      maxFileBytes: Math.ceil(maxBytes / FILES),
      maxFileAgeMs: 0,
      keepFiles: FILES - 1,
      keepAgeMs: 0,
      gzip: false,
      now,
      parseTime: (head) => timeOf(/"time":"([^"]+)"/.exec(head)?.[1]),
      describeDrops: describe,
    });
    return new EventLog(log, { past, now });
  }

  /** Why events are not written now; `undefined` if they are. */
  get problem(): string | undefined {
    const { isFailing, lastError } = this.#log.stats();
    return isFailing ? lastError : undefined;
  }

  /**
   * Writes an event, unless its cause has been reported, and returns whether it was not. Never throws and does not wait for
   * the disk.
   */
  write({ kind, message, timeMs = this.#now(), cause, fields = {} }: EventText): boolean {
    if (cause !== undefined && !this.#isFirst(cause)) return false;
    const event = { timeMs, kind, fields: cause === undefined ? fields : { ...fields, cause } };
    this.#log.write(formatEvent(event, message, EVENT_LEVELS[kind]));
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    return true;
  }

  /** Resolves when everything is written, or an attempt to do so has failed. */
  flush(): Promise<void> {
    return this.#log.flush();
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #isFirst(cause: string): boolean {
    if (this.#causes.has(cause)) return false;
    this.#causes.add(cause);
    const [oldest] = this.#causes;
    if (this.#causes.size > MAX_CAUSES && oldest !== undefined) this.#causes.delete(oldest);
    return true;
  }
}

function formatEvent({ timeMs, kind, fields }: WrittenEvent, message: string, level: string): string {
  const time = new Date(timeMs).toISOString();
  return `${JSON.stringify({ time, level, message, kind, ...fields })}\n`;
}

/** `undefined`: not an event. A line may be cut by a crash, and others may write to the disk. */
function parseEvent(line: string): WrittenEvent | undefined {
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null) return undefined;
  const { time, kind, level: _level, message: _message, ...fields } = value as Record<string, unknown>;
  const timeMs = timeOf(time);
  return isEventKind(kind) && timeMs !== undefined ? { timeMs, kind, fields } : undefined;
}

function timeOf(text: unknown): number | undefined {
  const timeMs = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isFinite(timeMs) ? timeMs : undefined;
}

/** The complete lines at the end of a file. */
async function readTail(path: string): Promise<string[]> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    return lines.slice(from === 0 ? 0 : 1, -1);
  } finally {
    await handle.close();
  }
}
