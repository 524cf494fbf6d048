import { contextJson, exactJson } from '@porthole/contract';
import { type Level, splitMembers, type Zone } from '@porthole/logs';
import { escapeRegex } from '@porthole/logs/query';
import type { RecordFormat } from '../flag-checks.ts';
import { formatInstant, formatTime } from './format-units.ts';
import type { PrintableRecord } from './record-layout.ts';
import { columnText, type RecordLayout } from './record-layout.ts';
import type { Colors } from './terminal.ts';
import { visibleJson, visibleText } from './visible-text.ts';

export interface RecordStyle {
  format: RecordFormat;
  colors: Colors;
  zone: Zone;
  /** Whether stdout is a terminal; then control characters are escaped. */
  isTty: boolean;
  /** Whether to print the file name before each record. */
  prefix: boolean;
  /** The searched texts, to highlight them. */
  marks: RegExp | undefined;
  /** Instead of `formatRecord`, for formats of columns. */
  layout?: RecordLayout;
  /** The columns of logfmt; all, if absent. */
  columns?: readonly string[] | undefined;
  /** The record given to `logs around`. */
  anchor?: { node: string; cursor: string };
}

/** Formats one record, with its newline. */
export function formatRecord(record: PrintableRecord, style: RecordStyle): string {
  const shown = style.isTty ? visibleJson : String;
  if (style.format === 'json') return `${shown(exactJson(record))}\n`;
  if (style.format === 'logfmt') return `${shown(logfmtText(record, style))}\n`;
  return `${style.prefix ? formatPrefix(record, style) : ''}${style.format === 'raw' ? rawText(record, style) : prettyText(record, style)}\n`;
}

/** What stands before a record: `NODE:FILE` as commands accept it, or only the file for a single node. */
export function formatPrefix(
  { node, file, target = file }: PrintableRecord,
  { colors, format }: Pick<RecordStyle, 'colors' | 'format'>,
): string {
  const paint = node === undefined ? colors.cyan : nodeColor(node, colors);
  return `${paint(visibleText(node === undefined ? target : `${node}:${file}`))}${format === 'raw' ? ':' : ' '}`;
}

function rawText({ raw, message }: PrintableRecord, { isTty }: RecordStyle): string {
  const text = raw ?? message;
  return isTty ? visibleText(text) : text;
}

function prettyText(record: PrintableRecord, style: RecordStyle): string {
  const { level, source, tags = [], message, cut, bytes } = record;
  const { colors } = style;
  const context = contextJson(withoutRepetition(record));
  const [firstLine = '', ...lines] = visibleText(message).split('\n');
  const parts = [
    timeText(record, style),
    levelText(level, colors),
    tags.length > 0 ? colors.cyan(visibleText(tags.map((tag) => `[${tag}]`).join(' '))) : undefined,
    marked(firstLine, style),
    context === undefined ? undefined : marked(visibleText(context), { ...style, plain: colors.dim }),
    source === undefined ? undefined : colors.dim(visibleText(source)),
  ];
  const first = parts.filter((part) => part !== undefined).join(' ');
  const rest = cut ? colors.dim(` ... (${bytes} bytes in all)`) : '';
  return [first, ...lines.map((line) => marked(line, style))].join('\n') + rest;
}

/** The message of an access log is most of its line: of the context, only what is not in it is shown. */
function withoutRepetition(record: PrintableRecord): Pick<PrintableRecord, 'context' | 'contextText'> {
  const { context, contextText, message } = record;
  if (!context || contextText !== undefined || !ACCESS_KEYS.every((key) => Object.hasOwn(context, key))) return record;
  const rest = Object.entries(context).filter(([, value]) => !message.includes(String(value)));
  return rest.length === 0 ? {} : { context: Object.fromEntries(rest) };
}

/** What the context of every access log has. */
const ACCESS_KEYS = ['method', 'uri', 'status'] as const;

/** For several nodes, the corrected time followed by `~` if the order is uncertain or `>` for the anchor. */
function timeText(record: PrintableRecord, { colors, zone, anchor }: RecordStyle): string | undefined {
  const { timeMs, node, cursor, atMs = timeMs, isUnsure } = record;
  if (atMs === undefined) return undefined;
  const time = colors.dim(formatTime(atMs, zone));
  if (node === undefined) return time;
  if (anchor?.node === node && anchor.cursor === cursor) return `${time}${colors.bold('>')}`;
  return `${time}${isUnsure ? '~' : ' '}`;
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

/** Splitting a text by it puts every match at an odd index. */
export function marksPattern(texts: readonly string[], isCaseSensitive: boolean): RegExp | undefined {
  if (texts.length === 0) return undefined;
  const patterns = texts.map((text) => escapeRegex(visibleText(text)));
  return new RegExp(`(${patterns.join('|')})`, isCaseSensitive ? 'u' : 'iu');
}

function logfmtText(record: PrintableRecord, { zone, columns }: RecordStyle): string {
  if (columns) {
    const chosen = columns.map((name) => [name, columnText(record, name, zone)] as const);
    return chosen
      .flatMap(([name, text]) => (text === undefined ? [] : [logfmtPair(name, logfmtValue(text))]))
      .join(' ');
  }
  const { timeMs, atMs = timeMs, level, source, tags = [], message, node, file, target = file, cut } = record;
  const pairs: [string, unknown][] = [
    ['time', atMs === undefined ? undefined : formatInstant(atMs, zone)],
    ['level', level?.toLowerCase()],
    ['node', node],
    ['file', target],
    ['source', source],
    ['component', tags.length > 0 ? tags.join(' ') : undefined],
    ['msg', message],
    ...(cut ? [['cut', true] satisfies [string, unknown]] : []),
  ];
  return pairs
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => logfmtPair(key, logfmtValue(value)))
    .concat(contextPairs(record))
    .join(' ');
}

/** In the order of the log, with numbers as written. */
function contextPairs({ context = {}, contextText }: Pick<PrintableRecord, 'context' | 'contextText'>): string[] {
  if (contextText === undefined)
    return Object.entries(context).map(([key, value]) => logfmtPair(key, logfmtValue(value)));
  return splitMembers(contextText).map(({ key, valueText }) => {
    const isString = valueText.startsWith('"');
    return logfmtPair(key, isString ? logfmtValue(JSON.parse(valueText)) : quotedWhereNeeded(valueText));
  });
}

function logfmtPair(key: string, value: string): string {
  return `${key.replace(/[\s="\p{Cc}]/gu, '_')}=${value}`;
}

function logfmtValue(value: unknown): string {
  return quotedWhereNeeded(typeof value === 'string' ? value : JSON.stringify(value));
}

function quotedWhereNeeded(text: string): string {
  return /^[^\s="\\\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text);
}

/** Without red and yellow, which mark levels. */
const PAINTS = [
  'cyan',
  'green',
  'magenta',
  'blue',
  'cyanBright',
  'greenBright',
  'magentaBright',
  'blueBright',
] as const;

/** The colour depends on the id alone, so it never changes. */
function nodeColor(id: string, colors: Colors): (text: string) => string {
  let hash = 0x811c9dc5;
  for (const letter of id) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return colors[PAINTS[(hash >>> 0) % PAINTS.length] ?? 'cyan'];
}
