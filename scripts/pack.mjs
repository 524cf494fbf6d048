import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, fail, install, ROOT } from './steps.mjs';

/*
 * Makes all that a release consists of, from nothing, into release/: the two packages, their bills of materials, a lockfile
 * that installs the program exactly as it was tested, and the hashes to announce. The same commit gives the same bytes.
 * With --as-built, what an earlier build left is packed instead: a test compares the two.
 */

export const RELEASE = join(ROOT, 'release');
const HASHES = 'SHA256SUMS';

/** Far more than npm says. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const PACKAGES = ['packages/cli', 'packages/client'];

/** The bills of materials, and the workspaces whose packages are in each: the page is built into the program. */
const BILLS = {
  'porthole.cdx.json': ['porthole', '@porthole/console'],
  'porthole-client.cdx.json': ['@porthole/client'],
};

/** What earlier builds left. It may be of another commit, and only times show whether it is stale. */
const BUILT = ['dist', 'lib', 'web', 'src/grpc/generated', 'src/membership/etcd/generated'];

/** Makes a release in an empty folder; `asBuilt` packs what an earlier build left. */
export async function makeRelease(folder, { asBuilt = false } = {}) {
  if (!asBuilt) await buildFromNothing();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of PACKAGES) evenModes(join(ROOT, path));
  const [program] = packAll(folder);
  for (const [file, workspaces] of Object.entries(BILLS)) writeJson(join(folder, file), billOf(workspaces));
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
  const folders = PACKAGES.map((path) => `./${path}`);
  const packed = npm(ROOT, ['pack', '--ignore-scripts', '--json', '--pack-destination', release, ...folders]);
  return JSON.parse(packed).map(({ filename }) => filename);
}

/** The bill of a product as npm makes it of the lockfile, without what differs every time: a random number and the time. */
function billOf([product, ...others]) {
  const workspaces = [product, ...others].map((name) => `--workspace=${name}`);
  const bill = JSON.parse(npm(ROOT, ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', ...workspaces]));
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  // npm names packages of a workspace after their folders, and describes the checkout as the product.
  for (const component of bill.components) component.name = component['bom-ref'].replace(/@[^@]+$/, '');
  const folder = bill.metadata.component['bom-ref'];
  const component = bill.components.find(({ name }) => name === product);
  bill.metadata.component = component;
  bill.components = bill.components.filter((other) => other !== component);
  bill.dependencies = bill.dependencies.filter(({ ref }) => ref !== folder);
  return bill;
}

/**
 * The manifest of the program names its own dependencies exactly, but those name theirs by ranges. `npm ci` in release/
 * installs what the lockfile of this checkout has, each package compared with its hash: npm takes out of that lockfile what
 * the program does not need.
 */
function writeInstallation(release, tarball) {
  const dependencies = { porthole: `file:${tarball}` };
  writeJson(join(release, 'package.json'), { name: 'porthole-installation', private: true, dependencies });
  copyFileSync(join(ROOT, 'package-lock.json'), join(release, 'package-lock.json'));
  const options = ['--package-lock-only', '--ignore-scripts', '--prefer-offline', '--omit-lockfile-registry-resolved'];
  npm(release, ['install', ...options, '--no-audit', '--no-fund']);
}

/** Runs npm in a folder and returns what it prints. */
export function npm(cwd, args) {
  const options = { cwd, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES };
  const { status, stdout, stderr } = spawnSync('npm', [...args, '--loglevel=error'], options);
  if (status !== 0) fail(`npm ${args[0]} failed:\n${stderr}`);
  return stdout;
}

/** Writes the hashes of all files of a release, as `sha256sum --check` reads them. */
export function writeHashes(release) {
  const lines = readdirSync(release)
    .filter((file) => file !== HASHES)
    .sort()
    .map((file) => `${hashOf(join(release, file))}  ${file}\n`);
  writeFileSync(join(release, HASHES), lines.join(''));
  return lines.join('').trimEnd();
}

function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

export function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log(await makeRelease(RELEASE, { asBuilt: process.argv.includes('--as-built') }));
