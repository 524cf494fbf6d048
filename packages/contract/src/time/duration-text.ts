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
export type DurationReading = { durationMs: number } | { problem: string };

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
