import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  ansiSegments,
  drawnText,
  hiddenBytes,
  oneLine,
  recordLine,
  rowLine,
  SHOWN_CHARACTERS,
  stripAnsi,
  textPieces,
  visibleText,
} from './record-text.ts';

const record = {
  type: 'record',
  node: 'broker-1',
  file: 'a.log',
  offset: 0,
  bytes: 100,
  cursor: 'c',
  atMs: Date.UTC(2026, 10, 15, 10, 41, 6, 214),
  timeMs: 0,
  level: 'ERROR',
  source: 'kv/job.go:175',
  tags: ['KV', 'Compaction'],
  message: 'it failed',
  context: { shard: 31 },
} as const;
const fields = { ...record, tags: [...record.tags] };

describe('displayed text', () => {
  test('control characters become visible, tabs and line ends stay', () => {
    expect(visibleText('a\u0000b\u001bc\td\ne\u007ff\u0085')).toBe('a␀b␛c\td\ne␡f�');
  });

  test('bidirectional control characters become visible', () => {
    expect(visibleText('user\u202etxt.exe\u2066')).toBe('user⇄txt.exe⇄');
  });

  test('zero-width characters become visible, those of an emoji stay', () => {
    expect(visibleText('a\u200bb\ufeffc\u00add\u2060e\u{e0041}f\u3164g')).toBe('a◌b◌c◌d◌e◌◌f◌g');
    expect(visibleText('\u2028\u2029\ud800')).toBe('◌◌�');
    expect(visibleText('👨\u200d👩\u200d👧 ❤\ufe0f x\ufe0f \u200d')).toBe('👨\u200d👩\u200d👧 ❤\ufe0f x◌ ◌');
  });

  test('every character is replaced by one character, so that offsets stay valid', () => {
    const odd = '\u0001\u202e\u200fü\u0085x';
    expect(visibleText(odd)).toHaveLength(odd.length);
  });

  test('line ends become a symbol in a single-line row', () => {
    expect(oneLine('a\r\nb\nc')).toBe('a↵b↵c');
  });

  test('only the start of a long text is rendered', () => {
    expect(drawnText({ message: 'x'.repeat(9000) })).toHaveLength(SHOWN_CHARACTERS);
  });
});

describe('hidden bytes', () => {
  test('are zero for a short record', () => {
    expect(hiddenBytes(fields)).toBe(0);
  });

  test('are the rest of a long one', () => {
    expect(hiddenBytes({ message: 'x'.repeat(9000), bytes: 9100 })).toBe(9000 - SHOWN_CHARACTERS);
  });

  test('are counted from the file for a truncated record', () => {
    expect(hiddenBytes({ message: 'x', bytes: 20_000_000, cut: true })).toBe(20_000_000 - SHOWN_CHARACTERS);
  });
});

describe('a record as a line', () => {
  test('has its columns in the order of the file', () => {
    expect(recordLine(fields, { withNode: false })).toBe(
      '2026-11-15T10:41:06.214Z ERROR kv/job.go:175 [KV] [Compaction] it failed {"shard":31}',
    );
  });

  test('includes its node if there are several', () => {
    expect(recordLine(fields, { withNode: true })).toContain('Z broker-1 ERROR');
  });

  test('a line that is not a record stays as it is', () => {
    const gap = {
      kind: 'gap',
      key: 'g',
      node: null,
      text: '214 lines skipped',
      isLoading: false,
    } as const;
    expect(rowLine(gap, { withNode: true })).toBe('--- 214 lines skipped ---');
  });
});

const every = (wanted: string) => (text: string) =>
  [...text.matchAll(new RegExp(wanted, 'g'))].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
const plain = (text: string) => ({ text, classes: '', isMatch: false });
const match = (text: string) => ({ text, classes: '', isMatch: true });

describe('a text in pieces', () => {
  test('is one piece without matches, and none for an empty text', () => {
    expect(textPieces('abc', null)).toEqual([plain('abc')]);
    expect(textPieces('', null)).toEqual([]);
  });

  test('keeps all text of a line full of matches or colours, but highlights only the first ones', () => {
    for (const text of ['a'.repeat(1000), '\u001b[31ma\u001b[32m'.repeat(1000)]) {
      const pieces = textPieces(text, every('a'));
      expect(pieces.length).toBeLessThan(60);
      expect(pieces.map((piece) => piece.text).join('')).toBe('a'.repeat(1000));
    }
  });

  test('ignores empty matches', () => {
    expect(textPieces('abc', () => [{ start: 1, end: 1 }])).toEqual([plain('abc')]);
  });

  test('has terminal colours as classes, and matches across them', () => {
    expect(textPieces('\u001b[31mred\u001b[0m text', every('d t'))).toEqual([
      { text: 're', classes: 'ansi-red', isMatch: false },
      { text: 'd', classes: 'ansi-red', isMatch: true },
      match(' t'),
      plain('ext'),
    ]);
  });
});

describe('text for terminals', () => {
  it('is split into runs with classes of the page', () => {
    expect(ansiSegments('a\u001b[1;31mred\u001b[0m b \u001b[92mgreen')).toEqual([
      { text: 'a', classes: [] },
      { text: 'red', classes: ['ansi-red', 'ansi-bold'] },
      { text: ' b ', classes: [] },
      { text: 'green', classes: ['ansi-green'] },
    ]);
  });

  it.each([
    ['38;5;208', { '--ansi': '#ff8700' }],
    ['38;5;16', { '--ansi': '#000000' }],
    ['38;5;231', { '--ansi': '#ffffff' }],
    ['38;5;232', { '--ansi': '#080808' }],
    ['38;5;255', { '--ansi': '#eeeeee' }],
    ['38;2;1;31;4', { '--ansi': '#011f04' }],
    ['38:2::1:31:4', { '--ansi': '#011f04' }],
    ['38:2:1:31:4', { '--ansi': '#011f04' }],
    ['38:5:208', { '--ansi': '#ff8700' }],
    ['48;5;208', { '--ansi-fill': '#ff8700' }],
    ['48;2;1;2;3;38;2;4;5;6', { '--ansi': '#040506', '--ansi-fill': '#010203' }],
    ['41', { '--ansi-fill': '#cd3131' }],
    ['48;5;1', { '--ansi-fill': '#cd3131' }],
    ['38;5;300', undefined],
    ['38;2;1;2', undefined],
    ['38;2;1;2;256', undefined],
    ['38;5;208;39', undefined],
    ['48;5;208;49', undefined],
    ['58;5;208', undefined],
  ])('the colours of %s are %j', (parameters, colours) => {
    expect(ansiSegments(`\u001b[${parameters}mx`)[0]?.colours).toEqual(colours);
  });

  it('the first sixteen are theme colours, and codes after a colour still apply', () => {
    expect(ansiSegments('\u001b[38;5;9mx\u001b[38;2;1;31;4;4my\u001b[0mz\u001b[4:3mu\u001b[4:0mv')).toEqual([
      { text: 'x', classes: ['ansi-red'] },
      { text: 'y', classes: ['ansi-rgb', 'ansi-underline'], colours: { '--ansi': '#011f04' } },
      { text: 'z', classes: [] },
      { text: 'u', classes: ['ansi-underline'] },
      { text: 'v', classes: [] },
    ]);
  });

  it('titles, links and cursor movements are removed', () => {
    expect(stripAnsi('\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b[2J\u001b[1Ac\u001b(Bd')).toBe('abcd');
  });

  it('plain text is unchanged', () => {
    expect(ansiSegments('plain [31m')).toEqual([{ text: 'plain [31m', classes: [] }]);
  });

  it('for any text, classes come from the page only and no text is lost', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('\u001b', '\u001b[', '31m', ';', ':', '38;2;', '48;5;', '7', '\u009b', '\u001b]', '\u0007'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const segments = ansiSegments(text);
        expect(segments.map((segment) => segment.text).join('')).toBe(stripAnsi(text));
        for (const { classes, colours = {} } of segments) {
          for (const name of classes) expect(name).toMatch(/^ansi-[a-z]+$/);
          for (const value of Object.values(colours)) expect(value).toMatch(/^#[0-9a-f]{6}$/);
        }
      }),
    );
  });

  it('a long line of incomplete sequences takes linear time', () => {
    const text = '\u001b['.repeat(50_000);
    expect(stripAnsi(text).length).toBeLessThanOrEqual(text.length);
  });
});
