import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockedTree, nameOf, othersIn, readLock } from './locked-tree.mjs';

/* What npm and the registry know. Whoever cannot be asked is listed in `notAsked`, with the reason: silence is no good news. */

const PRODUCTS = ['packages/cli', 'packages/client', 'packages/console'];

/** Advisories on what users install (`problems`) and on what only builds and tests (`notices`). */
export async function askAdvisories(root, env = process.env) {
  const report = await npmJson(root, ['audit', '--json'], env);
  if (report?.vulnerabilities === undefined) return { notAsked: reasonOf(report), problems: [], notices: [] };
  const runtime = runtimeNames(root);
  const found = Object.values(report.vulnerabilities).map(({ name, severity, via }) => {
    const titles = via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : `${cause.title} ${cause.url}`));
    return { name, text: `${name} (${severity}): ${titles.join('; ')}` };
  });
  return {
    problems: found.filter(({ name }) => runtime.has(name)).map(({ text }) => text),
    notices: found.filter(({ name }) => !runtime.has(name)).map(({ text }) => `${text} (only builds and tests)`),
  };
}

/** Whether the registry has signed what is installed, by its public keys. */
export async function askSignatures(root, env = process.env) {
  const report = await npmJson(root, ['audit', 'signatures', '--json'], env);
  if (!Array.isArray(report?.invalid)) return { notAsked: reasonOf(report), problems: [], notices: [] };
  const names = (list) => list.map(({ name, version }) => `${name}@${version}`);
  return {
    problems: names(report.invalid).map((name) => `${name}: its signature is wrong`),
    notices: names(report.missing ?? []).map((name) => `${name}: the registry has not signed it`),
  };
}

/** Gives packages as npm has them in its cache; those that are not there are fetched, unless that is not wanted. */
export function createTarballs(root, { fetchMissing }) {
  const { stdout } = spawnSync('npm', ['config', 'get', 'cache', '--loglevel=error'], { cwd: root, encoding: 'utf8' });
  const cache = stdout.trim();
  return async (integrity, name, version) => {
    const path = cachedAt(cache, integrity);
    if (!existsSync(path) && fetchMissing)
      spawnSync('npm', ['cache', 'add', `${name}@${version}`, '--loglevel=error', '--fetch-retries=0'], { cwd: root });
    return existsSync(path) ? readFileSync(path) : undefined;
  };
}

/** npm keeps what it has fetched by its hash. */
function cachedAt(cache, integrity) {
  const [, algorithm, base64] = /^(\w+)-(.+)$/.exec(integrity);
  const hex = Buffer.from(base64, 'base64').toString('hex');
  return join(cache, '_cacache/content-v2', algorithm, hex.slice(0, 2), hex.slice(2, 4), hex.slice(4));
}

function runtimeNames(root) {
  const lock = readLock(root);
  const [program = '', ...bundled] = PRODUCTS;
  const direct = [
    ...othersIn(root, program, 'dependencies'),
    ...bundled.flatMap((folder) => othersIn(root, folder, 'devDependencies')),
  ];
  return new Set([...lockedTree(lock, direct).keys()].map(nameOf));
}

/** npm fails where it has found something, and reports it all the same. */
function npmJson(root, args, env) {
  const options = ['--loglevel=silent', '--fetch-retries=0', '--fetch-timeout=20000'];
  return new Promise((resolve) => {
    execFile('npm', [...args, ...options], { cwd: root, env, maxBuffer: 64 << 20 }, (_error, stdout) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        resolve(undefined);
      }
    });
  });
}

function reasonOf(report) {
  return report?.error?.summary || report?.message || 'npm gave no answer';
}
