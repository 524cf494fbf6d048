import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/* What the lockfile says about packages of others: which one needs which. Plain JavaScript: it runs before anything is installed. */

/** The lockfile's packages, by the folder each is installed in. */
export function readLock(root) {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
}

/** The name of a package by the folder it is installed in; several folders may hold one name in several versions. */
export function nameOf(folder) {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/**
 * Everything that comes with the named packages, as folder -> folders it needs. Found as Node.js finds it: in the folder
 * of who asks, then further out. `without` are names of packages that are left out, with what only they need.
 */
export function lockedTree(lock, names, without = []) {
  const tree = new Map();
  const waiting = names.map((name) => folderOf(lock, '', name));
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (tree.has(folder)) continue;
    const needs = neededBy(lock, folder).filter((need) => !without.includes(nameOf(need)));
    tree.set(folder, needs);
    waiting.push(...needs);
  }
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Packages of others that a manifest names in a field, like `dependencies`. */
export function othersIn(root, folder, field) {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return Object.keys(manifest[field] ?? {}).filter((name) => !name.startsWith('@porthole/'));
}

function neededBy(lock, folder) {
  const {
    dependencies = {},
    optionalDependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = lock[folder];
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  const names = new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers]);
  return [...names].map((name) => folderOf(lock, folder, name)).sort();
}

function folderOf(lock, from, name) {
  for (let parent = from; ; parent = parent.slice(0, Math.max(0, parent.lastIndexOf('/node_modules/')))) {
    const folder = `${parent === '' ? '' : `${parent}/`}node_modules/${name}`;
    if (lock[folder] !== undefined) return folder;
    // The outermost parent has no folder before its own.
    if (parent === '') throw new Error(`${name}, which ${from || 'a package of ours'} needs, is not in the lockfile`);
  }
}
