import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { BUILT_FILES, builtPackages } from './test/built-packages.ts';
import { LongestFirst } from './test/longest-first.ts';
import { measureTimeoutScale } from './test/measure-timeout-scale.ts';
import { plainEnvironment } from './test/plain-environment.ts';
import tsconfig from './tsconfig.check.json' with { type: 'json' };

// Packages resolve each other to their TypeScript source in tests, so a test never sees a stale build. Only `npm test`, which
// has made one just before, has end-to-end tests use it.
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [path = '']]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(path, import.meta.url)),
}));

const USES_BUILD = process.env.TEST_USES_BUILD === 'true';
const PLUGINS = USES_BUILD ? [builtPackages] : [];

const SCALE = measureTimeoutScale();

plainEnvironment();

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
  ...(USES_BUILD && { server: { deps: { external: [BUILT_FILES] } } }),
};

/** These replace calls of the system, or measure what the thread holds: each has a thread of its own. */
const ALONE = [
  'packages/*/src/**/*leaks.test.ts',
  'packages/logs/src/file/handle-cache.test.ts',
  'packages/logs/src/follow/tail/interleaving.test.ts',
  'packages/logs/src/block-index/edited-files.properties.test.ts',
  'packages/logs/src/search/hostile-files.test.ts',
  'e2e/soak.test.ts',
];

/**
 * A thread for each of hundreds of files, and the same imports and scanning threads again in each, took longer than most
 * of their tests: all others share one.
 */
const TOGETHER = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'e2e/*.test.ts'];

/** Where `npm test` reads the results. It runs some suites beside others: a summary that rewrites lines would mix them up. */
const { TEST_REPORT } = process.env;

export default defineConfig({
  test: {
    reporters: TEST_REPORT
      ? [
          ['default', { summary: false }],
          ['json', { outputFile: TEST_REPORT }],
        ]
      : ['default'],
    // Only here: what stands in a project is done once for each of them.
    globalSetup: ['test/build-logs.ts'],
    // Three more than the usual two cores: browsers and programs are waited for, about half of the time.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      { plugins: PLUGINS, resolve: { alias }, test: { ...COMMON, name: 'alone', include: ALONE } },
      {
        plugins: PLUGINS,
        resolve: { alias },
        test: {
          ...COMMON,
          name: 'together',
          include: TOGETHER,
          exclude: ALONE,
          isolate: false,
        },
      },
    ],
  },
});
