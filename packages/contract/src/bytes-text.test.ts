import { expect, it } from 'vitest';
import { formatBytes } from './bytes-text.ts';

it.each([
  [0, '0 B'],
  [1, '1 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [102_400, '100 KiB'],
  [5 * 1024 ** 2, '5.0 MiB'],
  [1024 ** 3, '1.0 GiB'],
  [3 * 1024 ** 5, '3072 TiB'],
])('%d bytes are %s', (bytes, shown) => {
  expect(formatBytes(bytes)).toBe(shown);
});
