const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const AGO = /^-\s*(\d{1,7})\s*(s|m|h|d)(?:in|ec)?$/i;
const TIME_OF_DAY = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?$/;
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|[-+]\d\d:?\d\d)?$/i;

export interface MomentClock {
  nowMs: number;
  /** Wall clock minus UTC at an instant. */
  offsetMinutesAt(epochMs: number): number;
}

interface DayTime {
  hours: number;
  minutes: number;
  seconds: number;
  ms: number;
}

/** A time as people write it: `14:05`, `14:05:30`, `2026-11-15 14:05`, `-15m`, ISO. `undefined` where it is none. */
export function parseMoment(text: string, clock: MomentClock): number | undefined {
  const trimmed = text.trim();
  return parseAgo(trimmed, clock) ?? parseTimeOfDay(trimmed, clock) ?? parseDateTime(trimmed, clock);
}

function parseAgo(text: string, { nowMs }: MomentClock): number | undefined {
  const [, digits, unit] = AGO.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  return nowMs - Number(digits) * (UNITS_MS[unit.toLowerCase()] ?? 0);
}

/** Of today; of yesterday where today it is still to come: logs tell the past. */
function parseTimeOfDay(text: string, clock: MomentClock): number | undefined {
  const [, hours, minutes, seconds, fraction] = TIME_OF_DAY.exec(text) ?? [];
  const time = dayTime(hours, minutes, seconds, fraction);
  if (!time) return undefined;
  const wallNow = new Date(clock.nowMs + clock.offsetMinutesAt(clock.nowMs) * 60_000);
  const day = Date.UTC(wallNow.getUTCFullYear(), wallNow.getUTCMonth(), wallNow.getUTCDate());
  const today = instantOf(day + inMs(time), clock);
  return today <= clock.nowMs ? today : instantOf(day - 86_400_000 + inMs(time), clock);
}

function parseDateTime(text: string, clock: MomentClock): number | undefined {
  const [, year, month, day, hours = '0', minutes = '0', seconds, fraction, zone] = DATE_TIME.exec(text) ?? [];
  const time = dayTime(hours, minutes, seconds, fraction);
  if (year === undefined || !time) return undefined;
  const dayMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(dayMs).getUTCDate() !== Number(day) || Number(month) > 12) return undefined;
  const wallMs = dayMs + inMs(time);
  return zone === undefined ? instantOf(wallMs, clock) : wallMs - zoneMinutes(zone) * 60_000;
}

function dayTime(hours?: string, minutes?: string, seconds = '0', fraction = ''): DayTime | undefined {
  if (hours === undefined || minutes === undefined) return undefined;
  const time = {
    hours: Number(hours),
    minutes: Number(minutes),
    seconds: Number(seconds),
    ms: Number(fraction.padEnd(3, '0').slice(0, 3)),
  };
  return time.hours < 24 && time.minutes < 60 && time.seconds < 60 ? time : undefined;
}

function inMs({ hours, minutes, seconds, ms }: DayTime): number {
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

function instantOf(wallMs: number, { offsetMinutesAt }: MomentClock): number {
  // The offset holds at the instant, which is not known before: the second look is right but for the changed hour.
  const first = wallMs - offsetMinutesAt(wallMs) * 60_000;
  return wallMs - offsetMinutesAt(first) * 60_000;
}

function zoneMinutes(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  return (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2)));
}
