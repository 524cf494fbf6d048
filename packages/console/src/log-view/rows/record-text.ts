import { contextJson, type Level, showHidden } from '@porthole/client';
import type { Row, TextMatcher, TextRange } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';

/* Records as text: for the clipboard, the plain view and files; and for display. */

/** Characters of a record rendered in the list. The details show all of it. */
export const SHOWN_CHARACTERS = 2048;

/** Bidirectional control characters, which can make a line appear to say something else. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Replaces invisible and control characters by symbols of the same length, so that offsets stay valid. */
export function visibleText(text: string): string {
  return showHidden(text, visibleSymbol);
}

export function oneLine(text: string): string {
  return text.replaceAll('\r\n', '↵').replaceAll('\n', '↵');
}

/** Context fields and tags of the record. */
export function contextText(record: Pick<ShownRecord, 'context' | 'contextText'>): string {
  return contextJson(record) ?? '';
}

/** More pairs have no room in a row. */
const MAX_PAIRS = 24;

/** The context as people read it: `db=orders cost="2 s" user.id=7`. */
export function pairsText(record: Pick<ShownRecord, 'context' | 'contextText'>): string {
  const { context } = record;
  if (typeof context !== 'object' || context === null) return contextText(record);
  const pairs: string[] = [];
  addPairs(context as Readonly<Record<string, unknown>>, '', pairs);
  return pairs.join(' ');
}

function addPairs(values: Readonly<Record<string, unknown>>, prefix: string, pairs: string[]): void {
  for (const [name, value] of Object.entries(values)) {
    if (pairs.length >= MAX_PAIRS) return;
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isNested) addPairs(value as Readonly<Record<string, unknown>>, `${prefix}${name}.`, pairs);
    else pairs.push(`${prefix}${name}=${pairValue(value)}`);
  }
}

function pairValue(value: unknown): string {
  return typeof value === 'string' && value !== '' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
}

/** The component that wrote a record: `Storage WAL`. */
export function componentText({ tags }: Pick<ShownRecord, 'tags'>): string {
  return tags?.slice(0, MAX_TAGS).join(' ') ?? '';
}

/** More have no room. */
const MAX_TAGS = 5;

function tagsText({ tags }: Pick<ShownRecord, 'tags'>): string {
  return tags?.map((tag) => `[${tag}]`).join(' ') ?? '';
}

/** The time to show: by the clock of the queried node, if known. */
export function recordTime({ atMs, timeMs }: Pick<ShownRecord, 'atMs' | 'timeMs'>): number | undefined {
  return atMs ?? timeMs;
}

/** A record as a line of Porthole's own log format, prefixed with its node if there are several. */
export function recordLine(record: ShownRecord, { withNode }: { withNode: boolean }): string {
  const timeMs = recordTime(record);
  const parts = [
    timeMs === undefined ? '' : new Date(timeMs).toISOString(),
    withNode ? record.node : '',
    record.level ?? '',
    record.source ?? '',
    tagsText(record),
    record.message,
    contextText(record),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** A record exactly as it is in its file: uncorrected time, complete text. */
export function rawLine(record: ShownRecord): string {
  return record.raw ?? recordLine(record, { withNode: false });
}

/** A row for the clipboard: the raw line, prefixed with its node if there are several, like the CLI. */
export function rowLine(row: Row, { withNode }: { withNode: boolean }): string {
  if (row.kind !== 'record') return `--- ${row.text} ---`;
  return withNode ? `${row.record.node}:${rawLine(row.record)}` : rawLine(row.record);
}

/** The text of a wrapped row, to estimate its height. */
export function drawnText({ message, ...rest }: Pick<ShownRecord, 'message' | 'context' | 'contextText'>): string {
  const context = pairsText(rest);
  return (context ? `${message} ${context}` : message).slice(0, SHOWN_CHARACTERS);
}

/** Bytes of the record that the list does not render; 0 if it renders all of them. */
export function hiddenBytes(
  record: Pick<ShownRecord, 'message' | 'context' | 'contextText' | 'bytes' | 'cut'>,
): number {
  const length = record.message.length + contextText(record).length;
  if (record.cut) return Math.max(1, record.bytes - SHOWN_CHARACTERS);
  return length > SHOWN_CHARACTERS + 1 ? length - SHOWN_CHARACTERS : 0;
}

/** Style of a row by level. */
export function levelTone(level: Level | undefined): 'fatal' | 'error' | 'warning' | 'plain' | 'quiet' {
  if (level === 'FATAL') return 'fatal';
  if (level === 'ERROR') return 'error';
  if (level === 'WARN') return 'warning';
  return level === 'DEBUG' || level === 'TRACE' ? 'quiet' : 'plain';
}

function visibleSymbol(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  if (code < 0xa0 || (code >= 0xd800 && character.length === 1 && code < 0xe000)) return '�';
  return BIDI.test(character) ? '⇄' : '◌'.repeat(character.length);
}

/* Splits a text into pieces of one style. */

interface TextPiece {
  /** Text with control and bidi characters made visible. */
  text: string;
  /** Classes for terminal colours. */
  classes: string;
  /** Custom properties for colours without a class. */
  colours?: AnsiColours;
  isMatch: boolean;
  /** A number or another value within the message: tinted, so that what changes is seen. */
  isValue?: boolean;
}

/** Limits the elements of a line that is full of matches or colours. */
const MAX_MARKS = 12;
const MAX_SEGMENTS = 24;
const MAX_VALUES = 12;

/** Numbers with their units, times, addresses, hex: a word that begins with a digit. */
const VALUE = /(?<![\w.])\d[\w.:,%-]*\w|(?<![\w.])\d/g;

/** Terminal colours become classes and matches become pieces; matching runs on the visible text. */
export function textPieces(text: string, matcher: TextMatcher | null): TextPiece[] {
  const segments = bounded(ansiSegments(text));
  const whole = segments.map((segment) => segment.text).join('');
  const marks = matcher ? matcher(whole).slice(0, MAX_MARKS) : [];
  const pieces: TextPiece[] = [];
  let start = 0;
  let valuesLeft = MAX_VALUES;
  for (const segment of segments) {
    const end = start + segment.text.length;
    for (const part of cut({ start, end }, marks)) {
      const style = {
        classes: segment.classes.join(' '),
        isMatch: part.isMatch,
        ...(segment.colours && { colours: segment.colours }),
      };
      const isPlain = !part.isMatch && style.classes === '' && valuesLeft > 0;
      const values = isPlain ? valueRanges(whole, part).slice(0, valuesLeft) : [];
      valuesLeft -= values.length;
      for (const { start: from, end: to, isMatch: isValue } of cut(part, values))
        pieces.push({ text: visibleText(whole.slice(from, to)), ...style, ...(isValue && { isValue }) });
    }
    start = end;
  }
  return pieces;
}

function valueRanges(text: string, { start, end }: TextRange): TextRange[] {
  const found = text.slice(start, end).matchAll(VALUE);
  return Array.from(found, ({ 0: value, index }) => ({ start: start + index, end: start + index + value.length }));
}

function cut({ start, end }: TextRange, marks: readonly TextRange[]): (TextRange & { isMatch: boolean })[] {
  const parts: (TextRange & { isMatch: boolean })[] = [];
  let done = start;
  for (const mark of marks) {
    const from = Math.max(done, mark.start);
    const to = Math.min(end, mark.end);
    if (to <= from) continue;
    if (from > done) parts.push({ start: done, end: from, isMatch: false });
    parts.push({ start: from, end: to, isMatch: true });
    done = to;
  }
  if (done < end) parts.push({ start: done, end, isMatch: false });
  return parts;
}

function bounded(segments: ReturnType<typeof ansiSegments>): ReturnType<typeof ansiSegments> {
  if (segments.length <= MAX_SEGMENTS) return segments;
  const rest = segments.slice(MAX_SEGMENTS).map(({ text }) => text);
  return [...segments.slice(0, MAX_SEGMENTS), { text: rest.join(''), classes: [] }];
}

/**
 * A run of text with one style. `classes` contains class names of the page's own style, never anything from the text;
 * `colours` are values for the custom properties that `ansi-rgb` and `ansi-fill` use, built from numbers.
 */
interface AnsiSegment {
  text: string;
  classes: readonly string[];
  colours?: Readonly<AnsiColours>;
}

/** `#rrggbb` each. */
interface AnsiColours {
  '--ansi'?: string;
  '--ansi-fill'?: string;
}

/**
 * Terminal escape sequences: CSI, OSC (titles, links) and single ones, also with their one-byte introducers. Linear
 * time: no part can match in two ways.
 */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g;

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** Backgrounds are drawn as a tint only, so they need not be theme colours. */
const FILLS: Readonly<Record<string, string>> = {
  black: '#000000',
  red: '#cd3131',
  green: '#0dbc79',
  yellow: '#e5e510',
  blue: '#2472c8',
  magenta: '#bc3fbc',
  cyan: '#11a8cd',
  white: '#e5e5e5',
};

interface AnsiStyle {
  /** One of the eight colours by name, others as `#rrggbb`. */
  colour: string | null;
  /** Background, always as `#rrggbb`. */
  fill: string | null;
  classes: readonly string[];
}

const PLAIN: AnsiStyle = { colour: null, fill: null, classes: [] };

/** The codes that turn a style on, and the one that turns it off. */
const STYLES = [
  { on: 1, off: 22, name: 'ansi-bold' },
  { on: 2, off: 22, name: 'ansi-dim' },
  { on: 3, off: 23, name: 'ansi-italic' },
  { on: 4, off: 24, name: 'ansi-underline' },
] as const;

/** The text without escape sequences. */
export function stripAnsi(text: string): string {
  return hasAnsi(text) ? text.replace(ESCAPES, '') : text;
}

function hasAnsi(text: string): boolean {
  return text.includes('\u001b') || text.includes('\u009b') || text.includes('\u009d');
}

/** Runs of text with the classes `ansi-red`, `ansi-bold` ...; other escape sequences are dropped. */
export function ansiSegments(text: string): AnsiSegment[] {
  if (!hasAnsi(text)) return [{ text, classes: [] }];
  const segments: AnsiSegment[] = [];
  let style = PLAIN;
  let done = 0;
  const add = (end: number) => {
    if (end > done)
      segments.push({ text: text.slice(done, end), classes: styleClasses(style), ...customColours(style) });
  };
  for (const { 0: whole, 1: parameters, 2: command, index } of text.matchAll(ESCAPES)) {
    add(index);
    done = index + whole.length;
    if (command === 'm') style = changed(style, parameters ?? '');
  }
  add(text.length);
  return segments;
}

/** Parameters of one sequence; one with colons has its own arguments, one with semicolons takes those that follow. */
function changed(style: AnsiStyle, parameters: string): AnsiStyle {
  let next = style;
  const groups = parameters.split(';');
  for (let index = 0; index < groups.length; index++) {
    const [code = 0, ...own] = (groups[index] ?? '').split(':').map(Number);
    if (code !== 38 && code !== 48 && code !== 58) {
      next = withCode(next, code === 4 && own[0] === 0 ? 24 : code);
      continue;
    }
    const isOwn = own.length > 0;
    // `38:2::r:g:b` has an empty colour space.
    const args = isOwn ? (own.length > 4 ? [own[0], ...own.slice(2)] : own) : groups.slice(index + 1).map(Number);
    const [kind, ...numbers] = args;
    const colour = kind === 5 ? paletteColour(numbers[0]) : kind === 2 ? rgbText(numbers.slice(0, 3)) : null;
    if (!isOwn) index += kind === 5 ? 2 : kind === 2 ? 4 : 0;
    if (code === 38) next = { ...next, colour };
    if (code === 48) next = { ...next, fill: COLOURS.includes(colour ?? '') ? (FILLS[colour ?? ''] ?? null) : colour };
  }
  return next;
}

/** One of 256 colours: the eight, the eight bright ones, a 6 x 6 x 6 cube, shades of grey. */
function paletteColour(number = Number.NaN): string | null {
  if (!isByte(number)) return null;
  if (number < 16) return COLOURS[number % 8] ?? null;
  if (number >= 232) return rgbText(Array<number>(3).fill(8 + (number - 232) * 10));
  const cube = number - 16;
  return rgbText([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => step && 55 + step * 40));
}

function rgbText(parts: readonly (number | undefined)[]): string | null {
  if (parts.length !== 3 || !parts.every(isByte)) return null;
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function isByte(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0 && value <= 255;
}

function withCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return PLAIN;
  const added = STYLES.find(({ on }) => on === code);
  if (added) return { ...style, classes: [...style.classes.filter((name) => name !== added.name), added.name] };
  const removed: readonly string[] = STYLES.filter(({ off }) => off === code).map(({ name }) => name);
  if (removed.length > 0) return { ...style, classes: style.classes.filter((name) => !removed.includes(name)) };
  if (code === 39) return { ...style, colour: null };
  if (code === 49) return { ...style, fill: null };
  const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
  if (colour !== undefined) return { ...style, colour };
  const fill = FILLS[COLOURS[code >= 100 ? code - 100 : code - 40] ?? ''];
  return fill === undefined ? style : { ...style, fill };
}

function customColours({ colour, fill }: AnsiStyle): Pick<AnsiSegment, 'colours'> {
  const text = colour?.startsWith('#') ? colour : undefined;
  if (text === undefined && fill === null) return {};
  return { colours: { ...(text !== undefined && { '--ansi': text }), ...(fill !== null && { '--ansi-fill': fill }) } };
}

function styleClasses({ colour, fill, classes }: AnsiStyle): string[] {
  return [
    ...(colour === null ? [] : [colour.startsWith('#') ? 'ansi-rgb' : `ansi-${colour}`]),
    ...(fill === null ? [] : ['ansi-fill']),
    ...classes,
  ];
}
