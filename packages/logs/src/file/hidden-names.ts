import { parseRotatedName } from './rotated-name.ts';

/** Marks of one name that are taken off one after the other: `app-2026-11-15.log.1.gz` has two. */
const MAX_MARKS = 4;

/** No file has a longer name; patterns are not tried on what is none. */
const MAX_NAME_CHARS = 255;

/** As if every file stood beside its live one: a name that may be of a rotated file counts as one. */
const EVERY_NAME: ReadonlySet<string> = new (class extends Set<string> {
  override has(): boolean {
    return true;
  }
})();

/** Words that copies and backups add to a name, in some languages, and the `T` and `Z` of a time. */
const COPY_WORDS = [
  ...['copy', 'of', 'backup', 'back', 'bak', 'old', 'new', 'orig', 'original', 'save', 'saved', 'tmp', 'temp', 'prev'],
  ...['previous', 'last', 'archive', 'archived', 'rotated', 'part', 'partial', 'kopie', 'von', 'copie', 'de', 'copia'],
  ...['t', 'z', 'utc', 'gmt', 'am', 'pm'],
];

/** What may stand around a name of a log without making it another one: no letter, or one of those words. */
const AROUND = `(?:[^\\p{L}]|(?<!\\p{L})(?:${COPY_WORDS.join('|')})(?!\\p{L}))*`;

/**
 * Tells names that are not to be seen: those of the patterns (`*` for any characters, `?` for one), and whatever else may
 * belong to the same log: rotated, compressed, numbered, dated, copied, opened in an editor, half written. In doubt a name is
 * hidden; so upper and lower case are the same, as they are to some file systems. It looks at nothing but the name, so
 * that no moment of a rotation lets a file through.
 */
export function createHiddenNames(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const forms = patterns.map(toForm);
  const isHidden = (name: string) => forms.some((form) => form.test(name));
  return (name) => name.length <= MAX_NAME_CHARS && possibleLogs(name.normalize('NFKC')).some(isHidden);
}

/**
 * Before the name, before its extension and behind it may stand digits, signs and words of copies; behind it also anything
 * that a sign or a digit parts from it. A digit of the pattern ends where it ends: `shard-7.log` is not `shard-70.log`.
 */
function toForm(pattern: string): RegExp {
  const name = pattern.normalize('NFKC');
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const first = /^\d/.test(name) ? '(?<!\\d)' : '';
  const behind = (part: string) => (/\d$/.test(part) ? '(?!\\d)' : '');
  const middle = extension === '' ? '' : `${behind(stem)}${AROUND}${toSource(extension)}`;
  return new RegExp(`^${AROUND}${first}${toSource(stem)}${middle}${behind(name)}(?:[^\\p{L}].*)?$`, 'sui');
}

function toSource(pattern: string): string {
  return pattern
    .replace(/[\\^$.|+()[\]{}/]/g, '\\$&')
    .replaceAll('?', '.')
    .replace(/\*+/g, '.*');
}

/** The name and those of the logs it may belong to. */
function possibleLogs(name: string): string[] {
  const names = [name];
  // Compressed by us or another: `.app.log.1.gz.4711-0a0b0c0d.tmp` is `app.log.1.gz` that is not finished.
  let rest = name.replace(/^\./, '').replace(/(\.gz)\..*$/s, '$1');
  for (let mark = 0; mark < MAX_MARKS; mark++) {
    const rotated = parseRotatedName(rest.replace(/\.(?:bz2|xz|zst|zip|lz4|tmp)$/i, ''), EVERY_NAME);
    if (!rotated || rotated.family === rest) break;
    rest = rotated.family;
    names.push(rest, ...(rotated.link === undefined ? [] : [rotated.link]));
  }
  return names;
}
