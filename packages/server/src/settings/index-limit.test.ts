import { expect, test } from 'vitest';
import { indexLimit, readIndexLimit } from './setting-kinds.ts';

const GIB = 1024 ** 3;

test.each([
  ['2%', 2 * GIB],
  ['0.5%', GIB / 2],
  ['100%', 100 * GIB],
  ['0%', 0],
  ['0', 0],
  ['256MiB', GIB / 4],
  ['4096', 4096],
])('a limit of %s of 100 GiB of logs is %d bytes', (text, bytes) => {
  expect(indexLimit.read(text, { form: 'text', baseDir: '' })).toEqual({ value: text });
  expect(Math.round(readIndexLimit(text)(100 * GIB))).toBe(Math.round(bytes));
});

test.each(['101%', '-1%', '2 %', '%', '2.345%', '', '17TiB', 'all'])('%j is refused', (text) => {
  const refused = expect.stringContaining('is not a size like "4GiB" or a share of the logs like "2%"');
  expect(indexLimit.read(text, { form: 'text', baseDir: '' })).toEqual({ refused });
});

test('programs and files may write bytes as numbers', () => {
  expect(indexLimit.read(4096, { form: 'option', baseDir: '' })).toEqual({ value: '4096' });
  expect(indexLimit.read(0n, { form: 'toml', baseDir: '' })).toEqual({ value: '0' });
  expect(indexLimit.read(true, { form: 'toml', baseDir: '' })).toHaveProperty('refused');
});
