import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainKey, findInLines, splitTokens, tokenize, tomlLines } from './toml-text.ts';

const lineKeys = (text: string) => tomlLines(text).map(({ key }) => key);

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
    const text = 'a = """\nb = 1\n"""\nc = [\n  { d = 1 },\n]\ne = \'\'\'\nf = 1 \\\'\'\'\ng = "x" # """\nh = 2';
    expect(lineKeys(text)).toEqual(['a', null, null, 'c', null, null, 'e', null, 'g', 'h']);
  });
});

it('a trailing line feed does not start another line', () => {
  const texts = (text: string) => tomlLines(text).map((line) => line.text);
  expect([texts('a\n'), texts('a\n\n'), texts('')]).toEqual([['a'], ['a', ''], ['']]);
});

describe('the comments above a key', () => {
  it('explain it, and have its default', () => {
    const text = '[wal]\n## The directory of the log\n## Default: "data/wal"\ndir = "x"\n\n# old = 1\nsize = 1\n';
    const lines = tomlLines(text);
    expect(explainKey(lines, 'wal.dir')).toEqual({ about: 'The directory of the log', default: 'data/wal' });
    expect(explainKey(lines, 'wal.size')).toEqual({ about: null, default: null });
    expect(explainKey(lines, 'no.such')).toEqual({ about: null, default: null });
  });

  it('as a node writes its own settings', () => {
    const text =
      '[http]\n# Port to listen on.\n# Default: 7300. Environment: PORTHOLE_HTTP_PORT.\n# Set by flag --x.\nport = 1';
    expect(explainKey(tomlLines(text), 'http.port')).toEqual({ about: 'Port to listen on.', default: '7300' });
  });
});

/** Kinds and texts of the parts that have colours. */
const formatTokens = (text: string) =>
  tomlLines(text).map((line) =>
    tokenize(line)
      .filter(({ kind }) => kind !== 'plain')
      .map(({ kind, text: part }) => `${kind} ${part.trim()}`),
  );

describe('the tokens of a line', () => {
  it.each<[string, string[]]>([
    ['# a comment', ['comment # a comment']],
    ['[storage.tsdb] # why', ['table [storage.tsdb]', 'comment # why']],
    ['  [["a]b"]]', ['table [["a]b"]]']],
    ['a.b-c = 1', ['number 1']],
    ['"odd key".x = true', ['number true']],
    ['1979 = -1_000.5e+3', ['number -1_000.5e+3']],
    ['at = 2026-11-15T14:00:00.25+01:00', ['number 2026-11-15T14:00:00.25+01:00']],
    ['s = "a \\" # b" # c', ['string "a \\" # b"', 'comment # c']],
    ["s = 'C:\\dir'", ["string 'C:\\dir'"]],
    ['t = { a = 1, b = "d" }', ['number 1', 'string "d"']],
    ['x = tomorrow', []],
    ['x = "never closed', ['string "never closed']],
    ['password = "******"', ['string "', 'mask ******', 'string "']],
  ])('of %s', (line, parts) => {
    expect(formatTokens(line)).toEqual([parts]);
  });

  it('a multi-line string contains no other tokens', () => {
    expect(formatTokens('s = """one\n[three] # x\nfour"""\nx = 1').slice(1)).toEqual([
      ['string [three] # x'],
      ['string four"""'],
      ['number 1'],
    ]);
  });

  it('join to the line, and none is empty, of any text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '"',
        "'",
        '"""',
        "'''",
        '[',
        ']',
        '{',
        '}',
        '#',
        '=',
        ',',
        '.',
        '\\',
        '\n',
        '\r\n',
        '******',
        ' ',
      ),
      fc.constantFrom('key', '1979-05-27', '07:32', '+1.5', 'true', 'inf', '\u0000', 'é', '😀', '\ud800', '\u2028'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = `${pieces.join('')}.`;
        const lines = tomlLines(text).map(tokenize);
        expect(lines.map((tokens) => tokens.map((token) => token.text).join('')).join('\n')).toBe(text);
        expect(lines.flat().every((token) => token.text !== '')).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each(['[', '"', '"""a', "'''", 'a.', '1', '{a,'])(
    'of endless %s are found in time that grows with its length: otherwise this does not end',
    (part) => {
      // A time that grows with its square would take minutes.
      const line = part.repeat(200_000);
      expect(tomlLines(`x = ${line}\n${line}`).map(tokenize)).toHaveLength(2);
    },
  );
});

describe('found text', () => {
  const find = (lines: string[], text: string, most?: number) =>
    findInLines(
      lines.map((one) => ({ text: one })),
      text,
      most,
    );

  it('has the right place after characters that change length in lower case', () => {
    const line = 'İİ port';
    const [found] = find([line], 'PORT').matches;
    expect(line.slice(found?.start, found?.end)).toBe('port');
  });

  it('is nothing for an empty query, and too much is reported', () => {
    expect(find(['a-b/c'], '-b/').matches).toHaveLength(1);
    expect(find(['a'], '')).toEqual({ matches: [], isMore: false });
    expect(find(['aaa'], 'a', 2)).toMatchObject({ matches: [{}, {}], isMore: true });
  });

  it('splits the tokens of a line, which still join to it', () => {
    const word = fc.constantFrom('a', 'ab', '=', '"', '1', '******', ' ', '#');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), word, (words, text) => {
        const line = words.join('');
        const { matches } = find([line], text);
        const segments = splitTokens(tokenize({ text: line, isString: false }), matches);
        expect(segments.map((one) => one.text).join('')).toBe(line);
        for (const [index, { start, end }] of matches.entries()) {
          const found = segments.filter(({ range }) => range === index).map((one) => one.text);
          expect(found.join('')).toBe(line.slice(start, end));
        }
      }),
    );
  });
});
