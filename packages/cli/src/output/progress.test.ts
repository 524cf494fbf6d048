import { expect, it } from 'vitest';
import { progressBar } from './progress.ts';

it.each([
  [0, 100, '[------------------------]   0 %  0 of 100'],
  [50, 100, '[############------------]  50 %  50 of 100'],
  [100, 100, '[########################] 100 %  100 of 100'],
  [120, 100, '[########################] 100 %  120 of 100'],
  [0, 0, '[########################] 100 %  0 of 0'],
])('%d of %d', (done, total, bar) => {
  expect(progressBar(done, total, String)).toBe(bar);
});
