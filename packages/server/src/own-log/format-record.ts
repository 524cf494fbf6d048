import { encodeWithin, escapeLabel, escapeText } from './escape-text.ts';
import { renderContext, toText } from './render-context.ts';

/** Readers split lines at 64 KiB or earlier; a record with its line feed stays well below. */
export const MAX_RECORD_BYTES = 16 * 1024;

const MAX_LABEL_BYTES = 128;

/** Half of a record, so that a long message leaves room for the context. */
const MAX_MESSAGE_BYTES = MAX_RECORD_BYTES / 2;

export interface RecordFields {
  /** As in the file, in the time zone of the log. */
  readonly time: string;
  readonly level: LogLevel;
  readonly source: string;
  readonly component: string;
  readonly tag: string;
  readonly message: string;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

/** One line with its line feed. No field can add a line or a column, or exceed the limit. */
export function formatRecord({ time, level, source, component, tag, message, context }: RecordFields): string {
  const labels = tag === '' ? label(component) : `${label(component)} ${label(tag)}`;
  const text = encodeWithin(toText(message), MAX_MESSAGE_BYTES, escapeText);
  const line = `${time}\t${level.toUpperCase()}\t${source}\t${labels}: ${text}`;
  if (context === undefined || context === null) return `${line}\n`;
  const json = renderContext(context, MAX_RECORD_BYTES - Buffer.byteLength(line) - '\t\n'.length);
  return json === '' ? `${line}\n` : `${line}\t${json}\n`;
}

function label(name: string): string {
  return `[${encodeWithin(toText(name), MAX_LABEL_BYTES, escapeLabel)}]`;
}

/** From the least to the most severe. The file has them in upper case. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export function isAtLeast(level: LogLevel, minimum: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(minimum);
}
