/* Lists of fields in a URL: separated by commas; a comma or backslash in a name has a backslash in front. */

/** As many as have room beside the message. */
export const MAX_FIELD_NAMES = 12;

const MAX_FIELD_CHARACTERS = 256;

/** The names of a list, each once. */
export function parseFieldNames(text: string): string[] {
  const valid = splitNames(text).filter((name) => name !== '' && name.length <= MAX_FIELD_CHARACTERS);
  return [...new Set(valid)].slice(0, MAX_FIELD_NAMES);
}

function splitNames(text: string): string[] {
  const names = [''];
  for (const [part] of text.matchAll(/\\[\\,]|[\s\S]/g)) {
    if (part === ',') names.push('');
    else names[names.length - 1] += part.length === 2 ? part.slice(1) : part;
  }
  return names;
}

export function formatFieldNames(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\,]/g, '\\$&')).join(',');
}

/** What is wrong with a list, or `null`. */
export function fieldNamesProblem(text: string): string | null {
  if (splitNames(text).length === parseFieldNames(text).length) return null;
  return `expected at most ${MAX_FIELD_NAMES} different names of fields, separated by commas`;
}

/** The list with a name added at its end, or without it if it is there. */
export function toggleName(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((other) => other !== name) : [...names, name].slice(-MAX_FIELD_NAMES);
}

/** The list with a name moved by some places, as far as there are any. */
export function moveName(names: readonly string[], name: string, by: -1 | 1): string[] {
  const from = names.indexOf(name);
  const to = from + by;
  if (from < 0 || to < 0 || to >= names.length) return [...names];
  return names.with(from, names[to] ?? name).with(to, name);
}
