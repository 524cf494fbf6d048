const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.5 MiB`, as settings are written; whole numbers below one KiB and from 100 on. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  const digits = power === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[power]}`;
}
