import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What a release needs. */
const SOURCES = ['LICENSE', 'README.md', 'package.json', 'package-lock.json', 'packages', 'proto', 'scripts'];

/** What is bundled is copied, not linked: a bundle contains the paths of its sources, and those of links lead out of the copy. */
const BUNDLED = ['diff', 'eventsource-parser', 'preact', 're2js'];

/** Creates a directory with the sources of this checkout, what is built of them, and its installed dependencies. */
export function copyCheckout(copy: string, umask: string): void {
  mkdirSync(copy, { recursive: true });
  const configs = readdirSync(ROOT).filter((name) => /^tsconfig.*\.json$|^\.npmrc$/.test(name));
  for (const name of [...SOURCES, ...configs]) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  limitModes(copy, 0o777 & ~Number.parseInt(umask, 8));
  linkPackages(join(copy, 'node_modules'));
  const lock = readFileSync(join(copy, 'package-lock.json'));
  writeFileSync(join(copy, 'node_modules/.porthole-lock'), createHash('sha256').update(lock).digest('hex'));
}

/** As a checkout under that umask would have made them. */
function limitModes(path: string, mode: number): void {
  const stat = lstatSync(path);
  chmodSync(path, stat.mode & mode);
  if (stat.isDirectory()) for (const name of readdirSync(path)) limitModes(join(path, name), mode);
}

/** Packages of others are those that are installed here; ours are those of the copy. */
function linkPackages(folder: string): void {
  mkdirSync(join(folder, '@porthole'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const from = join(ROOT, 'node_modules', name);
    if (name.startsWith('.') || name === '@porthole' || name === 'porthole') continue;
    if (BUNDLED.includes(name)) cpSync(from, join(folder, name), { recursive: true });
    else symlinkSync(from, join(folder, name));
  }
  symlinkSync('../packages/cli', join(folder, 'porthole'));
  for (const name of readdirSync(join(ROOT, 'packages')).filter((other) => other !== 'cli'))
    symlinkSync(`../../packages/${name}`, join(folder, '@porthole', name));
}
