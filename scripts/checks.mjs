import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { COMPILER_ENV, ONE_CHECKER, ROOT } from './steps.mjs';

/** Far more than any check says. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * What holds for the whole source without running it. Those of the gate run with `npm test`, the others with
 * `npm run test:system`; `npm run check` runs all. Not during a build: it replaces files that they read.
 */
export const CHECKS = [
  {
    name: 'format and lint',
    command: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', '.'],
    tier: 'gate',
  },
  {
    name: 'types',
    command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.check.json', ...ONE_CHECKER],
    tier: 'gate',
  },
  {
    name: 'types of the console',
    command: ['node_modules/typescript/bin/tsc', '-p', 'packages/console/tsconfig.json', ...ONE_CHECKER],
    tier: 'gate',
  },
  {
    name: 'proto',
    command: ['node_modules/@bufbuild/buf/bin/buf', 'lint', 'proto'],
    tier: 'system',
  },
  {
    name: 'proto of etcd',
    command: ['node_modules/@bufbuild/buf/bin/buf', 'lint', 'packages/cluster/proto'],
    tier: 'system',
  },
  { name: 'dead code', command: ['node_modules/knip/bin/knip.js'], tier: 'system' },
  { name: 'docs', command: ['scripts/check-docs.mjs'], tier: 'system' },
  { name: 'layers', command: ['node_modules/vitest/vitest.mjs', 'run', 'test/layers.test.ts'] },
];

/** What needs everything built from the source as it is: only `npm test` is sure of that. */
export const BUILT_CHECKS = [
  {
    // Also without the types of Node.js: it runs in browsers. With the declarations of the other packages.
    name: 'types of the client',
    command: ['node_modules/typescript/bin/tsc', '-p', 'packages/client/tsconfig.json', '--noEmit', ...ONE_CHECKER],
    tier: 'gate',
  },
];

/** Runs checks at the same time, and prints the output of those that fail. Whether each has passed, in their order. */
export function runChecks(checks) {
  return Promise.all(checks.map(runCheck));
}

async function runCheck({ name, command }) {
  try {
    await promisify(execFile)(process.execPath, command, {
      cwd: ROOT,
      env: { ...process.env, ...COMPILER_ENV },
      maxBuffer: MAX_OUTPUT_BYTES,
    });
    return true;
  } catch ({ stdout, stderr, message }) {
    console.error(`${stdout || message}${stderr}\ncheck failed: ${name}`);
    return false;
  }
}
