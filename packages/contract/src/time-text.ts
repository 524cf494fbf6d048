import { given, parameterInvalid, type Query } from './query.ts';

/** What the words for times are measured with. */
export interface RequestClock {
  nowMs: number;
  /** The instant of a wall-clock time in the zone of the node's logs. */
  toEpochMs(localMs: number): number;
  /** What to add to an instant to get the wall clock there. */
  offsetMsAt(epochMs: number): number;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** The last instant a JavaScript date can name, in both directions. */
const MAX_TIME_MS = 8.64e15;

/** RFC 3339 with everything behind the date optional. A `+` that was not escaped in the URL arrives as a space. */
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?([Zz]|[-+ ]\d\d:?\d\d)?)?$/;

/** A time of day, today unless told. */
const TIME_OF_DAY = /^(?:(today|yesterday)(?: (?=\d)|$))?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?$/;

const DAY_MS = 86_400_000;

export const TIME_FORMS =
  'epoch milliseconds, an RFC 3339 time, a date, a time of day like 14:00 or yesterday 14:00, a time ago like 15m (units ms, s, m, h, d, w) or now';

/** A point in time, as epoch ms. */
export function timeParameter(query: Query, name: string, clock: RequestClock): number | undefined {
  const text = given(query, name);
  if (text === undefined) return undefined;
  const timeMs = parseTime(text, clock);
  if (timeMs === undefined) throw parameterInvalid(name, text, TIME_FORMS);
  return timeMs;
}

/** `undefined` where the text is no time. Without a zone it is one of the node's logs. */
export function parseTime(text: string, clock: RequestClock): number | undefined {
  if (text === 'now') return clock.nowMs;
  const timeMs = /^-?\d{1,17}$/.test(text)
    ? Number(text)
    : (parseAgo(text, clock) ?? parseDateTime(text, clock) ?? parseTimeOfDay(text, clock));
  return timeMs !== undefined && Math.abs(timeMs) <= MAX_TIME_MS ? timeMs : undefined;
}

/** Milliseconds, or a number with its unit. `undefined` where the text is neither. */
export function parseSpan(text: string): number | undefined {
  const [, digits, unit = 'ms'] = /^(\d{1,15})(ms|[smhdw])?$/.exec(text) ?? [];
  const spanMs = digits === undefined ? undefined : Number(digits) * (UNITS_MS[unit] ?? 1);
  return Number.isSafeInteger(spanMs) ? spanMs : undefined;
}

function parseAgo(text: string, { nowMs }: RequestClock): number | undefined {
  const spanMs = parseSpan(text);
  return spanMs === undefined ? undefined : nowMs - spanMs;
}

function parseDateTime(text: string, clock: RequestClock): number | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', zone] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  // A leap second is the first instant of the next minute: clocks of computers have no other place for it.
  if (!isDate || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(3, '0').slice(0, 3)));
  if (zone === undefined) return clock.toEpochMs(date.getTime());
  const offsetMs = parseOffset(zone);
  return offsetMs === undefined ? undefined : date.getTime() - offsetMs;
}

function parseTimeOfDay(text: string, { nowMs, toEpochMs, offsetMsAt }: RequestClock): number | undefined {
  const [, day, hour = 0, minute = 0, second = 0, fraction = ''] = TIME_OF_DAY.exec(text) ?? [];
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  const isTime = text !== '' && TIME_OF_DAY.test(text) && hours <= 23 && minutes <= 59 && seconds <= 59;
  if (!isTime) return undefined;
  const localNowMs = nowMs + offsetMsAt(nowMs);
  const dayMs = Math.floor(localNowMs / DAY_MS) * DAY_MS - (day === 'yesterday' ? DAY_MS : 0);
  return toEpochMs(dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number(fraction.padEnd(3, '0')));
}

function parseOffset(zone: string): number | undefined {
  if (/^z$/i.test(zone)) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
