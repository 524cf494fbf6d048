import type { Level } from '@porthole/client';
import type { FindQuery } from '../model/workspace-state.ts';
import type { RowFilter, ShownRecord } from '../source/log-source.ts';

const LEVELS: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

export function isAtLeast(level: Level | undefined, least: Level): boolean {
  return level !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** The filter for records of at least this level within another filter. */
export function withLevel(filter: RowFilter, level: Level): RowFilter {
  return isAtLeast(filter.minLevel, level) ? filter : { ...filter, minLevel: level };
}

/**
 * The filter for the matches of a query within another filter; `undefined` if one filter cannot express both: it has a
 * single regex and a single case rule for all of its texts.
 */
export function withFind(filter: RowFilter, { text, isRegex, isCaseSensitive }: FindQuery): RowFilter | undefined {
  const hasTexts =
    filter.regex !== undefined ||
    filter.query !== undefined ||
    (filter.terms ?? []).length + (filter.excluded ?? []).length > 0;
  const isSameCase = !hasTexts || (filter.caseSensitive ?? false) === isCaseSensitive;
  const cased = isSameCase ? { ...filter, caseSensitive: isCaseSensitive } : filter;
  if (!isRegex && isSameCase) return { ...cased, terms: [...(filter.terms ?? []), text] };
  if (filter.regex !== undefined) return undefined;
  const pattern = isRegex ? text : quotePattern(text);
  return { ...cased, regex: isSameCase ? pattern : `(?${isCaseSensitive ? '-i' : 'i'}:${pattern})` };
}

function quotePattern(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** Whether two filters are written the same way, and so match the same records. */
export function sameFilter(a: RowFilter, b: RowFilter): boolean {
  return written(a) === written(b);
}

function written(filter: RowFilter): string {
  const entries = Object.entries(filter).filter(([, value]) => value !== undefined && value !== false);
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The text of a record that the API searches: its lines as they are in the file. */
export function searchableText({ raw, message }: ShownRecord): string {
  return raw ?? message;
}
