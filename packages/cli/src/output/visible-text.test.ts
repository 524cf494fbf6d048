import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visibleJson, visibleText } from './visible-text.ts';

/** What follows an emoji is part of it. */
const HIDDEN =
  /(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

describe('text on a terminal', () => {
  it.each([
    ['plain text, \ttabs\nand lines', 'plain text, \ttabs\nand lines'],
    ['\u001b[31mred', '\\x1b[31mred'],
    ['bell \u0007 and back \b', 'bell \\x07 and back \\x08'],
    ['C1 \u009b31m', 'C1 \\x9b31m'],
    ['turned \u202e around', 'turned \\u202e around'],
    ['\r', '\\x0d'],
    ['no\u200bwidth\ufeff', 'no\\u200bwidth\\ufeff'],
    ['soft\u00adhyphen', 'soft\\xadhyphen'],
    ['tag \u{e0041}', 'tag \\udb40\\udc41'],
    ['family 👨\u200d👩\u200d👧 ❤\ufe0f', 'family 👨\u200d👩\u200d👧 ❤\ufe0f'],
    ['日本 🎉', '日本 🎉'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it('contains no control characters, whatever the log contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(text).replace(/[\n\t]/g, '')).not.toMatch(HIDDEN);
      }),
    );
  });

  it('is still the same JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = visibleJson(JSON.stringify({ text }));
        expect(JSON.parse(shown)).toEqual({ text });
        expect(shown).not.toMatch(HIDDEN);
      }),
    );
  });
});
