import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildNeedleTable, needleForms } from './needle-table.ts';
import { ScrubFeed } from './scrub-feed.ts';
import { Scrubber } from './scrubber.ts';
import { ENCODERS, mixed } from './testing/encoders.ts';
import { slowScrub } from './testing/slow-scrub.ts';

const NUM_RUNS = runs(4);

/** With all characters that some encoder escapes. */
const secrets = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aZ09/+=<>&%\'" @:\\#?~!*()[]{}$,;-_.'), minLength: 6, maxLength: 24 }),
  fc.string({
    unit: fc.constantFrom('a', 'ä', '✓', '🔑', '%', '\\', '/', '+', '2', 'F', 'u'),
    minLength: 6,
    maxLength: 12,
  }),
);

/** The surroundings may look like a part of it, or of an escape. */
const around = fc.string({ unit: fc.constantFrom('a', '/', '=', 'u', '2', ' ', '"', ':', 'F'), maxLength: 12 });

function createScrubber(needles: readonly Buffer[]): Scrubber {
  return new Scrubber({ id: '', table: buildNeedleTable(needles), patterns: [] });
}

function scrubbed(secret: string, text: string): string {
  const bytes = Buffer.from(text);
  createScrubber(needleForms(secret)).mask(bytes);
  return bytes.toString();
}

/** Decodes the log like a reader would. Masking may have made the escapes invalid: then there is nothing to decode. */
function decoded(text: string, decode: (text: string) => string): string {
  try {
    return decode(text);
  } catch {
    return text;
  }
}

describe('a secret written with escapes', () => {
  test.each(ENCODERS)('by $name is masked, and cannot be recovered by decoding', ({ encode, decode }) => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, behind) => {
        fc.pre(!`${before}${behind}`.includes(secret));
        const text = scrubbed(secret, `${encode(before)}${encode(secret)}${encode(behind)}\n`);
        expect(text).toContain('*'.repeat(Buffer.byteLength(encode(secret))));
        expect(decoded(text.slice(0, -1), decode)).not.toContain(secret);
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test('in any mixture is masked', () => {
    const choices = fc.array(fc.nat(3), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(secrets, choices, around, (secret, choice, before) => {
        const form = mixed(secret, choice);
        fc.pre(form.length <= 12 * Buffer.byteLength(secret));
        const text = scrubbed(secret, `${before}${form}\n`);
        expect(text.slice(-1 - Buffer.byteLength(form), -1)).toBe('*'.repeat(Buffer.byteLength(form)));
      }),
      { numRuns: runs(1) * NUM_RUNS },
    );
  });

  test.each(ENCODERS)('by $name is masked as its base64, too', ({ encode }) => {
    const secret = 'p/w+ü?>"sécret~~';
    for (const before of ['', 'u', 'us']) {
      const base64 = Buffer.from(`${before}${secret}`).toString('base64');
      const stars = scrubbed(secret, `${encode(base64)}\n`).split('*').length - 1;
      expect(stars).toBeGreaterThanOrEqual(Math.floor((Buffer.byteLength(secret) * 8) / 6) - 1);
    }
  });
});

/** Needles and texts of few characters, so that escapes, needles and parts of both are combined in all ways. */
const signs = fc.constantFrom(
  'a',
  'b',
  '%',
  '\\',
  '+',
  ' ',
  '/',
  '2',
  'F',
  '5',
  'C',
  'u',
  '0',
  'x',
  '&',
  '#',
  ';',
  'ä',
);
const pieces = fc.oneof(
  { weight: 4, arbitrary: signs },
  fc.constantFrom(
    '%2F',
    '%25',
    '%5c',
    '\\u002f',
    '\\u00e4',
    '\\\\',
    '\\/',
    '%252F',
    '\\\\u002F',
    '&#47;',
    '&amp;',
    '\\x2f',
    '\\057',
    '\n',
  ),
);
const cases = fc
  .uniqueArray(fc.string({ unit: signs, minLength: 6, maxLength: 9 }), { minLength: 1, maxLength: 4 })
  .chain((texts) => {
    const needles = [...new Map(texts.flatMap(needleForms).map((form) => [form.toString('latin1'), form])).values()];
    const planted = fc
      .tuple(fc.constantFrom(...texts), fc.array(fc.nat(3), { maxLength: 6 }), fc.nat(40), fc.boolean())
      .map(([text, choice, cut, isHead]) => {
        const form = mixed(text, choice);
        return isHead ? form.slice(0, cut) : form.slice(Math.max(0, form.length - cut));
      });
    const part = fc.oneof(
      planted,
      planted,
      fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
    );
    const text = fc.array(part, { maxLength: 8 }).map((parts) => Buffer.from(`${parts.join('')}\n`));
    return fc.record({ needles: fc.constant(needles), text });
  });

describe('escapes', () => {
  test('are decoded like the slow reference does', () => {
    fc.assert(
      fc.property(cases, ({ needles, text }) => {
        const masked = Buffer.from(text);
        createScrubber(needles).mask(masked);
        expect(masked.toString('latin1')).toBe(slowScrub(text, needles).toString('latin1'));
      }),
      { numRuns: runs(3) * NUM_RUNS },
    );
  });

  test('make no difference to how a text is split into pieces', () => {
    fc.assert(
      fc.property(cases, fc.array(fc.integer({ min: 1, max: 30 })), ({ needles, text }, lengths) => {
        const scrubber = createScrubber(needles);
        const feed = new ScrubFeed(() => scrubber);
        const passed: Buffer[] = [];
        let at = 0;
        for (const length of [...lengths, text.length]) {
          passed.push(Buffer.from(feed.push(text.subarray(at, at + length))));
          at = Math.min(at + length, text.length);
        }
        passed.push(feed.end());
        expect(Buffer.concat(passed).toString('latin1')).toBe(slowScrub(text, needles).toString('latin1'));
      }),
      { numRuns: runs(1) * NUM_RUNS },
    );
  });

  test('make no difference to a part that is read with its surroundings', () => {
    fc.assert(
      fc.property(cases, fc.nat(), fc.nat(40), ({ needles, text }, at, length) => {
        const scrubber = createScrubber(needles);
        const start = at % (text.length + 1);
        const end = Math.min(start + length, text.length);
        const first = Math.max(0, start - scrubber.leftBytes);
        const part = Buffer.from(text.subarray(first, end + scrubber.rightBytes));
        scrubber.mask(part, { from: start - first, to: end - first });
        const whole = slowScrub(text, needles);
        expect(part.subarray(start - first, end - first).equals(whole.subarray(start, end))).toBe(true);
      }),
      { numRuns: runs(1) * NUM_RUNS },
    );
  });

  test('of a text that is still being written reveal no more than two bytes of a secret', () => {
    fc.assert(
      fc.property(cases, ({ needles, text }) => {
        const scrubber = createScrubber(needles);
        const known = slowScrub(text, needles);
        for (let length = 0; length <= text.length; length++) {
          const seen = Buffer.from(text.subarray(0, length));
          scrubber.mask(seen, { atEnd: true });
          const leaked = seen.findIndex((byte, index) => byte !== 42 && known[index] === 42 && text[index] !== 42);
          if (leaked >= 0) expect(length - leaked).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test('that are not part of a secret are not changed', () => {
    const text = Buffer.from(
      Array.from(
        { length: 500 },
        (_, index) => `{"msg":"a \\"b\\"\\n\\tat C:\\\\x%20y\\u00e4${index}","url":"/q?a=1&amp;b=%2F+c"}\n`,
      ).join(''),
    );
    const masked = Buffer.from(text);
    expect(createScrubber(needleForms('a"b/c d&e=é')).mask(masked)).toBe(false);
    expect(masked.equals(text)).toBe(true);
  });

  test('crafted to be ambiguous in very many ways are masked without trying each', () => {
    const needle = '%25'.repeat(21);
    const text = Buffer.from(`${'%25'.repeat(20_000)} and more\n`);
    createScrubber(needleForms(needle)).mask(text);
    expect(text.includes('%25')).toBe(false);
    // It was not searched to its end: nothing of the rest is shown, whether it is a secret or not.
    expect(text.includes('and more')).toBe(false);
  });
});
