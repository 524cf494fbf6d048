import { expect, test } from 'vitest';
import { markToml } from './pick-toml.ts';

test('comments, keys and tables are marked where they stand, and nothing within strings', () => {
  const text = 'a = "# no" # yes\n[t.u]\nb.c = [{ d = """\n# no\ne = 1""" }]\n[[v]]\n';
  const marked = markToml(text).map(({ start, end, kind }) => `${kind} ${text.slice(start, end)}`);
  expect(marked).toEqual(['key a', 'comment # yes', 'table t.u', 'key b.c', 'key d', 'table v']);
});
