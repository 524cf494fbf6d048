import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import tsconfig from './tsconfig.check.json' with { type: 'json' };

// Packages resolve each other to their TypeScript source in tests, so a test never sees a stale build.
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [path = '']]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(path, import.meta.url)),
}));

export default defineConfig({
  resolve: { alias },
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
