import type { Level } from '@porthole/client';
import type { FindQuery } from '../model/workspace-state.ts';
import type { RowFilter } from '../source/log-source.ts';

const LEVELS: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

export function isAtLeast(level: Level | undefined, least: Level): boolean {
  return level !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** The filter for records of at least this level among those it lets through. */
export function withLevel(filter: RowFilter, level: Level): RowFilter {
  return isAtLeast(filter.minLevel, level) ? filter : { ...filter, minLevel: level };
}

/**
 * The filter for what is looked for among the records it lets through; `undefined` where one question cannot say both. A
 * filter has one regex, and one rule about letter case for all its texts: another rule can only be said within a regex.
 */
export function withFind(filter: RowFilter, { text, isRegex, isCaseSensitive }: FindQuery): RowFilter | undefined {
  const hasTexts = filter.regex !== undefined || (filter.terms ?? []).length + (filter.excluded ?? []).length > 0;
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
