/** Ids are no longer; what needs more characters matches none. */
const MAX_ID_CHARACTERS = 128;

export function isPattern(text: string): boolean {
  return text.includes('*') || text.includes('?');
}

/**
 * Whether a name matches a pattern with `*` (any characters) and `?` (one). Goes back at most to the last `*`, and never
 * compares more than the longest id with itself: no pattern can take long.
 */
export function matchesPattern(name: string, pattern: string): boolean {
  const wanted = pattern.replace(/\*+/g, '*');
  if (wanted.length > 2 * MAX_ID_CHARACTERS + 1) return false;
  let at = 0;
  let next = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const sign = wanted[next];
    if (sign === '*') {
      star = next++;
      starAt = at;
    } else if (sign === '?' || (sign !== undefined && sign === name[at])) {
      next++;
      at++;
    } else if (star >= 0) {
      // The last star takes one character more.
      next = star + 1;
      at = ++starAt;
    } else {
      return false;
    }
  }
  return wanted.slice(next) === '' || wanted.slice(next) === '*';
}
