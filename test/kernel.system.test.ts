import { readFileSync } from 'node:fs';
import { IS_LONG_RUN } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { compileKernels, fingerprintKernels, readFingerprint } from '../scripts/kernel.mjs';

/** Compiling takes 10 s of a core, and gives another result only where a hash is another. */

const STALE = 'stale: run npm run kernel';

test('the compiled kernels were made of the sources beside them, by the compiler of the lockfile', async () => {
  expect(fingerprintKernels(), STALE).toEqual(readFingerprint());
  for (const [path, text] of IS_LONG_RUN ? await compileKernels() : [])
    expect(readFileSync(path, 'utf8'), STALE).toBe(text);
});
