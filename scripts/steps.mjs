import '../packages/cli/bin/check-node.cjs';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runGroup } from './run-group.mjs';

/* What start, test and build share. Plain JavaScript without dependencies: it runs before anything is installed. */

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Several checkers check the types that they share once each. */
export const ONE_CHECKER = ['--checkers', '1'];

/** Types are checked once, by the checks, together with those of the tests: that takes two fifths of a build. */
export const UNCHECKED = '--noCheck';

/** The compiler has ended before collecting its garbage pays: that took a quarter of its time. Beyond the limit it does. */
export const COMPILER_ENV = { GOGC: 'off', GOMEMLIMIT: '2GiB' };

const STAMP = `${ROOT}node_modules/.porthole-lock`;

/** Installs exactly what the lockfile says, unless that is what is there. Quick when nothing is to do. */
export async function install() {
  const wanted = createHash('sha256')
    .update(readFileSync(`${ROOT}package-lock.json`))
    .digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  console.error('installing dependencies (first run, or they have changed) ...');
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  // A new file: the old one may be linked to the packages of another checkout.
  rmSync(STAMP, { force: true });
  writeFileSync(STAMP, wanted);
}

/** Makes what has changed since the last time: code from proto/ and from types, JavaScript from TypeScript, the page, the packages. */
export async function build() {
  if (!existsSync(`${ROOT}packages/cli/lib/main.js`)) console.error('building (first run) ...');
  // Loaded only now: they need what was just installed.
  const { generateProto } = await import('./proto.mjs');
  generateProto();
  const { generateSchemas } = await import('./schemas.mjs');
  await generateSchemas();
  await run('node', ['node_modules/typescript/bin/tsc', '-b', UNCHECKED, ...ONE_CHECKER], COMPILER_ENV);
  const { buildConsole } = await import('./console.mjs');
  await buildConsole();
  const { bundle } = await import('./bundle.mjs');
  await bundle();
}

/** Runs a program in the checkout with our terminal; ends this process if it fails. */
async function run(command, args, env = {}) {
  const status = await runGroup(command, args, { cwd: ROOT, env }).catch((error) =>
    fail(`${command} cannot be run: ${error.message}`),
  );
  if (status !== 0) process.exit(status ?? 1);
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}
