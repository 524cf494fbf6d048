import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './steps.mjs';

/** The code of threads, by its built file, and the packages it is made of. */
const WORKERS = [
  // CommonJS: only of a script can one thread give another what it has compiled. The program has the same file.
  { file: 'logs/dist/scan/worker', format: 'cjs', packages: ['records', 'logs'] },
  { file: 'server/dist/config/config-worker', format: 'esm', packages: ['records', 'logs', 'contract', 'server'] },
];

export const SCAN_WORKER = join(ROOT, 'packages/logs/dist/scan/worker-bundle.cjs');

/**
 * Makes one file of the code of each thread: a thread that loads it starts in a third of the time of one that loads up to
 * 200 modules, and tests of the source start hundreds of threads.
 */
export async function bundleWorkers() {
  for (const { file, format, packages } of WORKERS) {
    const path = join(ROOT, 'packages', file);
    const outfile = `${path}-bundle.${format === 'cjs' ? 'cjs' : 'js'}`;
    const stamps = packages.map((name) => join(ROOT, 'packages', name, 'dist/.tsbuildinfo'));
    const newest = Math.max(...[...stamps, fileURLToPath(import.meta.url)].map(timeOf));
    // What is not built is not tested either.
    if (timeOf(`${path}.js`) > 0 && timeOf(outfile) <= newest) await bundleWorker(`${path}.js`, outfile, format);
  }
}

async function bundleWorker(entry, outfile, format) {
  const { build } = createRequire(import.meta.url)('esbuild');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format,
    platform: 'node',
    target: 'es2022',
    // Nothing imports modules into a script: what is left of them is required.
    supported: { 'dynamic-import': format === 'esm' },
    // Loaded by few searches only.
    external: ['re2js'],
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
}

function timeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleWorkers();
