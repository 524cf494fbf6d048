import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visibleJson, visibleText } from './visible-text.ts';

describe('text on a terminal', () => {
  it.each([
    ['plain text, \ttabs\nand lines', 'plain text, \ttabs\nand lines'],
    ['\u001b[31mred', '\\x1b[31mred'],
    ['bell \u0007 and back \b', 'bell \\x07 and back \\x08'],
    ['C1 \u009b31m', 'C1 \\x9b31m'],
    ['turned \u202e around', 'turned \\u202e around'],
    ['\r', '\\x0d'],
    ['日本 🎉', '日本 🎉'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it('holds nothing a terminal acts on, whatever the log says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(text).replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  it('is still the same JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = visibleJson(JSON.stringify({ text }));
        expect(JSON.parse(shown)).toEqual({ text });
        expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});
