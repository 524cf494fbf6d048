const NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const MONTHS_BY_KEY = new Map(NAMES.map((name, index) => [monthKey(Buffer.from(name), 0), index + 1]));

/** The month whose three-letter English name is at `at`, 1 to 12; 0 if there is none. */
export function readMonthName(bytes: Buffer, at: number, end: number): number {
  return end - at < 3 ? 0 : (MONTHS_BY_KEY.get(monthKey(bytes, at)) ?? 0);
}

function monthKey(bytes: Uint8Array, at: number): number {
  const letter = (index: number) => (bytes[at + index] ?? 0) | 0x20;
  return (letter(0) << 16) | (letter(1) << 8) | letter(2);
}
