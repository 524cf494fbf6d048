import { describe, expect, it } from 'vitest';
import { TomlText } from './toml-text.ts';

const lineKeys = (text: string) => {
  const toml = new TomlText(text);
  toml.tokenize(toml.lines.length);
  return toml.lines.map((_, index) => toml.lineAt(index).key);
};

describe('keys', () => {
  it('include the tables they are in', () => {
    expect(lineKeys('a = 1\n[b.c]\nd = 2\n# e = 3\nf.g = 4\n\n[h]\ni=5')).toEqual([
      'a',
      null,
      'b.c.d',
      null,
      'b.c.f.g',
      null,
      null,
      'h.i',
    ]);
  });

  it('within arrays of tables are numbered like settings', () => {
    expect(lineKeys('[[s]]\nx=1\n[s.t]\ny=2\n[[s]]\nx=3\n[[s.u]]\nz=4\n[[s.u]]\nz=5').filter((key) => key)).toEqual([
      's[0].x',
      's[0].t.y',
      's[1].x',
      's[1].u[0].z',
      's[1].u[1].z',
    ]);
  });

  it('are quoted unless they are bare', () => {
    expect(lineKeys('["a.b"]\n\'c d\'.e = 1\n"f\\"g" = 2\n"\\U0001F600" = 3')).toEqual([
      null,
      '"a.b"."c d".e',
      '"a.b"."f\\"g"',
      '"a.b"."\\\\U0001F600"',
    ]);
  });

  it('are not taken from lines within a value', () => {
    expect(lineKeys('a = """\nb = 1\n"""\nc = [\n  { d = 1 },\n]\ne = 2')).toEqual([
      'a',
      null,
      null,
      'c',
      null,
      null,
      'e',
    ]);
  });
});

describe('lines', () => {
  it('are plain until they are tokenized, some at a time', () => {
    const toml = new TomlText('[a]\nb = 1\n');
    expect(toml.lineAt(1)).toEqual({ tokens: [{ kind: 'other', text: 'b = 1' }], key: null });
    toml.tokenize(1);
    expect(toml.isTokenized).toBe(false);
    toml.tokenize(100);
    expect([toml.isTokenized, toml.lineAt(1).key]).toEqual([true, 'a.b']);
  });

  it('a trailing line feed does not start another line', () => {
    expect(new TomlText('a\n').lines).toEqual(['a']);
    expect(new TomlText('a\n\n').lines).toEqual(['a', '']);
    expect(new TomlText('').lines).toEqual(['']);
    expect(new TomlText('a').lineAt(7)).toEqual({ tokens: [], key: null });
  });
});
