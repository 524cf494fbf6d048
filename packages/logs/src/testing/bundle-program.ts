import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../..');

/** Below the folder in which packages are found: a program imports those that it has not been bundled with. */
const FOLDER = join(ROOT, 'node_modules/.cache/porthole-tests');

/**
 * A file for `node`, removed when the test ends, of a TypeScript program that imports files below `resolveDir`. Making
 * and running it takes a third of what a loader takes that compiles each import when the program starts.
 */
export function bundleProgram(contents: string, resolveDir: string): string {
  const outdir = join(FOLDER, randomUUID());
  buildSync({
    stdin: { contents, resolveDir, loader: 'ts' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    // The source of our own packages, except for the one that starts threads: it is built before all tests.
    tsconfig: join(ROOT, 'tsconfig.check.json'),
    external: ['@porthole/logs'],
    // What is imported later is loaded later.
    splitting: true,
    // A program is what it does when it is imported.
    ignoreAnnotations: true,
    outdir,
    entryNames: 'program',
    outExtension: { '.js': '.mjs' },
  });
  onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
  return join(outdir, 'program.mjs');
}
