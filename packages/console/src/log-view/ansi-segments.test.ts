import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ansiSegments, stripAnsi } from './ansi-segments.ts';

describe('text for terminals', () => {
  it('is cut into runs with classes of the page', () => {
    expect(ansiSegments('a\u001b[1;31mred\u001b[0m b \u001b[92mgreen')).toEqual([
      { text: 'a', look: [] },
      { text: 'red', look: ['ansi-red', 'ansi-bold'] },
      { text: ' b ', look: [] },
      { text: 'green', look: ['ansi-green'] },
    ]);
  });

  it('colours by number are left out, and what follows is not taken for a colour', () => {
    expect(ansiSegments('\u001b[38;5;31mx\u001b[38;2;1;31;4my\u001b[4mz')).toEqual([
      { text: 'x', look: [] },
      { text: 'y', look: [] },
      { text: 'z', look: ['ansi-underline'] },
    ]);
  });

  it('titles, links and moves of the cursor are nothing', () => {
    expect(stripAnsi('\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b[2J\u001b[1Ac\u001b(Bd')).toBe('abcd');
  });

  it('plain text stays as it is', () => {
    expect(ansiSegments('plain [31m')).toEqual([{ text: 'plain [31m', look: [] }]);
  });

  it('whatever it is, classes come from the page only and no other text is lost', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('\u001b', '\u001b[', '31m', ';', '\u009b', '\u001b]', '\u0007'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const segments = ansiSegments(text);
        expect(segments.map((segment) => segment.text).join('')).toBe(stripAnsi(text));
        for (const { look } of segments) for (const name of look) expect(name).toMatch(/^ansi-[a-z]+$/);
      }),
    );
  });

  it('a long line of beginnings takes no longer than any other', () => {
    const text = '\u001b['.repeat(50_000);
    expect(stripAnsi(text).length).toBeLessThanOrEqual(text.length);
  });
});
