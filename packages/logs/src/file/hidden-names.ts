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

/**
 * Tells names that are not to be seen: those of the patterns (`*` for any characters, `?` for one), and whatever else may
 * belong to the same log: rotated, compressed, copied, half written. In doubt a name is hidden; so upper and lower case
 * are the same, as they are to some file systems. It looks at nothing but
 * the name, so that no moment of a rotation lets a file through.
 */
export function createHiddenNames(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const forms = patterns.map(toForm);
  const isHidden = (name: string) => forms.some((form) => form.test(name));
  return (name) => name.length <= MAX_NAME_CHARS && logsOf(name.normalize()).some(isHidden);
}

/** With what rotators put behind a name, and before one that is not finished yet. */
function toForm(pattern: string): RegExp {
  const source = pattern
    .normalize()
    .replace(/[\\^$.|+()[\]{}/]/g, '\\$&')
    .replaceAll('?', '.')
    .replace(/\*+/g, '.*');
  return new RegExp(`^\\.?${source}(?:[.~_-].*)?$`, 'sui');
}

/** The name and those of the logs it may belong to. */
function logsOf(name: string): string[] {
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
