interface Unit {
  name: string;
  factor: number;
}

/** Largest first: the first that divides a value is the one it is written in. */
const DURATION_UNITS: readonly Unit[] = [
  { name: 'd', factor: 86_400_000 },
  { name: 'h', factor: 3_600_000 },
  { name: 'm', factor: 60_000 },
  { name: 's', factor: 1000 },
  { name: 'ms', factor: 1 },
];

/** Binary units first: sizes of buffers and files are mostly powers of two. */
const SIZE_UNITS: readonly Unit[] = [
  { name: 'TiB', factor: 1024 ** 4 },
  { name: 'GiB', factor: 1024 ** 3 },
  { name: 'MiB', factor: 1024 ** 2 },
  { name: 'KiB', factor: 1024 },
  { name: 'TB', factor: 1000 ** 4 },
  { name: 'GB', factor: 1000 ** 3 },
  { name: 'MB', factor: 1000 ** 2 },
  { name: 'KB', factor: 1000 },
  { name: 'B', factor: 1 },
];

/** `"30s"` in milliseconds. A number needs its unit: whether a bare `30` means seconds is not for us to guess. */
export function parseDuration(text: string): number | undefined {
  return parseUnits(text, DURATION_UNITS);
}

/** The shortest exact spelling: `90000` is `"90s"`. */
export function formatDuration(ms: number): string {
  return ms === 0 ? '0s' : formatUnits(ms, DURATION_UNITS);
}

/** `"64MiB"`, `"10MB"` or `"4096"` in bytes. Letter case does not count. */
export function parseSize(text: string): number | undefined {
  return parseUnits(/^\d+$/.test(text) ? `${text}B` : text, SIZE_UNITS);
}

/** The shortest exact spelling; bytes that fill no unit stay a number. */
export function formatSize(bytes: number): string | number {
  const text = formatUnits(bytes, SIZE_UNITS);
  return bytes === 0 || /\dB$/.test(text) ? bytes : text;
}

function parseUnits(text: string, units: readonly Unit[]): number | undefined {
  const [, digits = '', name = ''] = /^(\d{1,16})([a-z]+)$/i.exec(text) ?? [];
  const unit = units.find((known) => known.name.toLowerCase() === name.toLowerCase());
  if (unit === undefined) return undefined;
  const value = Number(digits) * unit.factor;
  return Number.isSafeInteger(value) ? value : undefined;
}

function formatUnits(value: number, units: readonly Unit[]): string {
  const unit = units.find(({ factor }) => value % factor === 0);
  return unit === undefined ? String(value) : `${value / unit.factor}${unit.name}`;
}
