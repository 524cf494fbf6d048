import { expect, test } from 'vitest';
import { closestMatch } from './check-options.ts';

test.each([
  ['prot', ['host', 'port'], 'port'],
  ['PORT', ['port'], 'port'],
  ['levl', ['level', 'dir'], 'level'],
  ['max-stream', ['max-streams', 'max-url-bytes'], 'max-streams'],
  ['strems', ['streams'], 'streams'],
  ['eroor.log', ['info.log', 'error.log'], 'error.log'],
  ['port', ['ports', 'port'], 'port'],
  ['abcdef', ['abcdeg', 'abcdeh'], 'abcdeg'],
])('%s is taken for the nearest of %j', (word, candidates, expected) => {
  expect(closestMatch(word, candidates)).toBe(expected);
});

test.each([
  ['xyz', ['port']],
  ['a', ['b']],
  ['', ['port']],
  ['port', []],
  ['completely-different', ['max-requests-per-second']],
])('nothing is suggested for %j among %j', (word, candidates) => {
  expect(closestMatch(word, candidates)).toBeUndefined();
});

test('a word of megabytes costs nothing', () => {
  expect(closestMatch('x'.repeat(10_000_000), ['port', 'host'])).toBeUndefined();
});
