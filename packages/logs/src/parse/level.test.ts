import { expect, test } from 'vitest';
import { LONGEST_LEVEL, parseLevel } from './level.ts';

const readLevel = (word: string) => parseLevel(Buffer.from(word), 0, Buffer.byteLength(word));

const words: [string, string][] = [
  ['TRACE', 'TRACE'],
  ['DEBUG', 'DEBUG'],
  ['INFO', 'INFO'],
  ['NOTICE', 'INFO'],
  ['WARN', 'WARN'],
  ['WARNING', 'WARN'],
  ['ERROR', 'ERROR'],
  ['ERR', 'ERROR'],
  ['DPANIC', 'ERROR'],
  ['PANIC', 'FATAL'],
  ['FATAL', 'FATAL'],
  ['CRITICAL', 'FATAL'],
];

test.each(words)('%s means %s, in any case', (word, level) => {
  expect(readLevel(word)).toBe(level);
  expect(readLevel(word.toLowerCase())).toBe(level);
  expect(readLevel(`${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)).toBe(level);
  expect(word.length).toBeLessThanOrEqual(LONGEST_LEVEL);
});

test.each([
  '',
  'INF',
  'INFOS',
  'INFO ',
  ' INFO',
  '[INFO]',
  'I',
  'constructor',
  'toString',
  '__proto__',
  'ERROR:',
  '\tINFO',
  'ınfo',
  'INFO\0',
  ')nfo',
])('%j is no level', (word) => {
  expect(readLevel(word)).toBeUndefined();
});

test('a level can be anywhere in a buffer', () => {
  expect(parseLevel(Buffer.from('xxWARNxx'), 2, 6)).toBe('WARN');
  expect(parseLevel(Buffer.from('xxWARNxx'), 2, 2)).toBeUndefined();
});
