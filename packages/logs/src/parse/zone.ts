const DAY_MS = 86_400_000;

/** Clocks are changed at quarters of an hour. Where one once was not, its quarter is looked up for every instant. */
const QUARTER_MS = 900_000;

/** A date can name no more than a day beyond this, and so no wall clock there; the clocks of that day are as good. */
const LAST_KNOWN_MS = 8.64e15 - DAY_MS;

/** Days, and quarters, whose offset is remembered; beyond that the memory starts anew. */
const MAX_REMEMBERED = 4096;

/** A time zone as log timestamps need it. */
export interface Zone {
  /** As it was asked for: `''` is the system's. */
  readonly id: string;
  /** Its IANA name. */
  readonly name: string;
  /** The instant of a wall-clock time. Of two (clocks set back) the earlier; in a gap, as if the clock had not been set forward. */
  toEpochMs(localMs: number): number;
  /** What to add to an instant to get the wall clock. Cheap for instants near ones asked before. */
  offsetMsAt(epochMs: number): number;
}

/** `''` is the system's zone. Throws a RangeError for a name that is none. */
export function createZone(name = ''): Zone {
  const offsetAt = createOffsetLookup(name);
  const lookUp = (epochMs: number) => offsetAt(Math.max(-LAST_KNOWN_MS, Math.min(LAST_KNOWN_MS, epochMs)));
  const quarterOffset = remember((quarter) => {
    const first = lookUp(quarter * QUARTER_MS);
    return first === lookUp((quarter + 1) * QUARTER_MS - 1) ? first : undefined;
  });
  const offsetMsAt = (epochMs: number) => quarterOffset(Math.floor(epochMs / QUARTER_MS)) ?? lookUp(epochMs);

  /** The offset of a whole local day, or `undefined` near a change of the clocks. */
  const dayOffset = remember((day) => {
    const before = offsetMsAt((day - 1) * DAY_MS);
    return before === offsetMsAt((day + 2) * DAY_MS) ? before : undefined;
  });

  return {
    id: name,
    get name() {
      return name === 'UTC' ? name : new Intl.DateTimeFormat('en-US', zoneOption(name)).resolvedOptions().timeZone;
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
 * How offsets are looked up. `Intl` knows every zone, but the first use of it takes longer than all else a short program
 * does; the two zones that most logs are written in do without.
 */
function createOffsetLookup(name: string): (epochMs: number) => number {
  if (name === '') return (epochMs) => -60_000 * new Date(epochMs).getTimezoneOffset();
  if (name === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en-US', { ...zoneOption(name), ...WALL_CLOCK });
  return (epochMs) => wallClock(format, epochMs) - Math.floor(epochMs / 1000) * 1000;
}

function zoneOption(name: string): { timeZone?: string } {
  return name === '' ? {} : { timeZone: name };
}

/** The offset of a stretch of time, by its number; `undefined` where it changes within. */
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
