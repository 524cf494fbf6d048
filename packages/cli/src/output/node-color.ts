import type { Colors } from './terminal.ts';

/** Without red and yellow, which mark levels. */
const PAINTS = [
  'cyan',
  'green',
  'magenta',
  'blue',
  'cyanBright',
  'greenBright',
  'magentaBright',
  'blueBright',
] as const;

/** The colour depends on the id alone, so it never changes. */
export function nodeColor(id: string, colors: Colors): (text: string) => string {
  let hash = 0x811c9dc5;
  for (const letter of id) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return colors[PAINTS[(hash >>> 0) % PAINTS.length] ?? 'cyan'];
}
