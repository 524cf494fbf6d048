import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { build, fail, install, ROOT } from './steps.mjs';

/*
 * Runs the tests of the packed packages on every Node.js we support: npm run compat, or npm run compat -- 22. The binaries
 * are npm packages, kept outside the checkout.
 */

const VERSIONS = ['20', '22', '24'];
const KEPT = join(homedir(), '.cache/porthole/node');

await install();
await build();
const given = process.argv.slice(2);
const failed = (given.length > 0 ? given : VERSIONS).filter((version) => !passes(version));
if (failed.length > 0) fail(`failed on Node.js ${failed.join(', ')}`);

function passes(version) {
  const node = nodeOf(version);
  const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', 'e2e/packages.system.test.ts'];
  const PATH = [dirname(node), process.env.PATH].join(delimiter);
  console.error(`Node.js ${version}: ${node}`);
  return (
    spawnSync(node, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, PATH, COMPAT: '1' } }).status === 0
  );
}

/** The newest binary of this line. */
function nodeOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(KEPT, version);
  const node = join(folder, 'node_modules', name, 'bin/node');
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', ...options, `${name}@${version}`], { cwd: folder, stdio: 'inherit' });
  if (status !== 0 || !existsSync(node)) fail(`${name}@${version} cannot be installed: ${readdirSync(folder)}`);
  return node;
}
