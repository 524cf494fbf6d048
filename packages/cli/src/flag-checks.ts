import { isRole, parseSpan, ROLES } from '@porthole/contract';

/** Formats of records: help needs the names, not what formats records. */
export const RECORD_FORMATS = ['pretty', 'raw', 'json', 'logfmt', 'table', 'csv', 'template'] as const;

export type RecordFormat = (typeof RECORD_FORMATS)[number];

/** Checks of flag values; each returns what is wrong, which commander prints. */

export function checkWholeNumber(text: string): string | undefined {
  return /^\d{1,9}$/.test(text) ? undefined : 'Expected a whole number.';
}

export function checkCountOrAll(text: string): string | undefined {
  return text === 'all' || /^[1-9]\d{0,8}$/.test(text) ? undefined : 'Expected a whole number of at least 1, or all.';
}

export function checkCountFromZero(text: string): string | undefined {
  return text === 'all' ? undefined : checkWholeNumber(text) && 'Expected a whole number, or all.';
}

export function checkSpan(text: string): string | undefined {
  return parseSpan(text) === undefined ? 'Expected a duration like 500ms, 5s or 1m.' : undefined;
}

export function checkTimeZone(text: string): string | undefined {
  // The first use of Intl takes longer than all the rest of a short command.
  if (text === 'UTC') return undefined;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'Expected a time zone like UTC or Europe/Berlin.';
  }
}

export function checkTokenOwner(text: string): string | undefined {
  return /^[\w.@-]{1,64}$/.test(text) ? undefined : 'Expected up to 64 letters, digits and any of . _ @ -';
}

export function checkTokenRoles(text: string): string | undefined {
  if (text === 'none' || text.split(',').every(isRole)) return undefined;
  return `Expected a comma-separated list of ${ROLES.join(', ')}, or none.`;
}
