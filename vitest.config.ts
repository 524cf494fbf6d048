import { defineConfig } from 'vitest/config';

// Packages resolve each other to their TypeScript source in tests, so a test never sees a stale build.
const conditions = ['@porthole/source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: ['test/build-logs.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'threads',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'e2e/**/*.test.ts'],
  },
});
