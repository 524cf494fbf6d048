import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf, readLock } from './locked-tree.mjs';
import { filesOfTarball } from './tarball.mjs';

/*
 * Compares what is installed with the lockfile, file by file: npm compares hashes while it installs and never again, and
 * whatever runs on the machine afterwards can change node_modules.
 */

/** Folders of node_modules that npm and the tools make for themselves. */
const OWN = /^\./;

/**
 * `tarballOf(integrity, name, version)` gives the bytes the registry serves, or `undefined` where it cannot: such a package
 * is listed in `unseen`. Problems are sentences.
 */
export async function auditInstalled({ root, tarballOf }) {
  const lock = readLock(root);
  const problems = strangersIn(root, lock);
  const unseen = [];
  let packages = 0;
  for (const [folder, { version, integrity, link, inBundle, optional }] of Object.entries(lock)) {
    // What comes inside another package is compared with that one.
    if (link || inBundle || !folder.startsWith('node_modules/')) continue;
    if (!existsSync(join(root, folder))) {
      if (!optional) problems.push(`${folder} is in the lockfile and not installed`);
      continue;
    }
    const tarball = await tarballOf(integrity, nameOf(folder), version);
    if (tarball === undefined) unseen.push(folder);
    else problems.push(...differences(root, folder, integrity, tarball));
    packages += 1;
  }
  return { packages, problems, unseen };
}

/** Installed, and not in the lockfile. */
function strangersIn(root, lock, folder = 'node_modules') {
  if (!existsSync(join(root, folder))) return [];
  return namesIn(join(root, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (lock[path] === undefined) return [`${path} is installed and not in the lockfile`];
    return lock[path].link ? [] : strangersIn(root, lock, `${path}/node_modules`);
  });
}

function namesIn(folder) {
  const names = readdirSync(folder).filter((name) => !OWN.test(name));
  return names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

function differences(root, folder, integrity, tarball) {
  const [, algorithm, expected] = /^(\w+)-(.+)$/.exec(integrity);
  if (createHash(algorithm).update(tarball).digest('base64') !== expected)
    return [`${folder}: the package that was got is not the one the lockfile means`];
  const files = filesOfTarball(tarball);
  const added = filesBelow(join(root, folder)).filter((path) => !files.has(path));
  const missing = [...files.keys()].filter((path) => !existsSync(join(root, folder, path)));
  const changed = [...files.keys()].filter(
    (path) => !missing.includes(path) && !isSame(readFileSync(join(root, folder, path)), files.get(path)),
  );
  return [
    ...added.map((path) => `${folder}/${path} is not of this package`),
    ...missing.map((path) => `${folder}/${path} is missing`),
    ...changed.map((path) => `${folder}/${path} was changed`),
  ];
}

/** npm takes the carriage return out of the first line of programs it links. */
function isSame(installed, original) {
  if (installed.equals(original)) return true;
  return installed.equals(Buffer.from(original.toString('latin1').replace(/^(#!.*)\r\n/, '$1\n'), 'latin1'));
}

/** Without the packages inside it, which are of their own. */
function filesBelow(folder, inner = '') {
  return readdirSync(join(folder, inner), { withFileTypes: true }).flatMap((entry) => {
    const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return path === 'node_modules' ? [] : filesBelow(folder, path);
  });
}
