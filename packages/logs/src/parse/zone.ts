const DAY_MS = 86_400_000;

/**
 * Clocks change at quarters of an hour. Where one did not, the offset is looked up for every instant of that quarter.
 */
const QUARTER_MS = 900_000;

/** The last instant whose wall-clock time can be represented by a Date; offsets after it are assumed to be the same. */
const LAST_KNOWN_MS = 8.64e15 - DAY_MS;

/** Days, and quarters, whose offset is cached; when there are more the cache is cleared. */
const MAX_REMEMBERED = 4096;

/** A time zone as log timestamps need it. */
export interface Zone {
  /** As requested: `''` is the system's zone. */
  readonly id: string;
  /** Its IANA name. */
  readonly name: string;
  /**
   * The instant of a wall-clock time. If there are two (clocks set back) the earlier one; in a gap, as if the clock had
   * not been set forward.
   */
  toEpochMs(localMs: number): number;
  /** What to add to an instant to get the wall-clock time. Cheap for instants near earlier ones. */
  offsetMsAt(epochMs: number): number;
}

/** The name of a zone whose clocks never change. */
export function fixedZoneName(offsetMs: number): string {
  const minutes = Math.abs(Math.round(offsetMs / 60_000));
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return minutes === 0 ? 'UTC' : `UTC${offsetMs < 0 ? '-' : '+'}${hour}:${minute}`;
}

const FIXED = /^UTC([+-])(\d\d):(\d\d)$/;

/** `''` is the system's zone; `UTC+08:00` one whose clocks never change. Throws a RangeError for an unknown name. */
export function createZone(name = ''): Zone {
  const offsetAt = createOffsetLookup(name);
  const lookUp = (epochMs: number) => offsetAt(Math.max(-LAST_KNOWN_MS, Math.min(LAST_KNOWN_MS, epochMs)));
  const quarterOffset = remember((quarter) => {
    const first = lookUp(quarter * QUARTER_MS);
    return first === lookUp((quarter + 1) * QUARTER_MS - 1) ? first : undefined;
  });
  const offsetMsAt = (epochMs: number) => quarterOffset(Math.floor(epochMs / QUARTER_MS)) ?? lookUp(epochMs);

  /** The offset of a whole local day, or `undefined` near a clock change. */
  const dayOffset = remember((day) => {
    const before = offsetMsAt((day - 1) * DAY_MS);
    return before === offsetMsAt((day + 2) * DAY_MS) ? before : undefined;
  });

  let fullName = name === 'UTC' || FIXED.test(name) ? name : undefined;
  return {
    id: name,
    get name() {
      fullName ??= new Intl.DateTimeFormat('en-US', zoneOption(name)).resolvedOptions().timeZone;
      return fullName;
    },
    offsetMsAt,
    toEpochMs(localMs) {
      const steady = dayOffset(Math.floor(localMs / DAY_MS));
      if (steady !== undefined) return localMs - steady;
      const before = offsetMsAt(localMs - 2 * DAY_MS);
      const after = offsetMsAt(localMs + 2 * DAY_MS);
      const fits = [localMs - before, localMs - after].filter((epochMs) => epochMs + offsetMsAt(epochMs) === localMs);
      return fits.length > 0 ? Math.min(...fits) : localMs - before;
    },
  };
}

/**
 * How offsets are looked up. `Intl` knows every zone, but its first use takes longer than everything else in a short
 * program; the two most frequent zones of logs do without it.
 */
function createOffsetLookup(name: string): (epochMs: number) => number {
  if (name === '') return (epochMs) => -60_000 * new Date(epochMs).getTimezoneOffset();
  if (name === 'UTC') return () => 0;
  const [, sign, hour, minute] = FIXED.exec(name) ?? [];
  if (sign !== undefined) {
    const offsetMs = (Number(hour) * 60 + Number(minute)) * (sign === '-' ? -60_000 : 60_000);
    return () => offsetMs;
  }
  const format = new Intl.DateTimeFormat('en-US', { ...zoneOption(name), ...WALL_CLOCK });
  return (epochMs) => wallClock(format, epochMs) - Math.floor(epochMs / 1000) * 1000;
}

function zoneOption(name: string): { timeZone?: string } {
  return name === '' ? {} : { timeZone: name };
}

/** Caches the offset of a period by its index; `undefined` if it changes within the period. */
function remember(find: (index: number) => number | undefined): (index: number) => number | undefined {
  const known = new Map<number, number | undefined>();
  return (index) => {
    const offset = known.get(index);
    if (offset !== undefined || known.has(index)) return offset;
    if (known.size >= MAX_REMEMBERED) known.clear();
    const found = find(index);
    known.set(index, found);
    return found;
  };
}

const WALL_CLOCK = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  era: 'short',
} as const;

function wallClock(format: Intl.DateTimeFormat, epochMs: number): number {
  const parts: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(epochMs)) parts[type] = value;
  const year = parts.era?.startsWith('B') ? 1 - Number(parts.year) : Number(parts.year);
  const time = new Date(0);
  time.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
  time.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  return time.getTime();
}
