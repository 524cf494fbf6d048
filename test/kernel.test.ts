import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileKernels } from '../scripts/kernel.mjs';

test('the compiled kernels are those of the sources beside them', async () => {
  for (const [name, text] of await compileKernels()) {
    const committed = readFileSync(new URL(`../packages/logs/src/kernel/${name}`, import.meta.url), 'utf8');
    expect(committed, `${name} is stale: run npm run kernel`).toBe(text);
  }
});
