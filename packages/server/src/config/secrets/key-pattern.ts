/**
 * Whether a key or dotted path is the pattern, letter case aside; `*` stands for any run of characters, dots included.
 * Each part between stars is taken where it first fits, which needs no backtracking whatever the pattern is.
 */
export function matchesPattern(key: string, pattern: string): boolean {
  const name = key.toLowerCase();
  const parts = pattern.toLowerCase().split('*');
  const first = parts.shift() ?? '';
  const last = parts.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let from = first.length;
  for (const part of parts) {
    const at = name.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
