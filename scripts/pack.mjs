import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockedTree, othersIn, readLock } from './locked-tree.mjs';
import { writeBills } from './sbom.mjs';
import { build, fail, install, ROOT } from './steps.mjs';

/*
 * Makes all that a release consists of, from nothing, into release/: the two packages, their bills of materials, a lockfile
 * that installs the program exactly as it was tested, and the hashes to announce. The same commit gives the same bytes.
 * With --as-built, what an earlier build left is packed instead: a test compares the two.
 */

export const RELEASE = join(ROOT, 'release');
const HASHES = 'SHA256SUMS';
const PACKAGES = ['packages/cli', 'packages/client'];

/** What earlier builds left. It may be of another commit, and only times show whether it is stale. */
const BUILT = ['dist', 'lib', 'web', 'src/grpc/generated', 'src/membership/etcd/generated'];

/** Makes a release in an empty folder; `asBuilt` packs what an earlier build left. */
export async function makeRelease(folder, { asBuilt = false } = {}) {
  if (!asBuilt) await buildFromNothing();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of PACKAGES) evenModes(join(ROOT, path));
  const [program] = packAll(folder);
  writeBills(folder);
  writeInstallation(folder, program);
  return writeHashes(folder);
}

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
function packAll(release) {
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', release];
  const folders = PACKAGES.map((path) => `./${path}`);
  const { status, stdout, stderr } = spawnSync('npm', [...args, ...folders], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) fail(`npm pack failed:\n${stderr}`);
  return JSON.parse(stdout).map(({ filename }) => filename);
}

/**
 * The manifest of the program names its own dependencies exactly, but those name theirs by ranges. `npm ci` in release/
 * installs what the lockfile of this checkout has, each package compared with its hash.
 */
function writeInstallation(release, tarball) {
  const lock = readLock(ROOT);
  const { version, license, dependencies, bin, engines } = manifestOf('packages/cli');
  const needs = { porthole: `file:${tarball}` };
  const integrity = `sha512-${hashOf(join(release, tarball), 'sha512', 'base64')}`;
  const packages = {
    '': { name: 'porthole-installation', dependencies: needs },
    'node_modules/porthole': { version, resolved: needs.porthole, integrity, license, dependencies, bin, engines },
  };
  for (const path of lockedTree(lock, othersIn(ROOT, 'packages/cli', 'dependencies')).keys()) {
    const { dev, devOptional, ...entry } = lock[path];
    packages[path] = entry;
  }
  writeJson(join(release, 'package.json'), { name: 'porthole-installation', private: true, dependencies: needs });
  writeJson(join(release, 'package-lock.json'), {
    name: 'porthole-installation',
    lockfileVersion: 3,
    requires: true,
    packages,
  });
}

/** Writes the hashes of all files of a release, as `sha256sum --check` reads them. */
export function writeHashes(release) {
  const lines = readdirSync(release)
    .filter((file) => file !== HASHES)
    .sort()
    .map((file) => `${hashOf(join(release, file), 'sha256', 'hex')}  ${file}\n`);
  writeFileSync(join(release, HASHES), lines.join(''));
  return lines.join('').trimEnd();
}

function manifestOf(path) {
  return JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'));
}

function hashOf(file, algorithm, encoding) {
  return createHash(algorithm).update(readFileSync(file)).digest(encoding);
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log(await makeRelease(RELEASE, { asBuilt: process.argv.includes('--as-built') }));
