import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_NEEDLE_BYTES, MIN_NEEDLE_BYTES, needleForms } from './needle-table.ts';
import { Scrubbing } from './scrubber.ts';

function texts(value: string): string[] {
  return needleForms(value).map((form) => form.toString());
}

/** Scrubs the text; throws if the value remains in it. */
function scrubbed(value: string, text: string): string {
  const scrubbing = new Scrubbing();
  scrubbing.add([value]);
  const bytes = Buffer.from(text);
  scrubbing.current?.mask(bytes);
  return bytes.toString();
}

describe('the forms of a secret', () => {
  test('a plain word is searched literally and in base64', () => {
    expect(texts('hunter2hunter')).toEqual([
      'hunter2hunter',
      'aHVudGVyMmh1bnRlc',
      'h1bnRlcjJodW50ZX',
      'odW50ZXIyaHVudGVy',
    ]);
  });

  test.each([
    ['a/b c"d&e', 'a%2Fb%20c%22d%26e'],
    ['a/b c"d&e', 'a%2fb%20c%22d%26e'],
    ['a/b c"d&e', 'a%2Fb+c%22d%26e'],
    ['a/b c"d&e', 'a/b+c%22d&e'],
    ['a/b c"d&e', 'a%252Fb%2520c%2522d%2526e'],
    ['a/b c"d&e', 'a/b c\\"d&e'],
    ['a/b c"d&e', 'a\\/b c\\"d&e'],
    ['a/b c"d&e', 'a/b c\\"d\\u0026e'],
    ['a/b c"d&e', 'a/b c\\\\\\"d&e'],
    ['a/b c"d&e', 'a\\057b c&quot;d&#38;e'],
    ["it's(me)!", 'it%27s%28me%29%21'],
    ['pässword', 'p\\u00e4ssword'],
    ['pässword', 'p\\xe4ssword'],
    ['pässword', 'p\\xc3\\xa4ssword'],
    ['pässword', 'p%C3%A4ssword'],
    ['🔑passw', '\\uD83D\\uDD11passw'],
  ])('%s is recognised as %s', (value, form) => {
    expect(scrubbed(value, `${form}\n`)).toBe(`${'*'.repeat(Buffer.byteLength(form))}\n`);
  });

  test('in base64 it is masked whatever surrounds it, except for the characters that contain other bits', () => {
    const bytes = fc.string({ unit: 'binary', maxLength: 12 });
    fc.assert(
      fc.property(
        bytes,
        fc.string({ unit: 'grapheme', minLength: 6, maxLength: 40 }),
        bytes,
        (before, value, after) => {
          const size = Buffer.byteLength(value);
          fc.pre(size >= MIN_NEEDLE_BYTES && !/[\r\n]/.test(value));
          for (const encoding of ['base64', 'base64url'] as const) {
            const encoded = Buffer.from(`${before}${value}${after}`).toString(encoding);
            const stars = scrubbed(value, encoded).split('*').length - 1;
            expect(stars).toBeGreaterThanOrEqual(Math.floor((size * 8) / 6) - 1);
          }
        },
      ),
    );
  });

  test('a multi-line value is masked line by line, and as a whole if it is escaped', () => {
    const key = `-----BEGIN KEY-----\n${'abcdef0123'.repeat(6)}\n${'9876543210'.repeat(6)}\n-----END KEY-----\n`;
    expect(scrubbed(key, key)).toBe(`-----BEGIN KEY-----\n${'*'.repeat(60)}\n${'*'.repeat(60)}\n-----END KEY-----\n`);
    expect(scrubbed(key, JSON.stringify(key))).toMatch(/^"\*{140,}"$/);
  });

  test('a long value is masked as far as it goes if it was truncated', () => {
    const token = Array.from({ length: 300 }, (_, index) => (index * 7).toString(36)).join('');
    expect(scrubbed(token, token)).toBe('*'.repeat(token.length));
    expect(scrubbed(token, `${token.slice(0, 200)}...`)).toBe(`${'*'.repeat(192)}${token.slice(192, 200)}...`);
  });

  test('none exceeds the maximum length of needles, and short values are ignored', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (value) => {
        for (const form of needleForms(value)) {
          expect(form.length).toBeLessThanOrEqual(MAX_NEEDLE_BYTES);
          expect(form.length).toBeGreaterThanOrEqual(MIN_NEEDLE_BYTES);
          // A value with line ends is recognised if they are escaped.
          expect(scrubbed(value, form.toString('latin1')).includes('\n')).toBe(form.includes(10));
        }
      }),
      { numRuns: runs(20) },
    );
  });
});

describe('what is scrubbed', () => {
  test('is bounded: the latest values are used, and the dropped ones are counted', () => {
    const scrubbing = new Scrubbing();
    expect(scrubbing.add(['the-first-of-all'])).toBe(0);
    const many = Array.from({ length: 5000 }, (_, index) => `secret number ${index} of very many`);
    expect(scrubbing.add(many)).toBeGreaterThan(0);
    const text = Buffer.from('the-first-of-all and secret number 0 of very many');
    scrubbing.current?.mask(text);
    expect(text.toString()).toBe(`the-first-of-all and ${'*'.repeat('secret number 0 of very many'.length)}`);
  });

  test('is empty while there are no secrets, and does not change while there are no new ones', () => {
    const scrubbing = new Scrubbing();
    expect(scrubbing.current).toBeUndefined();
    scrubbing.add(['tiny']);
    expect(scrubbing.current).toBeUndefined();
    scrubbing.add(['long enough']);
    const { current } = scrubbing;
    scrubbing.add(['long enough']);
    expect(scrubbing.current).toBe(current);
  });
});
