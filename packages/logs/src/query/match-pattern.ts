/* The one matcher of patterns with `*` and `?`: ids of nodes, names of logs, values of labels, keys of secrets. */

export function isPattern(text: string): boolean {
  return text.includes('*') || text.includes('?');
}

/**
 * Whether a name matches a pattern with `*` (any characters) and `?` (one). Backtracks at most to the last `*`, and a
 * pattern that needs more characters than the name has is rejected at once: no pattern can take long.
 */
export function matchesPattern(name: string, pattern: string): boolean {
  const wanted = pattern.replace(/\*+/g, '*');
  if (wanted.replaceAll('*', '').length > name.length) return false;
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
