/* The one grammar of times that people and programs write: parameters of the API, flags of the CLI, fields of the console. */

/** The clock for reading times: those without a date are relative to now, those without a zone are in this one. */
export interface RequestClock {
  nowMs: number;
  /** Offset of the wall clock from UTC at an instant. */
  offsetMsAt(epochMs: number): number;
}

/** The time, or what is wrong with the text and what is expected. */
type TimeReading = { timeMs: number } | { problem: string };

const TIME_FORMS =
  'RFC 3339, "2026-11-15 14:05", a date, 14:05, "yesterday 18:00", "last month", 15m or "2 days ago", epoch seconds or milliseconds, @SECONDS or now';

/** The largest distance from 1970 of a JavaScript date. */
const MAX_TIME_MS = 8.64e15;

const DAY_MS = 86_400_000;

/** Longer than any time. */
const MAX_LENGTH = 100;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?$/;
const AGO = /^(-?) ?(\d.*?)( ago)?$/i;
const DATE = /^(\d{4})-(\d\d)-(\d\d)/;
const DAY_WORD = /^(today|yesterday|(?:this|last) (?:week|month))(?![a-z])/i;
/** Among the parts of a duration. Only of a time: how long a month is depends on where it is counted from. */
const MONTHS = /(?<![\d.])(\d{1,4}) ?(?:mos?|months?)(?![a-z]) ?/i;
const TIME_OF_DAY = /^(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?/;

const OFFSET = /^ ?([-+])(\d\d)(?::?(\d\d))?$/;
/** In an RFC 3339 time whose `+` was not escaped in a URL. */
const OFFSET_UNESCAPED = /^ ()(\d\d):?(\d\d)$/;

/** What is wrong with a range whose end is not after its start; `undefined` if nothing is. */
export function rangeProblem(from: NamedTime, to: NamedTime): string | undefined {
  if (from.timeMs === undefined || to.timeMs === undefined || from.timeMs < to.timeMs) return undefined;
  const [start, end] = [from, to].map(({ name, timeMs = 0 }) => `${name} (${new Date(timeMs).toISOString()})`);
  return `${start} must be before ${end}`;
}

interface NamedTime {
  name: string;
  timeMs: number | undefined;
}

/** Reads a time. Surrounding blanks are ignored, and letter case except in units. docs/times.md has the grammar. */
export function readTime(text: string, clock: RequestClock): TimeReading {
  const plain = text.trim().replace(/\s+/g, ' ');
  if (plain.length > MAX_LENGTH) return unknownTime();
  const reading = readPlain(plain, clock);
  const isInRange = !('timeMs' in reading) || Math.abs(reading.timeMs) <= MAX_TIME_MS;
  return isInRange ? reading : { problem: 'it is beyond the range of dates' };
}

function readPlain(text: string, clock: RequestClock): TimeReading {
  if (/^now$/i.test(text)) return { timeMs: clock.nowMs };
  if (text.startsWith('@')) return readEpochSeconds(text.slice(1));
  if (NUMBER.test(text)) return readEpoch(text);
  if (DATE.test(text) || DAY_WORD.test(text) || /^\d\d?:/.test(text)) return readCalendar(text, clock);
  return AGO.test(text) ? readAgo(text, clock) : unknownTime();
}

function unknownTime(): TimeReading {
  return { problem: `expected ${TIME_FORMS}` };
}

function readEpochSeconds(text: string): TimeReading {
  const [, sign, whole, fraction] = NUMBER.exec(text) ?? [];
  if (whole === undefined)
    return { problem: 'expected seconds since 1970 after the "@", like @1790812800 or @1790812800.5' };
  return { timeMs: signed(sign, Number(whole) * 1000 + milliseconds(fraction)) };
}

/** By the number of digits, as in log lines: each unit reaches from 1973 to 5138. */
function readEpoch(text: string): TimeReading {
  const [, sign, whole = '', fraction] = NUMBER.exec(text) ?? [];
  const digits = whole.length;
  if (Number(whole) === 0) return { timeMs: 0 };
  if (digits < 9)
    return {
      problem: `${text} is too small for an epoch time: add a unit (${text}m is ${text} minutes ago) or write @${text}`,
    };
  if (digits > 20) return { problem: `${digits} digits are too many for an epoch time` };
  if (digits < 12) return { timeMs: signed(sign, Number(whole) * 1000 + milliseconds(fraction)) };
  if (fraction !== undefined)
    return { problem: `only epoch seconds have a fraction, and ${whole} has too many digits for seconds` };
  if (digits < 15) return { timeMs: signed(sign, Number(whole)) };
  return { timeMs: signed(sign, Number(whole.slice(0, digits < 18 ? -3 : -6))) };
}

function readAgo(text: string, clock: RequestClock): TimeReading {
  const [, minus, duration = '', ago] = AGO.exec(text) ?? [];
  if (minus && ago) return { problem: 'expected "-" or "ago", not both' };
  if (!/^[\d.]+ ?[a-z]/i.test(duration)) return unknownTime();
  const [, months = '0'] = MONTHS.exec(duration) ?? [];
  const rest = duration.replace(MONTHS, '');
  const reading = rest === '' ? { durationMs: 0 } : readDuration(rest);
  if ('problem' in reading) return { problem: reading.problem.replace(DURATION_UNITS, `${DURATION_UNITS}, mo`) };
  return { timeMs: monthsBefore(Number(months), clock) - reading.durationMs };
}

/** The same day and time of an earlier month, or its last day if it has no such day. */
function monthsBefore(months: number, clock: RequestClock): number {
  const { nowMs } = clock;
  if (months === 0) return nowMs;
  const localMs = nowMs + clock.offsetMsAt(nowMs);
  const local = new Date(localMs);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth() - months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const dayMs = Date.UTC(year, month, Math.min(local.getUTCDate(), lastDay));
  return toEpochMs(dayMs + (((localMs % DAY_MS) + DAY_MS) % DAY_MS), clock);
}

/** A date, `today`, `last month` or no day; a time of day or none; a zone or none. */
function readCalendar(text: string, clock: RequestClock): TimeReading {
  const date = DATE.exec(text);
  const word = DAY_WORD.exec(text)?.[1]?.toLowerCase();
  const afterDay = text.slice((date?.[0] ?? word ?? '').length);
  const hasTime = afterDay === text || /^[t ]\d\d?:/i.test(afterDay);
  const time = hasTime ? readTimeOfDay(afterDay.replace(/^[t ]/i, '')) : { ms: 0, rest: afterDay };
  if ('problem' in time) return time;
  const zone = readZone(time.rest, clock, { hasTime, hasDate: date !== null });
  if ('problem' in zone) return zone;
  if (date) {
    const day = readDate(date);
    return 'problem' in day ? day : { timeMs: toEpochMs(day.localMs + time.ms, zone) };
  }
  const { nowMs } = clock;
  const today = Math.floor((nowMs + zone.offsetMsAt(nowMs)) / DAY_MS) * DAY_MS;
  const timeMs = toEpochMs(dayNamed(word, today) + time.ms, zone);
  // Logs are of the past: a time of day alone is the last one there was.
  const isAhead = word === undefined && timeMs > nowMs;
  return { timeMs: isAhead ? toEpochMs(today - DAY_MS + time.ms, zone) : timeMs };
}

/** Midnight of the day that a word means: of a week its Monday, of a month its first. */
function dayNamed(word: string | undefined, today: number): number {
  const date = new Date(today);
  const [which, unit] = word?.split(' ') ?? [];
  const back = which === 'last' ? 1 : 0;
  if (unit === 'week') return today - (((date.getUTCDay() + 6) % 7) + 7 * back) * DAY_MS;
  if (unit === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back, 1);
  return word === 'yesterday' ? today - DAY_MS : today;
}

function readDate([text, year, month, day]: RegExpExecArray): { localMs: number } | { problem: string } {
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (Number(month) < 1 || Number(month) > 12) return { problem: `there is no month ${month}` };
  if (date.getUTCDate() !== Number(day)) return { problem: `${text} is not a day of that month` };
  return { localMs: date.getTime() };
}

/** Milliseconds since midnight, and the rest of the text. */
function readTimeOfDay(text: string): { ms: number; rest: string } | { problem: string } {
  const [whole, hours, minutes, seconds = '0', fraction] = TIME_OF_DAY.exec(text) ?? [];
  if (whole === undefined) return { problem: `expected a time of day like 14:05 at "${text}"` };
  if (Number(hours) > 23) return { problem: `there is no hour ${hours}` };
  if (Number(minutes) > 59) return { problem: `there is no minute ${minutes}` };
  // A leap second is the first instant of the next minute: computer clocks cannot represent it.
  if (Number(seconds) > 60) return { problem: `there is no second ${seconds}` };
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + milliseconds(fraction);
  return { ms, rest: text.slice(whole.length) };
}

type Zone = Pick<RequestClock, 'offsetMsAt'>;

function readZone(text: string, clock: RequestClock, { hasTime = false, hasDate = false }): Zone | { problem: string } {
  if (text === '') return clock;
  if (/^ ?(?:z|utc|gmt)$/i.test(text)) return { offsetMsAt: () => 0 };
  const match = OFFSET.exec(text) ?? (hasTime && hasDate ? OFFSET_UNESCAPED.exec(text) : null);
  if (!match) {
    const time = hasTime ? '' : 'a time of day like 14:05, ';
    return { problem: `expected ${time}UTC or an offset like +02:00 at "${text.trim()}"` };
  }
  const [, sign, hours, minutes = '0'] = match;
  if (Number(hours) > 23 || Number(minutes) > 59) return { problem: `there is no offset "${text.trim()}"` };
  const offsetMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  return { offsetMsAt: () => offsetMs };
}

/**
 * The instant of a wall-clock time. Of two, because clocks were set back, the earlier; in a gap, because they were set
 * forward, as if they had not been.
 */
function toEpochMs(localMs: number, { offsetMsAt }: Zone): number {
  const before = offsetMsAt(localMs - 2 * DAY_MS);
  const after = offsetMsAt(localMs + 2 * DAY_MS);
  const fits = [localMs - before, localMs - after].filter((epochMs) => epochMs + offsetMsAt(epochMs) === localMs);
  return fits.length > 0 ? Math.min(...fits) : localMs - before;
}

/** Digits after the point, truncated after the third: a time is never later than written. */
function milliseconds(fraction = ''): number {
  return Number(fraction.slice(0, 3).padEnd(3, '0'));
}

function signed(sign: string | undefined, value: number): number {
  return sign === '-' ? 0 - value : value;
}

/**
 * A time as a parameter that is read back as the same: epoch milliseconds if they cannot be taken for seconds, as all
 * since 1973 cannot. Records have whole milliseconds, so nothing lies between a part of one and the next.
 */
export function timeText(timeMs: number): string {
  const whole = Math.ceil(timeMs);
  const digits = String(Math.abs(whole)).length;
  if (whole === 0 || (digits >= 12 && digits < 15)) return String(whole + 0);
  const text = String(Math.abs(whole)).padStart(4, '0');
  return `@${whole < 0 ? '-' : ''}${text.slice(0, -3)}.${text.slice(-3)}`;
}

/** Every spelling of a unit, in lower case; the first of each is the short one. */
const UNITS: readonly { names: readonly string[]; ms: number }[] = [
  { names: ['ms', 'msec', 'msecs', 'millisecond', 'milliseconds'], ms: 1 },
  { names: ['s', 'sec', 'secs', 'second', 'seconds'], ms: 1000 },
  { names: ['m', 'min', 'mins', 'minute', 'minutes'], ms: 60_000 },
  { names: ['h', 'hr', 'hrs', 'hour', 'hours'], ms: 3_600_000 },
  { names: ['d', 'day', 'days'], ms: 86_400_000 },
  { names: ['w', 'week', 'weeks'], ms: 7 * 86_400_000 },
];

const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS.flatMap(({ names, ms }) => names.map((name) => [name, ms])));

const PART = /^(\d{1,15}(?:\.\d{1,6})?) ?([a-z]+) ?/i;

export const DURATION_UNITS = UNITS.map(({ names: [short] }) => short).join(', ');

/** The duration, or what is wrong with the text. */
type DurationReading = { durationMs: number } | { problem: string };

/** One or more numbers with their units, added up: `15m`, `1h30m`, `1.5 hours`. */
export function readDuration(text: string): DurationReading {
  let rest = text.trim();
  if (rest === '') return { problem: 'it is empty' };
  let durationMs = 0;
  while (rest !== '') {
    const [whole = '', number = '', unit = ''] = PART.exec(rest) ?? [];
    if (whole === '') return { problem: `expected a number with its unit at "${rest}"` };
    // Months are not a fixed time, and an `M` that is read as minutes would be off by a factor of 43,200.
    const unitMs = unit === 'M' ? undefined : UNIT_MS.get(unit.toLowerCase());
    if (unitMs === undefined) return { problem: `unknown unit "${unit}": expected ${DURATION_UNITS}` };
    durationMs += Number(number) * unitMs;
    rest = rest.slice(whole.length);
  }
  durationMs = Math.round(durationMs);
  return Number.isSafeInteger(durationMs) ? { durationMs } : { problem: 'it is too long' };
}

/** Milliseconds, or a duration with units. `undefined` if the text is neither. */
export function parseSpan(text: string): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const reading = readDuration(text);
  return 'durationMs' in reading ? reading.durationMs : undefined;
}

/** In the largest unit up to days that divides it: `15m`, `90s`. Read back by `readDuration`. */
export function durationText(durationMs: number): string {
  if (durationMs === 0) return '0s';
  const unit = UNITS.findLast(({ names: [short], ms }) => short !== 'w' && durationMs % ms === 0);
  return unit === undefined ? `${durationMs}ms` : `${durationMs / unit.ms}${unit.names[0]}`;
}

/** Two units at most: `412 ms`, `1.2 s`, `42 s`, `4 min 12 s`, `3 h 5 min`, `2 d 4 h`. */
export function formatSpan(spanMs: number): string {
  const ms = Math.max(0, spanMs);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.floor(ms / 100) / 10} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return twoUnits(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return twoUnits(hours, 'h', minutes % 60, 'min');
  return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
