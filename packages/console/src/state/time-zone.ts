import type { ZoneName } from './view.ts';

/* Time zones of the browser. `Intl` is asked rarely: its first use takes 50 ms, and each one some microseconds. */

/** No zone changes its offset within a quarter of an hour of the clock. */
const QUARTER_MS = 15 * 60_000;

/** More than a screen of any log has. */
const MAX_KNOWN = 2000;

const formats = new Map<string, Intl.DateTimeFormat>();

const offsets = new Map<string, number>();

export function isZone(name: string): name is ZoneName {
  if (name === 'local' || name === 'utc') return true;
  // Nothing was chosen, as for most users.
  if (name === '') return false;
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What is added to UTC there, at a time. */
export function zoneOffsetMs(zone: ZoneName, timeMs: number): number {
  if (zone === 'utc') return 0;
  if (zone === 'local') return -60_000 * new Date(timeMs).getTimezoneOffset();
  const quarter = Math.floor(timeMs / QUARTER_MS);
  const key = `${zone} ${quarter}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const offset = readOffset(zone, quarter * QUARTER_MS);
  if (offsets.size >= MAX_KNOWN) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

/** All zones that the browser knows by name. */
export function zoneNames(): string[] {
  return Intl.supportedValuesOf('timeZone');
}

function readOffset(zone: string, timeMs: number): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(timeMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(timeMs / 60_000) * 60_000;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en', { ...fields, timeZone: zone, hourCycle: 'h23' });
  formats.set(zone, format);
  return format;
}
