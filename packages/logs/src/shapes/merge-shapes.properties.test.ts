import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messageShape } from '../query/message-shape.ts';
import { mergeShapes } from './merge-shapes.ts';
import { matchesShape } from './testing/matches-shape.ts';

const RUNS = 100;

const WORDS = [
  'login',
  'of',
  'user',
  'Sun',
  'Jul',
  '17',
  '5',
  'bytes',
  '(3.5',
  'KB)',
  'a=b.c',
  '"',
  "'",
  '"x',
  '*',
  '**',
];
const MARKS = [
  '()',
  '(x)',
  '/a/b',
  '://',
  'x://y',
  '::1',
  'a:1',
  'GET',
  '/',
  '\\',
  'deadbeef',
  'SHA1',
  'host.org:',
  '\t',
];
const NAMES = ['ann', 'bob', 'cy', 'dee', 'eve', 'flo', 'gus', 'hal'];

const word = fc.oneof(fc.constantFrom(...WORDS, ...MARKS), fc.constantFrom(...NAMES), fc.string({ maxLength: 5 }));
/** One of few kinds of messages with names in them, or anything. */
const message = fc.oneof(
  fc
    .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES))
    .map(([a, b]) => `lost peer ${a} of zone ${b} for good`),
  fc.constantFrom(...NAMES, '1', '****').map((name) => `rhost=${name}, not known: it was refused`),
  fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
);
const messages = fc.array(message, { maxLength: 60 });

function mergeMessages(given: readonly string[]): (message: string) => string {
  const merged = mergeShapes(given.map(messageShape));
  return (text) => merged.get(messageShape(text)) ?? 'none';
}

test('every message matches the shape of its group', () => {
  fc.assert(
    fc.property(messages, (given) => {
      const shapeOf = mergeMessages(given);
      for (const text of given) {
        const shape = shapeOf(text);
        expect([text, shape, matchesShape(shape, text)]).toEqual([text, shape, true]);
      }
    }),
    { numRuns: runs(RUNS) },
  );
});

test('the order and number of messages do not matter', () => {
  fc.assert(
    fc.property(messages, fc.infiniteStream(fc.nat()), (given, ranks) => {
      const ranked = given.map((text) => ({ text, rank: ranks.next().value ?? 0 })).sort((a, b) => a.rank - b.rank);
      const shapeOf = mergeMessages(given);
      const reordered = mergeMessages([...ranked, ...ranked.slice(0, 3)].map(({ text }) => text));
      for (const text of given) expect(reordered(text)).toBe(shapeOf(text));
    }),
    { numRuns: runs(RUNS) },
  );
});

test('shapes that were merged apart, as by two members, still match when they are merged together', () => {
  fc.assert(
    fc.property(messages, messages, (here, there) => {
      const members = [here, there].map((given) => ({ given, shapeOf: mergeMessages(given) }));
      const together = mergeShapes(members.flatMap(({ given, shapeOf }) => given.map(shapeOf)));
      for (const { given, shapeOf } of members)
        for (const text of given) expect(matchesShape(together.get(shapeOf(text)) ?? 'none', text)).toBe(true);
    }),
    { numRuns: runs(RUNS) },
  );
});
