/* Records of random logs, as text of each format. */
import { createZone, type Zone } from '../parse/zone.ts';

export const BERLIN = createZone('Europe/Berlin');

/** A record of any format. */
export interface RecordPiece {
  kind: 'record';
  advanceMs: number;
  /** How much older it is than the newest so far. */
  lateMs: number;
  level: string;
  source: string;
  tag: string;
  words: readonly string[];
  /** As JSON; empty if it has none. */
  context: string;
  more: readonly string[];
  crlf: boolean;
}

export type Style = 'contract' | 'json' | 'glog' | 'iso' | 'text';

export class Clock {
  #nowMs: number;
  readonly #zone: Zone;
  readonly #fixed: boolean;
  readonly #offsetMs: number;

  constructor(beginning: number, { fixed }: { fixed: boolean }) {
    this.#nowMs = beginning;
    this.#zone = BERLIN;
    this.#fixed = fixed;
    this.#offsetMs = BERLIN.offsetMsAt(beginning);
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  /** The wall clock as if it were UTC, and the instant. */
  read(lateMs: number): { wall: string; epochMs: number } {
    const epochMs = this.#nowMs - lateMs;
    const offsetMs = this.#fixed ? this.#offsetMs : this.#zone.offsetMsAt(epochMs);
    return { wall: new Date(epochMs + offsetMs).toISOString().slice(0, -1), epochMs };
  }
}

export const PLAIN: RecordPiece = {
  kind: 'record',
  advanceMs: 0,
  lateMs: 0,
  level: 'INFO',
  source: 'a.go:1',
  tag: '',
  words: [],
  context: '',
  more: [],
  crlf: false,
};

export function renderRecord(record: RecordPiece, style: Style, clock: Clock): Buffer {
  clock.advance(record.advanceMs);
  const { wall, epochMs } = clock.read(record.lateMs);
  const { level, source, tag, words, context, crlf } = record;
  const message = words.join(' ');
  const end = crlf ? '\r\n' : '\n';
  const more = record.more.map((line) => line + end).join('');
  const day = wall.slice(0, 10);
  const time = wall.slice(11);
  switch (style) {
    case 'contract': {
      const columns = [`${day} ${time}`, level, source, (tag && `[${tag}]: `) + message].filter(
        (column) => column !== '',
      );
      return Buffer.from(columns.join('\t') + (context && `\t${context}`) + end + more);
    }
    case 'json':
      return Buffer.from(
        JSON.stringify({
          ts: epochMs / 1000,
          level: level.toLowerCase(),
          caller: source,
          logger: tag,
          msg: message,
        }).slice(0, -1) +
          (context && `,${context.slice(1, -1)}`) +
          `}${end}`,
      );
    case 'glog':
      return Buffer.from(
        `${level[0] === 'E' ? 'E' : 'I'}${day.slice(5, 7)}${day.slice(8)} ${time}000 7 ${source || 'z.cc:9'}] ${message}${end}${more}`,
      );
    case 'iso':
      return Buffer.from(`${day}T${time} ${level} ${message}${end}${more}`);
    case 'text':
      return Buffer.from(`${level} ${message}${end}${more}`);
  }
}
