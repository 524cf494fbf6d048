import { expect, it } from 'vitest';
import { patternText } from './patterns.ts';

it.each([
  ['wal.go:211', null, 'wal.go:211'],
  [null, '* * "GET * *" * * Error *: storage * does not respond', '… "GET …" … Error …: storage … does not respond'],
  [null, 'took * ms', 'took … ms'],
  [null, '* * *', '…'],
  [null, '', '(no message)'],
  [null, null, '(no message)'],
])('a pattern of source %j and shape %j is called %s', (source, shape, text) => {
  expect(patternText({ source, shape })).toBe(text);
});
