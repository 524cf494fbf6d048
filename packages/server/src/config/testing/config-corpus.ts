import { readdirSync, readFileSync } from 'node:fs';
import { parse, type TomlTable, type TomlValue } from 'smol-toml';
import { unmark } from './redaction-corpus.ts';

const DIR = new URL('corpus/', import.meta.url);

/** One shape of configuration, with its secrets marked as `unmark` reads them. */
export interface CorpusShape {
  area: string;
  name: string;
  marked: string;
}

/**
 * Shapes of real configurations, written by hand from their documentation, with made-up values. The files hold one after
 * the other, each under a line `#### NAME`. All that is not marked must be shown as it is.
 */
export const CONFIG_CORPUS: readonly CorpusShape[] = readdirSync(DIR)
  .sort()
  .flatMap((file) => {
    const area = file.replace('.toml', '');
    const shapes = readFileSync(new URL(file, DIR), 'utf8')
      .split(/^#### /m)
      .slice(1);
    return shapes.map((shape) => {
      const end = shape.indexOf('\n');
      return { area, name: `${area}: ${shape.slice(0, end)}`, marked: shape.slice(end + 1) };
    });
  });

/** One value of a shape, before and after, and what it should be. */
export interface CorpusValue {
  secrets: string[];
  expected: string;
  actual: string;
}

/** Every value of a shape, compared with what `redact` makes of it. */
export function corpusValues({ marked }: CorpusShape, redact: (toml: string) => string): CorpusValue[] {
  const { toml, redacted } = unmark(marked);
  const before = listLeaves(parse(marked.replace(/‹[^›]*›/g, '"$&"')));
  const expected = listLeaves(parse(redacted));
  const actual = listLeaves(parse(redact(toml)));
  return before.map((value, index) => ({
    secrets: [...value.matchAll(/[«‹]([^»›]*)[»›]/g)].map((match) => match[1] ?? ''),
    expected: expected[index] ?? '',
    actual: actual[index] ?? '',
  }));
}

function listLeaves(value: TomlTable | TomlValue): string[] {
  if (Array.isArray(value)) return value.flatMap(listLeaves);
  if (typeof value !== 'object' || value instanceof Date) return [String(value)];
  return Object.values(value).flatMap(listLeaves);
}
