import { expect, test } from 'vitest';
import { linkTo, nodeUrl, withoutBase } from './view-url.ts';

test('without a page, the console is at the root', () => {
  expect(linkTo('/logs?q=a')).toBe('/logs?q=a');
  expect(nodeUrl({ origin: 'http://a:1' })).toBe('http://a:1');
});

test.each([
  ['/', '', '/'],
  ['/logs', '', '/logs'],
  ['/ops', '/ops', '/'],
  ['/ops/', '/ops', '/'],
  ['/ops/logs', '/ops', '/logs'],
  ['/opsi/logs', '/ops', undefined],
  ['/logs', '/ops', undefined],
])('%s below "%s" is %s', (path, base, expected) => {
  expect(withoutBase(path, base)).toBe(expected);
});
