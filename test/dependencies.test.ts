import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>;
};
const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');

/** Who installs the program gets only what these allow: nothing that asks for more than a notice. OFL-1.1 is of fonts. */
const LICENCES = ['MIT', 'ISC', '0BSD', 'BSD-3-Clause', 'Apache-2.0', 'MIT OR Apache-2.0', 'OFL-1.1'];
/** Changes to such files must be published; we change none, and hand none on. */
const LICENCES_OF_TOOLS = [...LICENCES, 'MPL-2.0'];

const MANIFESTS = ['.', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)];

/** What these need to be built is built into what others install. */
const BUNDLING = ['packages/client', 'packages/console', 'packages/server'];

interface LockEntry {
  version?: string;
  license?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
}

interface Manifest {
  license?: string;
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
  scripts?: Record<string, string>;
}

/** What each package of the lockfile needs, by npm. Packages are texts like `name@1.0.0`. */
const needs = readNeeds();

function readNeeds(): Map<string, string[]> {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error'];
  const bill = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  const { dependencies } = JSON.parse(bill) as { dependencies: { ref: string; dependsOn: string[] }[] };
  return new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
}

/** The packages, with everything that comes with them. */
function treeOf(names: readonly string[]): Set<string> {
  const tree = new Set(names.map((name) => `${name}@${lock[`node_modules/${name}`]?.version}`));
  // Iterating a set includes what is added meanwhile.
  for (const ref of tree)
    for (const need of needs.get(ref) ?? expect.fail(`${ref} is not in the lockfile`)) tree.add(need);
  return tree;
}

/** The name of a package by the folder it is installed in. */
function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Packages of others that a manifest names. */
function othersIn(folder: string, field: 'dependencies' | 'devDependencies'): string[] {
  return Object.keys(readManifest(folder)[field] ?? {}).filter((name) => !name.startsWith('@porthole/'));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

/** The rows of the tables below a heading that describe files. */
function rowsBelow(heading: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \| ([\d.]+) \| ([^|]+) \| (\d+) \|/gm)].map(([, ...cells]) =>
    cells.join(' '),
  );
}

function expectedRows(names: Iterable<string>): string[] {
  return [...new Set(names)].sort().map((name) => {
    const { version, license } = lock[`node_modules/${name}`] ?? {};
    return `${name} ${version} ${license} ${treeOf([name]).size - 1}`;
  });
}

/** Folders of packages of others, without those for other platforms that were not installed. */
const installed = Object.keys(lock).filter((path) => path.startsWith('node_modules/') && !lock[path]?.link);
const runtimeTree = treeOf([
  ...othersIn('packages/cli', 'dependencies'),
  ...BUNDLING.flatMap((folder) => othersIn(folder, 'devDependencies')),
]);
const runtime = installed.filter((path) => runtimeTree.has(`${nameOf(path)}@${lock[path]?.version}`));

describe('docs/dependencies.md', () => {
  it('has every package the program installs, with version, licence and how many it brings', () => {
    const names = MANIFESTS.flatMap((folder) => othersIn(folder, 'dependencies'));
    expect(rowsBelow('What the program installs')).toEqual(expectedRows(names));
  });

  it('has every package that is built into ours', () => {
    const names = BUNDLING.flatMap((folder) => othersIn(folder, 'devDependencies'));
    expect(rowsBelow('What is built into the packages')).toEqual(expectedRows(names));
  });

  it('has every package that only builds and tests', () => {
    expect(rowsBelow('What only builds and tests')).toEqual(expectedRows(othersIn('.', 'devDependencies')));
  });

  it('states how many packages the program installs', () => {
    const count = treeOf(othersIn('packages/cli', 'dependencies')).size;
    expect(/(\d+) packages including their dependencies/.exec(page)?.[1]).toBe(`${count}`);
  });

  it('has every package with a script that would run at installation', () => {
    const documented = [...page.matchAll(/^ {2}\| `([^`]+)` \|/gm)].map(([, name]) => name);
    const actual = installed.filter((path) => lock[path]?.hasInstallScript).map(nameOf);
    expect(documented).toEqual([...new Set(actual)].sort());
  });
});

describe('the manifests', () => {
  it.each(MANIFESTS)('%s names exact versions, those of the lockfile', (folder) => {
    const { dependencies, devDependencies, overrides } = readManifest(folder);
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...overrides })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
      if (!name.startsWith('@porthole/')) expect(lock[`node_modules/${name}`]?.version, name).toBe(version);
    }
  });

  it('run nothing when they are installed', () => {
    const names = MANIFESTS.flatMap((folder) => Object.keys(readManifest(folder).scripts ?? {}));
    expect(names.filter((name) => /^(pre|post)?install$|^(pre|post)?prepare$/.test(name))).toEqual([]);
    expect(readFileSync(join(root, 'scripts/steps.mjs'), 'utf8')).toContain("'ci', '--ignore-scripts'");
  });
});

describe('the lockfile', () => {
  it('has a SHA-512 for every package of others', () => {
    // What comes inside another package has the hash of that one.
    const wrong = installed.filter((path) => !lock[path]?.inBundle && !/^sha512-/.test(lock[path]?.integrity ?? ''));
    expect(wrong).toEqual([]);
    expect(installed.length).toBeGreaterThan(100);
  });

  it('names no address a package would be got from', () => {
    expect(installed.filter((path) => lock[path]?.resolved !== undefined)).toEqual([]);
  });

  it('links only to packages of this checkout', () => {
    const links = Object.values(lock).flatMap(({ link, resolved }) => (link ? [resolved] : []));
    expect(links.sort()).toEqual(MANIFESTS.filter((folder) => folder !== '.').sort());
  });
});

describe('licences', () => {
  it('of what users get ask for no more than a notice', () => {
    expect(runtime.filter((path) => !LICENCES.includes(lock[path]?.license ?? ''))).toEqual([]);
  });

  it('of everything are known ones', () => {
    const wrong = installed.filter(
      (path) => !lock[path]?.inBundle && !LICENCES_OF_TOOLS.includes(lock[path]?.license ?? ''),
    );
    expect(wrong).toEqual([]);
  });

  it('are what the installed packages themselves say, and so are their versions', () => {
    const here = installed.filter((path) => existsSync(join(root, path, 'package.json')));
    const listed = here.map((path) => `${path} ${readManifest(path).version} ${readManifest(path).license}`);
    expect(listed).toEqual(here.map((path) => `${path} ${lock[path]?.version} ${lock[path]?.license}`));
  });

  it('of what users get are there as a text', () => {
    // That of Apache is ours, too: scripts/bundle.mjs copies it for a package that has none.
    const others = runtime.filter((path) => lock[path]?.license !== 'Apache-2.0');
    const without = others.filter((path) => !readdirSync(join(root, path)).some(isLicence));
    expect(without).toEqual([]);
  });
});

function isLicence(file: string): boolean {
  return /^(licen[cs]e|copying)/i.test(file);
}
