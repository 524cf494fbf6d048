import { expect, test } from 'vitest';
import { LEVELS_BY_RANK } from '../../level.ts';
import { findLevel } from './find-level.ts';

const levelIn = (text: string) => LEVELS_BY_RANK[findLevel(Buffer.from(text), 0, Buffer.byteLength(text))];

test.each([
  [' INFO x', 'INFO'],
  ['\tinfo\tx', 'INFO'],
  [' warn x', 'WARN'],
  [' Error: x', 'ERROR'],
  [' [INFO ] x', 'INFO'],
  ['[warn] x', 'WARN'],
  [' <Error> x', 'ERROR'],
  [' (debug) x', 'DEBUG'],
  [' WRN x', 'WARN'],
  [' | ERROR | x', 'ERROR'],
  [' - app - CRITICAL - x', 'FATAL'],
  [' [main] INFO  c.e.App - x', 'INFO'],
  [' [a [b] c] [x] DEBUG y', 'DEBUG'],
  [' [123] user@db ERROR:  x', 'ERROR'],
  [' [9] DEBUG5:  x', 'DEBUG'],
  [' ERROR', 'ERROR'],
])('%j names %s', (text, level) => {
  expect(levelIn(text)).toBe(level);
});

test.each([
  '',
  ' ',
  ' there was an error here',
  ' no error: fine',
  ' Informal greeting',
  ' fine weather',
  ' INFO.txt was read',
  ' ERRORS 12',
  ' a b c d e f g ERROR',
  ' [ERROR',
  ' [a',
  ` ${'x'.repeat(600)} ERROR`,
  ' DEBUG9: x',
])('%j names none', (text) => {
  expect(levelIn(text)).toBeUndefined();
});
