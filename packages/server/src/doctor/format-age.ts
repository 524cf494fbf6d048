const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** A span of time in its largest unit: `3 hours`. */
export function formatAge(ms: number): string {
  for (const [unit, length] of UNITS) {
    const number = Math.floor(ms / length);
    if (number > 0) return `${number} ${unit}${number === 1 ? '' : 's'}`;
  }
  return 'less than a second';
}
