import { expect, test } from 'vitest';
import { describeFound, quote, showText, showValue } from './show-value.ts';

test.each([
  ['plain', '"plain"'],
  ['say "x" \\ y', '"say \\"x\\" \\\\ y"'],
  ['a\nb\u0000\u001b[31m', '"a\\u{a}b\\u{0}\\u{1b}[31m"'],
  ['\u202egnp.exe', '"\\u{202e}gnp.exe"'],
  ['\ud800', '"\\u{d800}"'],
  ['grüße 日本 🚀', '"grüße 日本 🚀"'],
])('%j is quoted on one line with nothing invisible', (text, expected) => {
  expect(quote(text)).toBe(expected);
});

test('a long text is cut, never through a character', () => {
  expect(quote('🚀'.repeat(1000))).toBe(`"${'🚀'.repeat(80)}..."`);
  expect(showText('x'.repeat(80))).toBe('x'.repeat(80));
  expect(showText('x'.repeat(81))).toBe(`${'x'.repeat(80)}...`);
  expect(showText('🚀'.repeat(80))).toBe('🚀'.repeat(80));
});

test.each<{ found: string; value: unknown }>([
  { found: 'a string "x"', value: 'x' },
  { found: 'an integer 5', value: 5n },
  { found: 'a float 1.5', value: 1.5 },
  { found: 'a boolean true', value: true },
  { found: 'a list', value: [1, 2] },
  { found: 'a table', value: { a: 1 } },
  { found: 'a date', value: new Date(0) },
  { found: 'null', value: null },
  { found: 'a value of type undefined', value: undefined },
  { found: 'a value of type function', value: () => 0 },
])('a value is found as $found', ({ found, value }) => {
  expect(describeFound(value, 'toml')).toBe(found);
});

test('a whole number of a program is an integer', () => {
  expect(describeFound(5, 'option')).toBe('an integer 5');
  expect(describeFound(5, 'toml')).toBe('a float 5');
});

test('a number of a thousand digits is cut', () => {
  expect(showValue(10n ** 1000n)).toBe(`1${'0'.repeat(79)}...`);
});
