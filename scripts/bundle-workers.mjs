import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './steps.mjs';

/** The code of threads, by its built file, and the packages it is made of. */
const WORKERS = [
  { file: 'logs/dist/scan/worker', packages: ['logs'] },
  { file: 'server/dist/config/config-worker', packages: ['logs', 'contract', 'server'] },
];

/**
 * Makes one file of the code of each thread, for tests of the source: a thread that loads it starts in a third of the time
 * of one that loads up to 200 modules, and tests start hundreds of threads.
 */
export async function bundleWorkers() {
  for (const { file, packages } of WORKERS) {
    const path = join(ROOT, 'packages', file);
    const stamps = packages.map((name) => join(ROOT, 'packages', name, 'dist/.tsbuildinfo'));
    const newest = Math.max(...[...stamps, fileURLToPath(import.meta.url)].map(timeOf));
    // What is not built is not tested either.
    if (timeOf(`${path}.js`) > 0 && timeOf(`${path}-bundle.js`) <= newest) await bundleWorker(path);
  }
}

async function bundleWorker(path) {
  const { build } = createRequire(import.meta.url)('esbuild');
  await build({
    entryPoints: [`${path}.js`],
    outfile: `${path}-bundle.js`,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
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
