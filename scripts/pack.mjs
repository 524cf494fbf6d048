import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockedTree, othersIn, readLock } from './locked-tree.mjs';
import { writeBills } from './sbom.mjs';
import { build, fail, install, ROOT } from './steps.mjs';

/*
 * Makes all that a release consists of, from nothing, into release/: the two packages, their bills of materials, a lockfile
 * that installs the program exactly as it was tested, and the hashes to announce. The same commit gives the same bytes.
 * With --as-built, what an earlier build left is packed instead: a test compares the two.
 */

const RELEASE = join(ROOT, 'release');
const PACKAGES = ['packages/cli', 'packages/client'];

/** What earlier builds left. It may be of another commit, and only times show whether it is stale. */
const BUILT = ['dist', 'lib', 'web', 'src/grpc/generated', 'src/membership/etcd/generated'];

if (!process.argv.includes('--as-built')) await buildFromNothing();
rmSync(RELEASE, { recursive: true, force: true });
mkdirSync(RELEASE);
for (const path of PACKAGES) evenModes(join(ROOT, path));
const [program] = packAll();
writeBills(RELEASE);
writeInstallation(program);
console.log(writeHashes());

async function buildFromNothing() {
  await install();
  for (const name of readdirSync(join(ROOT, 'packages')))
    for (const folder of BUILT) rmSync(join(ROOT, 'packages', name, folder), { recursive: true, force: true });
  await build();
}

/** Tarballs hold the modes of files, and those come from the umask of whoever has checked out and built. */
function evenModes(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) evenModes(path);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** The names of the tarballs, by one npm: starting it takes longer than packing. They were built just now, so nothing is run. */
function packAll() {
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', RELEASE];
  const folders = PACKAGES.map((path) => `./${path}`);
  const { status, stdout, stderr } = spawnSync('npm', [...args, ...folders], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) fail(`npm pack failed:\n${stderr}`);
  return JSON.parse(stdout).map(({ filename }) => filename);
}

/**
 * The manifest of the program names its own dependencies exactly, but those name theirs by ranges. `npm ci` in release/
 * installs what the lockfile of this checkout has, each package compared with its hash.
 */
function writeInstallation(tarball) {
  const lock = readLock(ROOT);
  const { version, license, dependencies, bin, engines } = manifestOf('packages/cli');
  const needs = { porthole: `file:${tarball}` };
  const integrity = `sha512-${hashOf(tarball, 'sha512', 'base64')}`;
  const packages = {
    '': { name: 'porthole-installation', dependencies: needs },
    'node_modules/porthole': { version, resolved: needs.porthole, integrity, license, dependencies, bin, engines },
  };
  for (const path of lockedTree(lock, othersIn(ROOT, 'packages/cli', 'dependencies')).keys()) {
    const { dev, devOptional, ...entry } = lock[path];
    packages[path] = entry;
  }
  writeJson('package.json', { name: 'porthole-installation', private: true, dependencies: needs });
  writeJson('package-lock.json', { name: 'porthole-installation', lockfileVersion: 3, requires: true, packages });
}

/** As `sha256sum --check` reads them. */
function writeHashes() {
  const lines = readdirSync(RELEASE)
    .sort()
    .map((file) => `${hashOf(file, 'sha256', 'hex')}  ${file}\n`);
  writeFileSync(join(RELEASE, 'SHA256SUMS'), lines.join(''));
  return lines.join('').trimEnd();
}

function manifestOf(path) {
  return JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'));
}

function hashOf(file, algorithm, encoding) {
  return createHash(algorithm)
    .update(readFileSync(join(RELEASE, file)))
    .digest(encoding);
}

function writeJson(file, value) {
  writeFileSync(join(RELEASE, file), `${JSON.stringify(value, null, 2)}\n`);
}
