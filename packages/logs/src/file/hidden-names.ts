import { escapeRegex } from '../query/escape-regex.ts';
import { parseRotatedName } from './rotated-name.ts';

/** Rotation suffixes stripped from one name: `app-2026-11-15.log.1.gz` has two. */
const MAX_MARKS = 4;

/** Longest file name; longer input is not matched. */
const MAX_NAME_CHARS = 255;

/**
 * Contains every name, as if the live file of any rotated name existed: a name that may be of a rotated file counts as
 * one.
 */
const EVERY_NAME: ReadonlySet<string> = new (class extends Set<string> {
  override has(): boolean {
    return true;
  }
})();

/** Words that copies and backups add to a name, in several languages, and the `T` and `Z` of a timestamp. */
const COPY_WORDS = [
  ...['copy', 'of', 'backup', 'back', 'bak', 'old', 'new', 'orig', 'original', 'save', 'saved', 'tmp', 'temp', 'prev'],
  ...['previous', 'last', 'archive', 'archived', 'rotated', 'part', 'partial', 'kopie', 'von', 'copie', 'de', 'copia'],
  ...['t', 'z', 'utc', 'gmt', 'am', 'pm'],
];

/** What may surround the name of a log without making it another log: anything but letters, or one of those words. */
const AROUND = `(?:[^\\p{L}]|(?<!\\p{L})(?:${COPY_WORDS.join('|')})(?!\\p{L}))*`;

/**
 * Returns a test for hidden names: names that match the patterns (`*` for any characters, `?` for one), and any other
 * name that may belong to the same log: rotated, compressed, numbered, dated, copied, opened in an editor, partially
 * written. When in doubt a name is hidden, so case is ignored, as some file systems do. Only the name is tested, so
 * that no file is exposed at any point of a rotation. Of a path, each part is tested.
 */
export function createHiddenNames(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const forms = patterns.map(toForm);
  const isHidden = (name: string) => forms.some((form) => form.test(name));
  const isHiddenPart = (name: string) =>
    name.length <= MAX_NAME_CHARS && possibleLogs(name.normalize('NFKC')).some(isHidden);
  return (name) => (name.includes('/') ? name.split('/').some(isHiddenPart) : isHiddenPart(name));
}

/**
 * Digits, punctuation and copy words may precede the name, its extension and follow it; anything may follow it after
 * punctuation or a digit. A digit of the pattern is not extended by further digits: `shard-7.log` does not match
 * `shard-70.log`.
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
  return pattern.replace(/\*+|\?|[^*?]+/g, (part) => {
    if (part === '?') return '.';
    return part.startsWith('*') ? '.*' : escapeRegex(part);
  });
}

/** The name and the names of the logs it may belong to. */
function possibleLogs(name: string): string[] {
  const names = [name];
  // Compressed by us or another program: `.app.log.1.gz.4711-0a0b0c0d.tmp` is an unfinished `app.log.1.gz`.
  let rest = name.replace(/^\./, '').replace(/(\.(?:gz|zst|xz|bz2))\..*$/s, '$1');
  for (let mark = 0; mark < MAX_MARKS; mark++) {
    const rotated = parseRotatedName(rest.replace(/\.tmp$/i, ''), EVERY_NAME);
    if (!rotated || rotated.family === rest) break;
    rest = rotated.family;
    names.push(rest, ...(rotated.link === undefined ? [] : [rotated.link]));
  }
  return names;
}
