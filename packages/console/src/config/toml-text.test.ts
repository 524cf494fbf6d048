import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutTokens,
  findInLines,
  lineSegments,
  stepMatch,
  TOML_START,
  TomlText,
  type TomlToken,
  tokenizeTomlLine,
} from './toml-text.ts';

const lineKeys = (text: string) => {
  const toml = new TomlText(text);
  toml.tokenize(toml.lines.length);
  return toml.lines.map((_, index) => toml.lineAt(index).key);
};

describe('keys', () => {
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

function tokenize(text: string): TomlToken[][] {
  let carry = TOML_START;
  return text.split('\n').map((line) => {
    const result = tokenizeTomlLine(line, carry);
    carry = result.carry;
    return result.tokens;
  });
}

/** Token kinds and texts, without spaces and punctuation. */
function formatTokens(text: string): string[][] {
  return tokenize(text).map((tokens) =>
    tokens.filter(({ kind }) => kind !== 'space' && kind !== 'mark').map(({ kind, text: part }) => `${kind} ${part}`),
  );
}

describe('the tokens of a line', () => {
  it.each<[string, string[]]>([
    ['# a comment', ['comment # a comment']],
    ['[storage.tsdb] # why', ['table storage.tsdb', 'comment # why']],
    ['  [[servers]]', ['table servers']],
    ['["a]b"]', ['table "a]b"']],
    ['a.b-c = 1', ['key a', 'key b-c', 'number 1']],
    ['"odd key".x = true', ['key "odd key"', 'key x', 'boolean true']],
    ['1979 = -1_000.5e+3', ['key 1979', 'number -1_000.5e+3']],
    ['x = 0xDEAD_beef', ['key x', 'number 0xDEAD_beef']],
    ['x = +inf', ['key x', 'number +inf']],
    ['at = 2026-11-15T14:00:00.25+01:00', ['key at', 'date 2026-11-15T14:00:00.25+01:00']],
    ['at = 07:32:00', ['key at', 'date 07:32:00']],
    ['s = "a \\" # b" # c', ['key s', 'string "a \\" # b"', 'comment # c']],
    ["s = 'C:\\dir'", ['key s', "string 'C:\\dir'"]],
    ['list = [1, "b", [false]]', ['key list', 'number 1', 'string "b"', 'boolean false']],
    ['t = { a = 1, b.c = "d" }', ['key t', 'key a', 'number 1', 'key b', 'key c', 'string "d"']],
    ['x = tomorrow', ['key x', 'other tomorrow']],
    ['x = "never closed', ['key x', 'string "never closed']],
  ])('of %s', (line, parts) => {
    expect(formatTokens(line)).toEqual([parts]);
  });

  it('a mask is recognised anywhere', () => {
    expect(formatTokens('password = "******"')).toEqual([['key password', 'string "', 'mask ******', 'string "']]);
    expect(formatTokens('# was "******"')).toEqual([['comment # was "', 'mask ******', 'comment "']]);
  });
});

describe('values over several lines', () => {
  it('a multi-line string contains no other tokens', () => {
    expect(formatTokens('s = """one # two\n[three] \\"""\nfour""" # five\nx = 1')).toEqual([
      ['key s', 'string """one # two'],
      ['string [three] \\"""'],
      ['string four"""', 'comment # five'],
      ['key x', 'number 1'],
    ]);
    expect(formatTokens("s = '''a\\'''\nx = 1")[1]).toEqual(['key x', 'number 1']);
  });

  it('an array may contain comments', () => {
    expect(formatTokens('a = [\n  1, # one\n  [2],\n]\nb = 2')).toEqual([
      ['key a'],
      ['number 1', 'comment # one'],
      ['number 2'],
      [],
      ['key b', 'number 2'],
    ]);
  });
});

describe('for any text', () => {
  const piece = fc.oneof(
    fc.constantFrom('"', "'", '"""', "'''", '[', ']', '{', '}', '#', '=', ',', '.', '\\', '\n', '\r\n', '******', ' '),
    fc.constantFrom('key', '1979-05-27', '07:32', '+1.5', 'true', 'inf', '\u0000', 'é', '😀', '\ud800', '\u2028'),
    fc.string(),
  );

  it('the tokens join to the text, and none is empty', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        const lines = tokenize(text);
        expect(lines.map((tokens) => tokens.map((token) => token.text).join('')).join('\n')).toBe(text);
        expect(lines.flat().every((token) => token.text !== '')).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('handles endless brackets', () => {
    const line = '['.repeat(200_000);
    expect(
      tokenize(`x = ${line}\n${line}`)
        .map((tokens) => tokens.map(({ text }) => text).join(''))
        .join('\n'),
    ).toBe(`x = ${line}\n${line}`);
  });
});

it('offsets are correct after characters that change length in lower case', () => {
  const line = 'İİ port';
  const [found] = findInLines([line], 'PORT').matches;
  expect(line.slice(found?.start, found?.end)).toBe('port');
});

it('an empty query has no matches, and too many are reported', () => {
  expect(findInLines(['a-b/c'], '-b/').matches).toHaveLength(1);
  expect(findInLines(['a'], '')).toEqual({ matches: [], isMore: false });
  expect(findInLines(['aaa'], 'a', 2)).toMatchObject({ matches: [{}, {}], isMore: true });
});

it('finds any text that a line contains', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1, unit: 'binary' }), fc.string(), (before, text, after) => {
      expect(findInLines([`${before}${text}${after}`], text).matches).not.toEqual([]);
    }),
  );
});

it('steps wrap around both ends', () => {
  expect([stepMatch(3, 2, 1), stepMatch(3, 0, -1), stepMatch(3, -1, 1), stepMatch(0, 0, 1)]).toEqual([0, 2, 0, -1]);
});

const tokenizeLine = (line: string) => tokenizeTomlLine(line, TOML_START).tokens;

function formatSegments(line: string, text: string): string[] {
  return lineSegments(tokenizeLine(line), findInLines([line], text).matches).map(
    (one) => `${one.kind}${one.found === null ? '' : `#${one.found}`} ${one.text}`,
  );
}

it('plain text is one segment', () => {
  expect(formatSegments('a = [1, x]', '')).toEqual(['key a', 'plain  = [', 'number 1', 'plain , x]']);
});

it('a long line is truncated', () => {
  expect(cutTokens(tokenizeLine('key = "value"'), 8).map(({ text }) => text)).toEqual(['key', ' ', '=', ' ', '"v']);
});

it('segments always join to the line, and matched ones are the search text', () => {
  const word = fc.constantFrom('a', 'ab', '=', '"', '1', '******', ' ', '#');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), word, (words, text) => {
      const line = words.join('');
      const { matches } = findInLines([line], text);
      const segments = lineSegments(tokenizeLine(line), matches);
      expect(segments.map((one) => one.text).join('')).toBe(line);
      for (const [index, { start, end }] of matches.entries()) {
        const found = segments.filter((one) => one.found === index).map((one) => one.text);
        expect(found.join('')).toBe(line.slice(start, end));
      }
    }),
  );
});
