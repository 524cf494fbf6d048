import type { RowFilter } from '../source/log-source.ts';

/** Whether two filters let the same records through, as far as their words tell. */
export function sameFilter(a: RowFilter, b: RowFilter): boolean {
  return written(a) === written(b);
}

function written(filter: RowFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined && value !== false);
  return JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)));
}
