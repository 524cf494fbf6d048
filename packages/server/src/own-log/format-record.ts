import { types } from 'node:util';
import { unicodeEscape } from '@porthole/contract';
import type { Zone } from '@porthole/logs';

/** Readers split lines at 64 KiB or earlier; a record with its line feed stays well below. */
export const MAX_RECORD_BYTES = 16 * 1024;

const MAX_LABEL_BYTES = 128;

/** Half of a record, so that a long message leaves room for the context. */
const MAX_MESSAGE_BYTES = MAX_RECORD_BYTES / 2;

export interface RecordFields {
  /** As in the file, in the time zone of the log. */
  readonly time: string;
  readonly level: ServiceLevel;
  /** Empty: the column is left out. */
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
  const site = source === '' ? '' : `${source}\t`;
  const line = `${time}\t${level.toUpperCase()}\t${site}${labels}: ${text}`;
  if (context === undefined || context === null) return `${line}\n`;
  const json = renderContext(context, MAX_RECORD_BYTES - Buffer.byteLength(line) - '\t\n'.length);
  return json === '' ? `${line}\n` : `${line}\t${json}\n`;
}

function label(name: string): string {
  return `[${encodeWithin(toText(name), MAX_LABEL_BYTES, escapeLabel)}]`;
}

/** From the least to the most severe. The file has them in upper case. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The levels of services: the node itself needs no more than the above. */
export type ServiceLevel = 'trace' | LogLevel | 'fatal';

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export function isAtLeast(level: LogLevel, minimum: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(minimum);
}

/** Deeper values are object graphs, which are of no use in a log line. */
const MAX_DEPTH = 8;

const MAX_KEY_BYTES = 256;

/** No entry is started with less space: enough for a short key and the marker of a cut value. */
const MIN_ENTRY_BYTES = 64;

/** Reserved for closing brackets, the "more" marker at each depth and one last cut key and value. */
const SLACK_BYTES = MAX_DEPTH * 40 + 256;

/** Two brackets and a comma: empty lists must not be free. */
const BRACKETS_BYTES = 3;

/** Non-enumerable properties of errors, in reading order; the stack comes last as it is the longest. */
const ERROR_KEYS: readonly string[] = ['name', 'message', 'code'];
const LATE_ERROR_KEYS: readonly string[] = ['cause', 'errors', 'stack'];

interface Rendering {
  remainingBytes: number;
  /** The objects around the current value, to detect cycles. */
  readonly around: object[];
}

/**
 * The context as a JSON object of at most `maxBytes` on one line, or '' if it is empty. Never throws: values that JSON does
 * not support are described, values that throw are marked as unreadable, and what does not fit is counted.
 */
function renderContext(context: unknown, maxBytes: number): string {
  const state: Rendering = { remainingBytes: maxBytes - SLACK_BYTES, around: [] };
  const json = renderValue(context, state);
  if (json === '{}' || json === undefined) return '';
  return json.startsWith('{') ? json : `{"value":${json}}`;
}

/** undefined: the value is undefined and left out. */
function renderValue(value: unknown, state: Rendering): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return undefined;
    case 'string':
      return spend(encodeWithin(value, Math.max(MIN_ENTRY_BYTES / 2, state.remainingBytes), quoteJson), state);
    case 'number':
      return spend(Number.isFinite(value) ? String(value) : `"${value}"`, state);
    case 'boolean':
      return spend(String(value), state);
    case 'bigint':
      return renderValue(value.toString(), state);
    case 'symbol':
      return renderValue(String(value), state);
    case 'function':
      return renderValue('[function]', state);
    case 'object':
      return value === null ? spend('null', state) : renderObject(value, state);
  }
}

function renderObject(value: object, state: Rendering): string | undefined {
  if (state.around.includes(value)) return renderValue('[circular]', state);
  if (state.around.length >= MAX_DEPTH) return renderValue('[nested deeper]', state);
  state.around.push(value);
  try {
    return renderContent(value, state);
  } catch (thrown) {
    return renderValue(unreadable(thrown), state);
  } finally {
    state.around.pop();
  }
}

function renderContent(value: object, state: Rendering): string | undefined {
  if (ArrayBuffer.isView(value)) return renderValue(`[${value.byteLength} bytes]`, state);
  if (types.isNativeError(value) || value instanceof Error) return renderEntries(value, errorKeys(value), state);
  const toJson: unknown = Reflect.get(value, 'toJSON');
  if (typeof toJson === 'function') {
    const plain: unknown = Reflect.apply(toJson, value, ['']);
    // An object whose `toJSON` returns itself is then rendered like any other.
    if (plain !== value) return renderPlain(plain, state);
  }
  return renderPlain(value, state);
}

function renderPlain(value: unknown, state: Rendering): string | undefined {
  if (typeof value !== 'object' || value === null) return renderValue(value, state);
  if (Array.isArray(value)) return renderItems(value, state);
  if (value instanceof Set || value instanceof Map) return renderItems([...value], state);
  return renderEntries(value, Object.keys(value), state);
}

function renderItems(items: readonly unknown[], state: Rendering): string {
  state.remainingBytes -= BRACKETS_BYTES;
  const parts: string[] = [];
  for (let index = 0; index < items.length; index += 1) {
    if (state.remainingBytes < MIN_ENTRY_BYTES) {
      parts.push(`"(+${items.length - index} more)"`);
      break;
    }
    parts.push(renderProperty(items, String(index), state) ?? spend('null', state));
  }
  return `[${parts.join(',')}]`;
}

function renderEntries(holder: object, keys: readonly string[], state: Rendering): string {
  state.remainingBytes -= BRACKETS_BYTES;
  const parts: string[] = [];
  for (const [index, key] of keys.entries()) {
    if (state.remainingBytes < MIN_ENTRY_BYTES) {
      parts.push(`"…":"(+${keys.length - index} more)"`);
      break;
    }
    const name = encodeWithin(key, Math.min(MAX_KEY_BYTES, state.remainingBytes), quoteJson);
    const value = renderProperty(holder, key, state);
    if (value !== undefined) parts.push(spend(`${name}:`, state) + value);
  }
  return `{${parts.join(',')}}`;
}

function renderProperty(holder: object, key: string, state: Rendering): string | undefined {
  let value: unknown;
  try {
    value = Reflect.get(holder, key);
  } catch (thrown) {
    value = unreadable(thrown);
  }
  return renderValue(value, state);
}

function errorKeys(error: object): string[] {
  return [...new Set([...ERROR_KEYS, ...Object.keys(error), ...LATE_ERROR_KEYS])];
}

function unreadable(thrown: unknown): string {
  return `[unreadable: ${toText(thrown)}]`;
}

/** The text of any value, even if `toString` throws. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return String(value);
  } catch {
    return '[unreadable]'; // a `toString` of the host program failed: the record is written all the same
  }
}

function spend(json: string, state: Rendering): string {
  state.remainingBytes -= Buffer.byteLength(json) + 1;
  return json;
}

/**
 * Characters that could end a line or column, control a terminal or reorder text: C0, DEL, C1, line and paragraph
 * separators, bidirectional controls. Also lone surrogates, which have no UTF-8 form.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u;
const EVERY_UNSAFE = new RegExp(UNSAFE, 'gu');

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;

/** Maximum bytes of one escaped code unit: `\u001b`. */
const MAX_ENCODED_BYTES = 6;

/** Text that stays within one column of one line. Backslashes are not escaped, so paths and patterns remain readable. */
export function escapeText(text: string): string {
  return UNSAFE.test(text) ? text.replace(EVERY_UNSAFE, escapeChar) : text;
}

/** Text between square brackets, which it cannot close. */
function escapeLabel(text: string): string {
  const safe = escapeText(text);
  return safe.includes('[') || safe.includes(']') ? safe.replace(/[[\]]/g, escapeChar) : safe;
}

/** A JSON string that is also safe as part of a column: JSON itself escapes only C0 and lone surrogates. */
function quoteJson(text: string): string {
  return escapeText(JSON.stringify(text));
}

/** The encoded text, cut to `maxBytes` of UTF-8, with the number of omitted characters at its end. */
function encodeWithin(text: string, maxBytes: number, encode: (text: string) => string): string {
  if (text.length <= maxBytes) {
    const whole = encode(text);
    if (whole.length * MAX_UTF8_BYTES <= maxBytes || Buffer.byteLength(whole) <= maxBytes) return whole;
  }
  let keep = Math.min(text.length, Math.max(0, maxBytes));
  for (;;) {
    if (isHighSurrogate(text.charCodeAt(keep - 1))) keep -= 1;
    const encoded = encode(`${text.slice(0, keep)}…(+${text.length - keep} chars)`);
    const bytes = Buffer.byteLength(encoded);
    if (bytes <= maxBytes || keep <= 0) return encoded;
    const shrunk = Math.floor((keep * maxBytes) / bytes);
    keep = Math.max(0, Math.min(shrunk, keep - Math.ceil((bytes - maxBytes) / MAX_ENCODED_BYTES)));
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function escapeChar(char: string): string {
  return SHORT_ESCAPES[char] ?? unicodeEscape(char);
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/;

/** Local time of a zone, as in log files: `YYYY-MM-DD hh:mm:ss.mmm`. */
export interface LocalTime {
  format(timeMs: number): string;
  /** Epoch milliseconds of a formatted time; the earlier one if a clock change repeats it. */
  parse(text: string): number | undefined;
}

export function createLocalTime(zone: Zone): LocalTime {
  return {
    format: createSecondCache((timeMs) => formatTime(timeMs + zone.offsetMsAt(timeMs))),
    parse: (text) => {
      if (!LOCAL_TIME.test(text)) return undefined;
      const localMs = Date.parse(`${text.replace(' ', 'T')}Z`);
      return Number.isNaN(localMs) ? undefined : zone.toEpochMs(localMs);
    },
  };
}

/** Caches the current second: within it only the milliseconds differ. */
function createSecondCache(format: (timeMs: number) => string): (timeMs: number) => string {
  let cachedSecond = Number.NaN;
  let cachedText = '';
  return (timeMs) => {
    const second = Math.floor(timeMs / 1000);
    if (second !== cachedSecond) {
      cachedText = format(second * 1000).slice(0, -'000'.length);
      cachedSecond = second;
    }
    return cachedText + String(Math.floor(timeMs - second * 1000)).padStart(3, '0');
  };
}

function formatTime(localMs: number): string {
  const iso = new Date(localMs).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}
