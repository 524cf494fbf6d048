import type { FormatOptions } from '../../format.ts';
import { wallClockMs } from '../../timestamp.ts';
import { isDigit, SPACE, skipDigits, skipLetters, startsWith } from '../tokens/byte-scan.ts';
import { offsetMs, offsetWidth, type ReadTime, readMonthName } from '../tokens/iso-time.ts';
import { createDatelessClock, createYearlessClock } from '../tokens/partial-times.ts';
import { readTimeToken } from '../tokens/value-tokens.ts';
import { zoneNameOffset } from '../tokens/zone-names.ts';

/** Reads a time at `start`. One reader serves one file: the options say how to complete what a time leaves out. */
export type TimeReader = (bytes: Buffer, start: number, end: number, time: ReadTime) => boolean;

/** The fields of a time while it is read. One object is reused. */
interface Fields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
  /** 0 for AM, 12 for PM, -1 if the clock has 24 hours. */
  halfDay: number;
  /** `NaN` if the time has no zone. */
  offsetMs: number;
}

/** Reads one element at `at` into the fields; returns the position after it, negative if it is not there. */
type Element = (bytes: Buffer, at: number, end: number, fields: Fields) => number;

/** A number of `least` to `most` digits; `mayPad` allows a space instead of a leading zero. */
function numberElement(
  key: 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second',
  least: number,
  most: number,
): Element {
  return (bytes, at, end, fields) => {
    const from = least === 1 && at < end && bytes[at] === SPACE ? at + 1 : at;
    const limit = Math.min(end, at + most);
    let value = 0;
    let to = from;
    for (; to < limit && isDigit(bytes[to]); to++) value = value * 10 + (bytes[to] ?? 48) - 48;
    if (to === from || to - at < least) return -1;
    fields[key] = key === 'year' && most === 2 ? 2000 + value : value;
    return to;
  };
}

function readFraction(bytes: Buffer, at: number, end: number, fields: Fields): number {
  let scale = 100;
  let to = at;
  fields.ms = 0;
  for (; to < end && isDigit(bytes[to]); to++) {
    fields.ms += ((bytes[to] ?? 48) - 48) * scale;
    scale = Math.floor(scale / 10);
  }
  return to === at ? -1 : to;
}

function readMonth(bytes: Buffer, at: number, end: number, fields: Fields): number {
  fields.month = readMonthName(bytes, at, end);
  return fields.month === 0 ? -1 : skipLetters(bytes, at, end);
}

function readWeekday(bytes: Buffer, at: number, end: number): number {
  const to = skipLetters(bytes, at, end);
  return to - at < 2 ? -1 : to;
}

function readHalfDay(bytes: Buffer, at: number, end: number, fields: Fields): number {
  if (at + 2 > end || ((bytes[at + 1] ?? 0) | 0x20) !== 109) return -1;
  const letter = (bytes[at] ?? 0) | 0x20;
  if (letter !== 97 && letter !== 112) return -1;
  fields.halfDay = letter === 112 ? 12 : 0;
  return at + 2;
}

/** `Z`, `±hhmm` and the like, or an abbreviation; one that is ambiguous leaves the zone to the options. */
function readZone(bytes: Buffer, at: number, end: number, fields: Fields): number {
  const width = offsetWidth(bytes, at, end);
  if (width > 0) {
    fields.offsetMs = offsetMs(bytes, at, at + width);
    return at + width;
  }
  const to = skipLetters(bytes, at, end);
  const offset = zoneNameOffset(bytes, at, to);
  if (offset === undefined || isDigit(bytes[to])) return -1;
  fields.offsetMs = offset;
  // `GMT+0100` is written by some runtimes.
  const more = offsetWidth(bytes, to, end);
  if (more === 0) return to;
  fields.offsetMs = offsetMs(bytes, to, to + more);
  return to + more;
}

/** An offset in minutes, as DB2 writes it: `+060`. */
function readMinuteOffset(bytes: Buffer, at: number, end: number, fields: Fields): number {
  const sign = bytes[at];
  if ((sign !== 43 && sign !== 45) || at + 4 > end || skipDigits(bytes, at + 1, at + 4) !== at + 4) return -1;
  const minutes = Number(bytes.toString('latin1', at + 1, at + 4));
  fields.offsetMs = (sign === 45 ? -minutes : minutes) * 60_000;
  return at + 4;
}

const ELEMENTS: Readonly<Record<string, Element>> = {
  yyyy: numberElement('year', 4, 4),
  yy: numberElement('year', 2, 2),
  MMM: readMonth,
  MM: numberElement('month', 2, 2),
  M: numberElement('month', 1, 2),
  dd: numberElement('day', 2, 2),
  d: numberElement('day', 1, 2),
  EEE: readWeekday,
  HH: numberElement('hour', 2, 2),
  H: numberElement('hour', 1, 2),
  mm: numberElement('minute', 2, 2),
  m: numberElement('minute', 1, 2),
  ss: numberElement('second', 2, 2),
  s: numberElement('second', 1, 2),
  S: readFraction,
  a: readHalfDay,
  X: readZone,
  O: readMinuteOffset,
};

function literalElement(text: string): Element {
  const codes = [...Buffer.from(text, 'latin1')];
  return (bytes, at, end) => {
    if (at + codes.length > end) return -1;
    for (let index = 0; index < codes.length; index++) if (bytes[at + index] !== codes[index]) return -1;
    return at + codes.length;
  };
}

function sequence(elements: readonly Element[]): Element {
  return (bytes, start, end, fields) => {
    let at = start;
    for (let index = 0; index < elements.length && at >= 0; index++)
      at = elements[index]?.(bytes, at, end, fields) ?? -1;
    return at;
  };
}

function optional(element: Element): Element {
  return (bytes, at, end, fields) => {
    const to = element(bytes, at, end, fields);
    return to < 0 ? at : to;
  };
}

export class TimeLayoutError extends Error {
  override name = 'TimeLayoutError';
}

/** Whether a layout has no year or no date: when the file was written completes its times. */
export function isPartialTime(layout: string): boolean {
  const fields = layout.replace(/'[^']*'/g, '');
  return layout !== 'epoch' && !(fields.includes('yy') && fields.includes('d'));
}

/** Creates readers of a compiled layout. */
type CreateTimeReader = (options: FormatOptions) => TimeReader;

/** Seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by their digits. */
const EPOCH: CreateTimeReader =
  ({ zone }) =>
  (bytes, start, end, time) => {
    const digitsEnd = skipDigits(bytes, start, end);
    if (digitsEnd === start + 4) return false; // a year
    const fractionEnd = bytes[digitsEnd] === 46 && digitsEnd < end ? skipDigits(bytes, digitsEnd + 1, end) : digitsEnd;
    if (digitsEnd === start + 1 && startsWith(bytes, fractionEnd, end, 'e+09')) {
      // As zap writes seconds by default.
      time.end = fractionEnd + 4;
      time.timeMs = Math.floor(Number(bytes.toString('latin1', start, time.end)) * 1000);
      return !Number.isNaN(time.timeMs);
    }
    time.timeMs = readTimeToken(bytes, start, fractionEnd, zone);
    time.end = fractionEnd;
    return !Number.isNaN(time.timeMs);
  };

/**
 * Compiles a time layout: `yyyy-MM-dd HH:mm:ss[.S][ X]`. Letters stand for fields (`yyyy yy MMM MM M dd d EEE HH H mm m ss s S
 * a X O`), brackets enclose what may be missing, text between apostrophes and everything else stands for itself. `M`, `d`, `H`,
 * `m` and `s` have one or two digits and may be padded with a space; `S` is a fraction of any length; `X` is an offset or the
 * abbreviation of a zone, `O` an offset in minutes. `epoch` is a number of seconds, ms, µs or ns since 1970.
 */
export function compileTimeLayout(layout: string): CreateTimeReader {
  if (layout === 'epoch') return EPOCH;
  const { elements, names } = parseLayout(layout);
  for (const needed of [
    ['HH', 'H'],
    ['mm', 'm'],
  ])
    if (!needed.some((name) => names.has(name)))
      throw new TimeLayoutError(`the time layout ${JSON.stringify(layout)} has no ${needed[0]}`);
  const hasDate = names.has('d') || names.has('dd');
  if (hasDate !== ['MMM', 'MM', 'M'].some((name) => names.has(name)))
    throw new TimeLayoutError(`the time layout ${JSON.stringify(layout)} has only one of day and month`);
  const hasYear = names.has('yyyy') || names.has('yy');
  if (hasYear && !hasDate)
    throw new TimeLayoutError(`the time layout ${JSON.stringify(layout)} has a year, but no day`);
  const read = sequence(elements);
  return (options) => createReader(read, options, { hasDate, hasYear });
}

function parseLayout(layout: string): { elements: Element[]; names: Set<string> } {
  const names = new Set<string>();
  const stack: Element[][] = [[]];
  const add = (element: Element) => stack.at(-1)?.push(element);
  const fields = /'[^']*'|yyyy|yy|MMM|MM|M|dd|d|EEE|HH|H|mm|m|ss|s|S+|a|X|O|\[|\]|[^[\]']/g;
  const tokens = [...layout.matchAll(fields)].map(([token]) => token);
  if (tokens.join('') !== layout)
    throw new TimeLayoutError(`the time layout ${JSON.stringify(layout)} has an open apostrophe`);
  for (const token of tokens) {
    if (token === '[') stack.push([]);
    else if (token === ']') {
      const inner = stack.pop() ?? [];
      if (stack.length === 0) throw new TimeLayoutError(`the time layout ${JSON.stringify(layout)} closes no bracket`);
      add(optional(sequence(inner)));
    } else if (token.startsWith("'")) add(literalElement(token.slice(1, -1) || "'"));
    else {
      const name = token.startsWith('S') ? 'S' : token;
      const element = ELEMENTS[name];
      if (element) names.add(name);
      else if (/[A-Za-z]/.test(token))
        throw new TimeLayoutError(`the time layout ${JSON.stringify(layout)} has an unknown field ${token}`);
      add(element ?? literalElement(token));
    }
  }
  if (stack.length > 1) throw new TimeLayoutError(`the time layout ${JSON.stringify(layout)} has an open bracket`);
  return { elements: stack[0] ?? [], names };
}

function createReader(
  read: Element,
  options: FormatOptions,
  { hasDate, hasYear }: { hasDate: boolean; hasYear: boolean },
): TimeReader {
  const { zone } = options;
  const yearless = createYearlessClock(options);
  const dateless = createDatelessClock(options);
  const fields: Fields = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0, ms: 0, halfDay: -1, offsetMs: 0 };
  return (bytes, start, end, time) => {
    fields.second = 0;
    fields.ms = 0;
    fields.halfDay = -1;
    fields.offsetMs = Number.NaN;
    const to = read(bytes, start, end, fields);
    if (to < 0 || (to < end && isDigit(bytes[to])) || !isClock(fields)) return false;
    const hour = fields.halfDay < 0 ? fields.hour : (fields.hour % 12) + fields.halfDay;
    const msOfDay = hour * 3_600_000 + fields.minute * 60_000 + fields.second * 1000;
    if (!hasDate) time.timeMs = dateless(msOfDay) + fields.ms;
    else if (!hasYear) time.timeMs = yearless(fields.month, fields.day, msOfDay) + fields.ms;
    else {
      const localMs = wallClockMs(fields, msOfDay) + fields.ms;
      if (Number.isNaN(localMs)) return false;
      time.timeMs = Number.isNaN(fields.offsetMs) ? zone.toEpochMs(localMs) : localMs - fields.offsetMs;
    }
    time.end = to;
    return !Number.isNaN(time.timeMs);
  };
}

function isClock({ hour, minute, second, halfDay }: Fields): boolean {
  return hour <= (halfDay < 0 ? 23 : 12) && minute <= 59 && second <= 60;
}
