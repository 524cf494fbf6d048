import { createHash } from 'node:crypto';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildNeedleTable, needleForms } from './needle-table.ts';
import { ScrubFeed } from './scrub-feed.ts';
import { Scrubber } from './scrubber.ts';
import { slowScrub } from './testing/slow-scrub.ts';

/** More than one pass of the kernel. */
const LONG_BYTES = 200_000;

/** Few different bytes, so that needles overlap themselves and each other. */
const few = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 6, maxLength: 20 });
const many = fc.string({ unit: fc.constantFrom(...'abcdefgh0123ABC%+/='), minLength: 6, maxLength: 64 });
const needleSets = fc.oneof(
  fc.uniqueArray(few, { minLength: 1, maxLength: 12 }),
  fc.uniqueArray(many, { minLength: 1, maxLength: 20 }),
  fc.uniqueArray(fc.string({ unit: 'binary', minLength: 18, maxLength: 20 }), { minLength: 1, maxLength: 8 }),
);

const cases = needleSets.chain((texts) => {
  const needles = texts.map((text) => Buffer.from(text).subarray(0, 64));
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...needles) },
    // Beginnings and ends of needles, which may combine to needles.
    fc.tuple(fc.constantFrom(...needles), fc.nat(64)).map(([needle, cut]) => needle.subarray(0, cut)),
    fc.tuple(fc.constantFrom(...needles), fc.nat(64)).map(([needle, cut]) => needle.subarray(cut)),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n', '0'), maxLength: 40 }).map((text) => Buffer.from(text)),
  );
  // After a line end nothing is open.
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.concat([...pieces, Buffer.from('\n')]));
  return fc.record({ needles: fc.constant(distinct(needles)), text, lead: fc.nat(9) });
});

function distinct(needles: readonly Buffer[]): Buffer[] {
  return [...new Map(needles.map((needle) => [needle.toString('latin1'), needle])).values()];
}

function createScrubber(needles: readonly Buffer[]): Scrubber {
  return new Scrubber({ id: '', table: buildNeedleTable(needles), patterns: [] });
}

describe('a scrubber', () => {
  test('masks like the slow reference, wherever the text is in memory', () => {
    fc.assert(
      fc.property(cases, ({ needles, text, lead }) => {
        const memory = Buffer.concat([Buffer.alloc(lead, 'a'), text, Buffer.alloc(7, 'b')]);
        const bytes = memory.subarray(lead, lead + text.length);
        createScrubber(needles).mask(bytes, { atEnd: true });
        expect(bytes.toString('latin1')).toBe(slowScrub(text, needles).toString('latin1'));
        expect(memory.subarray(0, lead).toString()).toBe('a'.repeat(lead));
        expect(memory.subarray(lead + text.length).toString()).toBe('b'.repeat(7));
      }),
    );
  });

  test('masks every part, given its surroundings, like the whole', () => {
    fc.assert(
      fc.property(cases, fc.nat(), fc.nat(100), ({ needles, text }, at, length) => {
        const scrubber = createScrubber(needles);
        const start = Math.min(at, text.length) % (text.length + 1);
        const end = Math.min(start + length, text.length);
        const first = Math.max(0, start - scrubber.leftBytes);
        const last = Math.min(end + scrubber.rightBytes, text.length);
        const part = Buffer.from(text.subarray(first, last));
        scrubber.mask(part, { from: start - first, to: end - first, atEnd: last === text.length });
        const whole = slowScrub(text, needles);
        expect(part.subarray(start - first, end - first).toString('latin1')).toBe(
          whole.subarray(start, end).toString('latin1'),
        );
        expect(part.subarray(0, start - first).equals(text.subarray(first, start))).toBe(true);
      }),
    );
  });

  test('masks a text in pieces like the whole', () => {
    fc.assert(
      fc.property(cases, fc.array(fc.integer({ min: 1, max: 40 })), ({ needles, text }, lengths) => {
        const scrubber = createScrubber(needles);
        const feed = new ScrubFeed(() => scrubber);
        const pieces: Buffer[] = [];
        let at = 0;
        for (const length of [...lengths, text.length]) {
          pieces.push(Buffer.from(feed.push(text.subarray(at, at + length))));
          at = Math.min(at + length, text.length);
        }
        pieces.push(feed.end());
        expect(Buffer.concat(pieces).toString('latin1')).toBe(slowScrub(text, needles).toString('latin1'));
      }),
    );
  });

  test('never reveals more than two bytes of the beginning of a secret, however the text grows', () => {
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
      { numRuns: runs(5) },
    );
  });

  test('finds secrets anywhere in a long text', () => {
    const sets = fc.uniqueArray(
      few.map((text) => text.repeat(3)),
      { minLength: 1, maxLength: 8 },
    );
    const positions = fc.array(fc.tuple(fc.nat(3), fc.integer({ min: -140, max: 140 })), {
      minLength: 1,
      maxLength: 12,
    });
    const shortest = fc.integer({ min: 6, max: 40 });
    fc.assert(
      fc.property(sets, positions, shortest, fc.nat(9), (texts, around, length, lead) => {
        const needles = distinct(texts.map((text, index) => Buffer.from(text).subarray(0, length + index)));
        const text = Buffer.alloc(LONG_BYTES, 'the quick brown fox\n');
        for (const [index, [part, off]] of around.entries()) {
          const needle = needles[index % needles.length] ?? Buffer.alloc(0);
          // Around the boundaries of parts, including slightly shorter ones.
          needle.copy(text, Math.max(0, part * 65_536 + off));
        }
        const memory = Buffer.concat([Buffer.alloc(lead), text]);
        const bytes = memory.subarray(lead);
        createScrubber(needles).mask(bytes, { atEnd: true });
        expect(bytes.equals(slowScrub(text, needles))).toBe(true);
      }),
      { numRuns: runs(8) },
    );
  });

  test('finds a secret at every position of the boundary between two parts', () => {
    for (const length of [6, 7, 8, 12, 16, 33, 64]) {
      const needle = Buffer.from('Zq7'.padEnd(length, 'xY9')).subarray(0, length);
      const scrubber = createScrubber([needle]);
      for (let at = 65_536 - 2 * length - 40; at <= 65_536 + 4; at++) {
        const bytes = Buffer.alloc(70_000, '.');
        needle.copy(bytes, at);
        scrubber.mask(bytes);
        expect(bytes.indexOf('*')).toBe(at);
        expect(bytes.lastIndexOf('*')).toBe(at + length - 1);
      }
    }
  });

  test('finds secrets in random bytes, some of which are the secrets', () => {
    const bytes = fc.uint8Array({ minLength: 6, maxLength: 24 });
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 1, maxLength: 6 }), fc.uint8Array({ maxLength: 300 }), (some, noise) => {
        const needles = distinct(some.map((each) => Buffer.from(each)));
        const text = Buffer.concat([...needles, Buffer.from(noise), ...needles.reverse(), Buffer.from('\n')]);
        const masked = Buffer.from(text);
        createScrubber(needles).mask(masked, { atEnd: true });
        expect(masked.equals(slowScrub(text, needles))).toBe(true);
      }),
    );
  });

  test('masks overlapping secrets, and secrets within other secrets, completely', () => {
    const needles = ['hunter2-hunter2', 'hunter2', '2-hunt', 'r2-and-more', 'and-more-of-it'].map((text) =>
      Buffer.from(text),
    );
    const text = Buffer.from('a hunter2-hunter2-and-more-of-it, hunter2-hunt, unter2-hunter, r2-and-mor\n');
    const masked = Buffer.from(text);
    createScrubber(needles).mask(masked);
    expect(masked.toString()).toBe(slowScrub(text, needles).toString());
    expect(masked.toString()).toBe(`a ${'*'.repeat(30)}, ${'*'.repeat(12)}, unter${'*'.repeat(6)}er, r2-and-mor\n`);
  });

  test('finds any of a thousand secrets of eight or more characters', () => {
    const secrets = Array.from({ length: 1000 }, (_, index) => {
      const random = createHash('sha256').update(`secret ${index}`).digest('base64');
      return random.slice(0, 8 + (index % 24));
    });
    const needles = distinct(secrets.flatMap((secret) => needleForms(secret)));
    const pieces = needles.map((needle, index) => Buffer.concat([needle, Buffer.from(` ordinary text ${index}\n`)]));
    const text = Buffer.concat(pieces);
    const masked = Buffer.from(text);
    createScrubber(needles).mask(masked);
    expect(needles.some((needle) => masked.includes(needle))).toBe(false);
    expect(masked.toString().replace(/^\S*\*\S* /gm, '')).toBe(
      needles.map((_, index) => `ordinary text ${index}\n`).join(''),
    );
  });
});
