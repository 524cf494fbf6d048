import { isRole, ROLES } from '@porthole/contract';

/** Says what is wrong with a value, for commander to tell. */

export function checkWholeNumber(text: string): string | undefined {
  return /^\d{1,9}$/.test(text) ? undefined : 'It must be a whole number.';
}

export function checkCountOrAll(text: string): string | undefined {
  return text === 'all' || /^[1-9]\d{0,8}$/.test(text) ? undefined : 'It must be a whole number of at least 1, or all.';
}

export function checkSpan(text: string): string | undefined {
  return /^\d{1,9}(ms|[smhdw])?$/.test(text) ? undefined : 'It must be a duration like 500ms, 5s or 1m.';
}

export function checkTimeZone(text: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return undefined;
  } catch {
    return 'It must be a time zone like UTC or Europe/Berlin.';
  }
}

export function checkTokenOwner(text: string): string | undefined {
  return /^[\w.@-]{1,64}$/.test(text) ? undefined : 'use up to 64 letters, digits and any of . _ @ -';
}

export function checkTokenRoles(text: string): string | undefined {
  if (text === 'none' || text.split(',').every(isRole)) return undefined;
  return `use any of ${ROLES.join(', ')}, with commas between them, or none`;
}
