import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileKernels, fingerprintKernels, readFingerprint } from '../scripts/kernel.mjs';

/** Compiling takes 10 s of a core, and gives another result only where a hash is another. */
const IS_THOROUGH = Number(process.env.MORE ?? 1) > 1;

const STALE = 'stale: run npm run kernel';

test('the compiled kernels were made of the sources beside them, by the compiler of the lockfile', async () => {
  expect(fingerprintKernels(), STALE).toEqual(readFingerprint());
  for (const [path, text] of IS_THOROUGH ? await compileKernels() : [])
    expect(readFileSync(path, 'utf8'), STALE).toBe(text);
});
