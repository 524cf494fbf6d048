import type { FoundRecord, Level, Zone } from '@porthole/logs';
import { showInstant, showTime } from './show-time.ts';
import type { Colors } from './terminal.ts';
import { visibleJson, visibleText } from './visible-text.ts';

export type RecordFormat = 'pretty' | 'raw' | 'json' | 'logfmt';

export interface RecordStyle {
  format: RecordFormat;
  colors: Colors;
  zone: Zone;
  /** Whether a terminal shows it, so that nothing in it may reach the terminal as a command. */
  isTty: boolean;
  /** Whether each record tells its file. */
  prefix: boolean;
  /** Texts that were looked for. */
  marks: RegExp | undefined;
}

/** One record as the user wants to see it, with its newline. */
export function recordText(record: FoundRecord, style: RecordStyle, label = record.file): string {
  const shown = style.isTty ? visibleJson : String;
  if (style.format === 'json') return `${shown(JSON.stringify(record))}\n`;
  if (style.format === 'logfmt') return `${shown(logfmtText(record, style))}\n`;
  const prefix = style.prefix ? `${style.colors.cyan(visibleText(label))}${style.format === 'raw' ? ':' : ' '}` : '';
  return `${prefix}${style.format === 'raw' ? rawText(record, style) : prettyText(record, style)}\n`;
}

function rawText({ raw, message }: FoundRecord, { isTty }: RecordStyle): string {
  const text = raw ?? message;
  return isTty ? visibleText(text) : text;
}

function prettyText(record: FoundRecord, style: RecordStyle): string {
  const { timeMs, level, source, tags = [], message, context, cut, bytes } = record;
  const { colors, zone } = style;
  const [firstLine = '', ...lines] = visibleText(message).split('\n');
  const parts = [
    timeMs === undefined ? undefined : colors.dim(showTime(timeMs, zone)),
    levelText(level, colors),
    tags.length > 0 ? colors.cyan(visibleText(tags.map((tag) => `[${tag}]`).join(' '))) : undefined,
    marked(firstLine, style),
    context && marked(visibleText(JSON.stringify(context)), { ...style, plain: colors.dim }),
    source === undefined ? undefined : colors.dim(visibleText(source)),
  ];
  const first = parts.filter((part) => part !== undefined).join(' ');
  const rest = cut ? colors.dim(` ... (${bytes} bytes in all)`) : '';
  return [first, ...lines.map((line) => marked(line, style))].join('\n') + rest;
}

function levelText(level: Level | undefined, colors: Colors): string | undefined {
  if (level === undefined) return undefined;
  const word = level.padEnd(5);
  if (level === 'FATAL' || level === 'ERROR') return colors.bold(colors.red(word));
  if (level === 'WARN') return colors.bold(colors.yellow(word));
  return level === 'INFO' ? word : colors.dim(word);
}

function marked(
  text: string,
  { marks, colors, plain = String }: RecordStyle & { plain?: (text: string) => string },
): string {
  if (!marks || !colors.isColorSupported) return plain(text);
  const parts = text.split(marks);
  return parts.map((part, index) => (index % 2 === 1 ? colors.inverse(part) : plain(part))).join('');
}

/** Every second part of a text split by it is one of the texts. */
export function marksOf(texts: readonly string[], isCaseSensitive: boolean): RegExp | undefined {
  if (texts.length === 0) return undefined;
  const patterns = texts.map((text) => visibleText(text).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
  return new RegExp(`(${patterns.join('|')})`, isCaseSensitive ? 'u' : 'iu');
}

function logfmtText(
  { timeMs, level, source, tags = [], message, context = {}, file, cut }: FoundRecord,
  { zone }: RecordStyle,
): string {
  const pairs: [string, unknown][] = [
    ['time', timeMs === undefined ? undefined : showInstant(timeMs, zone)],
    ['level', level?.toLowerCase()],
    ['file', file],
    ['source', source],
    ['component', tags.length > 0 ? tags.join(' ') : undefined],
    ['msg', message],
    ...(cut ? [['cut', true] satisfies [string, unknown]] : []),
    ...Object.entries(context),
  ];
  return pairs
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key.replace(/[\s="\p{Cc}]/gu, '_')}=${logfmtValue(value)}`)
    .join(' ');
}

function logfmtValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s="\\\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text);
}
