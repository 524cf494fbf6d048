import { expect, test } from 'vitest';
import { isWithin, parseKeyPath } from './key-path.ts';

test.each([
  ['http', ['http']],
  ['http.max-streams', ['http', 'max-streams']],
  ['servers[0]."host name".port', ['servers', 0, 'host name', 'port']],
  ['a[1][2]', ['a', 1, 2]],
  ['"a.b"', ['a.b']],
  ['"say \\"hi\\""', ['say "hi"']],
  ['', undefined],
  ['.a', ['a']],
  ['a..b', undefined],
  ['a.', undefined],
  ['a b', undefined],
  ['a[x]', undefined],
  ['"open', undefined],
])('%s is read as %j', (text, path) => {
  expect(parseKeyPath(text)).toEqual(path);
});

test('a path is within itself and what it begins with, part by part', () => {
  expect(isWithin(['http', 'port'], ['http'])).toBe(true);
  expect(isWithin(['http', 'port'], ['http', 'port'])).toBe(true);
  expect(isWithin(['https', 'port'], ['http'])).toBe(false);
  expect(isWithin(['http'], ['http', 'port'])).toBe(false);
});
