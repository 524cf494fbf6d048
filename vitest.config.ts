import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { BUILT_FILES, builtPackages } from './test/built-packages.ts';
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

/** What `npm test` and `npm run test:system` leave out: each the files of the other tier, and what lacks a program. */
const { TEST_TIER, TEST_SKIPPED_FILES = '' } = process.env;
const EXCLUDED = [
  '**/node_modules/**',
  ...(TEST_TIER === 'gate' ? ['**/*.system.test.ts'] : []),
  ...(TEST_TIER === 'system' ? ['**/!(*.system).test.ts'] : []),
  ...TEST_SKIPPED_FILES.split('\n').filter((path) => path !== ''),
];
const FOLDERS = ['packages/*/src/**', 'test/**', 'e2e'];

/** Files that replace calls of the system, or measure what their thread holds: each has a thread of its own. */
const ALONE = FOLDERS.map((folder) => `${folder}/*.alone*.test.ts`);

/** All others share threads: imports, and threads that scan, cost more than most of the tests. */
const TOGETHER = FOLDERS.map((folder) => `${folder}/*.test.ts`);

/** Files with a thread of their own first: a shared thread ends, with all that it has loaded, when such a file is next. */
class AloneFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => Number(b.project.config.isolate) - Number(a.project.config.isolate));
  }
}

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
    sequence: { sequencer: AloneFirst },
    projects: [
      { plugins: PLUGINS, resolve: { alias }, test: { ...COMMON, name: 'alone', include: ALONE, exclude: EXCLUDED } },
      {
        plugins: PLUGINS,
        resolve: { alias },
        test: {
          ...COMMON,
          name: 'together',
          include: TOGETHER,
          exclude: [...EXCLUDED, ...ALONE],
          isolate: false,
        },
      },
    ],
  },
});
