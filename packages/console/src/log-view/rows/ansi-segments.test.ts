import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ansiSegments, stripAnsi } from './record-text.ts';

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
