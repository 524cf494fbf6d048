import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { measureTimeoutScale } from './test/measure-timeout-scale.ts';
import tsconfig from './tsconfig.check.json' with { type: 'json' };

// Packages resolve each other to their TypeScript source in tests, so a test never sees a stale build.
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [path = '']]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(path, import.meta.url)),
}));

const SCALE = measureTimeoutScale();

/**
 * Finds what hangs, so that it need not be near to what a test takes: the longest installs and builds a checkout. No test
 * has a timeout of its own. MORE is for longer runs of the property tests.
 */
const TIMEOUT_MS = 180_000 * SCALE * Math.max(1, Number(process.env.MORE ?? 1));

const COMMON: ViteUserConfig['test'] = {
  setupFiles: ['test/setup.ts'],
  pool: 'threads',
  testTimeout: TIMEOUT_MS,
  hookTimeout: TIMEOUT_MS,
  env: { TEST_TIMEOUT_SCALE: String(SCALE) },
};

/**
 * A thread for each of hundreds of files, and the same imports again in each, took longer than most of their tests: these
 * share one. Not those that look at all that a thread holds.
 */
const TOGETHER = [
  'packages/{cli,client,cluster,console,contract,server}/src/**/*.test.ts',
  'e2e/{browser,cli,cluster,command,console}-*.test.ts',
];
const LEAKS = 'packages/*/src/**/*leaks.test.ts';

/** Not the engine either: some of its tests replace calls of the system, others measure what they leave behind. */
const ALONE = [
  'packages/logs/src/**/*.test.ts',
  LEAKS,
  'test/**/*.test.ts',
  'e2e/!(browser-*|cli-*|cluster-*|command-*|console-*).test.ts',
];

export default defineConfig({
  test: {
    // Only here: what stands in a project is done once for each of them.
    globalSetup: ['test/build-logs.ts'],
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      { resolve: { alias }, test: { ...COMMON, name: 'alone', include: ALONE, sequence: { groupOrder: 0 } } },
      {
        resolve: { alias },
        test: {
          ...COMMON,
          name: 'together',
          include: TOGETHER,
          exclude: [LEAKS],
          isolate: false,
          // One more than there are cores: browsers and programs are waited for, about half of the time.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
