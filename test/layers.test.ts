import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The entries of the engine that browsers load too. */
const PURE = ['@porthole/logs/query', '@porthole/logs/shared'];

/** What each package may import; in order, lowest first; `typesOnly` packages may be imported for their types. */
const LAYERS: Readonly<Record<string, { may: readonly string[]; typesOnly?: readonly string[] }>> = {
  records: { may: [] },
  logs: { may: ['@porthole/records'] },
  contract: { may: [...PURE, '@porthole/records'], typesOnly: ['@porthole/logs'] },
  client: {
    may: [...PURE, '@porthole/records', '@porthole/contract'],
    typesOnly: ['@porthole/logs'],
  },
  cluster: { may: ['@porthole/records', '@porthole/logs', '@porthole/contract', '@porthole/client'] },
  archive: { may: ['@porthole/records', '@porthole/logs', '@porthole/contract'] },
  server: {
    may: [
      '@porthole/records',
      '@porthole/logs',
      '@porthole/contract',
      '@porthole/client',
      '@porthole/cluster',
      '@porthole/archive',
    ],
  },
  console: {
    may: [...PURE, '@porthole/records', '@porthole/contract', '@porthole/client'],
    typesOnly: ['@porthole/logs'],
  },
  cli: {
    may: [
      '@porthole/records',
      '@porthole/logs',
      '@porthole/contract',
      '@porthole/client',
      '@porthole/cluster/alone',
      '@porthole/server',
    ],
  },
};

/** Packages that can be taken apart from the rest, and the few foreign ones each may use. */
const BARE: Readonly<Record<string, readonly string[]>> = {
  records: [],
  logs: ['re2js'],
  contract: [],
  client: ['eventsource-parser'],
  console: ['diff', 'lucide', 'preact', 're2js'],
};

/** What browsers load has nothing of Node. */
const IN_BROWSERS = ['records', 'contract', 'client', 'console'];

const packages = join(import.meta.dirname, '..', 'packages');

function readSources(name: string): { file: string; imports: { target: string; isType: boolean }[] }[] {
  const root = join(packages, name, 'src');
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts') && !file.includes('testing/'))
    .map((file) => ({ file, imports: parseImports(readFileSync(join(root, file), 'utf8')) }));
}

function parseImports(source: string): { target: string; isType: boolean }[] {
  const statements = source.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)'/gms);
  const forEffect = source.matchAll(/^import\s+'([^']+)'/gm);
  const dynamic = source.matchAll(/\bimport\('([^']+)'\)/g);
  return [
    ...[...statements].map(([, type, target = '']) => ({ target, isType: type !== undefined })),
    ...[...forEffect, ...dynamic].map(([, target = '']) => ({ target, isType: false })),
  ];
}

function packageName(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

describe('the layers', () => {
  it('every package has a layer', () => {
    expect(readdirSync(packages).sort()).toEqual(Object.keys(LAYERS).sort());
  });

  it.each(Object.keys(LAYERS))('%s imports only from below, and never into the inside of a package', (name) => {
    const { may = [], typesOnly = [] } = LAYERS[name] ?? {};
    const wrong = readSources(name).flatMap(({ file, imports }) =>
      imports
        .filter(
          ({ target }) => target.startsWith('@porthole/') || target === 'porthole' || target.startsWith('porthole/'),
        )
        .filter(({ target, isType }) => {
          const from = packageName(target);
          const isAllowed = may.includes(from) || may.includes(target) || (isType && typesOnly.includes(from));
          return target.includes('/src/') || !isAllowed;
        })
        .map(({ target }) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(BARE))('%s depends on nothing but Node and %j', (name, allowed) => {
    const foreign = readSources(name).flatMap(({ file, imports }) =>
      imports
        .filter(
          ({ target }) => !target.startsWith('.') && !target.startsWith('node:') && !target.startsWith('@porthole/'),
        )
        .filter(({ target }) => !allowed.includes(packageName(target)))
        .map(({ target }) => `${file} imports ${target}`),
    );
    expect(foreign).toEqual([]);
  });

  it.each(IN_BROWSERS)('%s asks nothing of Node', (name) => {
    const wrong = readSources(name).flatMap(({ file, imports }) =>
      imports.filter(({ target }) => target.startsWith('node:')).map(({ target }) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('the part of the engine that browsers load asks nothing of Node, nor of the rest of the engine', () => {
    const wrong = readSources('logs')
      .filter(({ file }) => file.startsWith('query/') || file === 'shared.ts')
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ target, isType }) => !isType && !target.startsWith('./'))
          .map(({ target }) => `${file} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('finds the imports it is there to judge', () => {
    const found = parseImports(
      "import { a } from './a.ts';\nexport type { B } from '@porthole/logs';\nimport './c.css';\nawait import('node:fs');",
    );
    expect(found.map(({ target }) => target)).toEqual(['./a.ts', '@porthole/logs', './c.css', 'node:fs']);
    expect(readSources('console').map(({ file }) => file)).toContain('start.tsx');
  });
});

describe('no circles', () => {
  it.each(Object.keys(LAYERS))('the parts of every folder of %s have an order, types included', (name) => {
    const byFolder = new Map<string, Map<string, Set<string>>>();
    for (const { from, to } of readLinks(name)) {
      const [a, b] = [from.split('/'), to.split('/')];
      const depth = a.findIndex((part, index) => part !== b[index]);
      const folder = a.slice(0, depth).join('/');
      const graph = byFolder.get(folder) ?? new Map<string, Set<string>>();
      byFolder.set(folder, addLink(graph, a[depth] ?? '', b[depth] ?? ''));
    }
    const circles = [...byFolder].flatMap(([folder, graph]) =>
      findCircles(graph)
        .filter((parts) => parts.some((part) => !part.includes('.')))
        .map((parts) => `${folder}/: ${parts.join(' ')}`),
    );
    expect(circles).toEqual([]);
  });

  it.each(Object.keys(LAYERS))('the files of %s have an order', (name) => {
    const graph = new Map<string, Set<string>>();
    for (const { from, to } of readLinks(name).filter(({ isType }) => !isType)) addLink(graph, from, to);
    expect(findCircles(graph)).toEqual([]);
  });

  it('finds a circle, however long, and nothing beside it', () => {
    const links = ['ab', 'bc', 'ca', 'cd', 'de', 'xa'];
    const graph = links.reduce((all, [from = '', to = '']) => addLink(all, from, to), new Map<string, Set<string>>());
    expect(findCircles(graph)).toEqual([['a', 'b', 'c']]);
  });
});

/** Which file of a package imports which other one of it. */
function readLinks(name: string): { from: string; to: string; isType: boolean }[] {
  return readSources(name).flatMap(({ file, imports }) =>
    imports
      .filter(({ target }) => target.startsWith('.') && /\.tsx?$/.test(target))
      .map(({ target, isType }) => ({ from: file, to: normalize(join(dirname(file), target)), isType })),
  );
}

function addLink(graph: Map<string, Set<string>>, from: string, to: string): Map<string, Set<string>> {
  graph.set(to, graph.get(to) ?? new Set());
  return graph.set(from, (graph.get(from) ?? new Set()).add(to));
}

/** Whatever reaches itself, together with all that it reaches and that reaches it. */
function findCircles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reach = new Map([...graph.keys()].map((part) => [part, reachedFrom(graph, part)]));
  const circles = [...graph.keys()]
    .filter((part) => reach.get(part)?.has(part))
    .map((part) => [...(reach.get(part) ?? [])].filter((other) => reach.get(other)?.has(part)).sort());
  return [...new Map(circles.map((circle) => [circle.join(' '), circle])).values()];
}

function reachedFrom(graph: ReadonlyMap<string, ReadonlySet<string>>, start: string): ReadonlySet<string> {
  const reached = new Set(graph.get(start));
  for (const part of reached) for (const next of graph.get(part) ?? []) reached.add(next);
  return reached;
}

/** Run by tsx outside of the tests, where only built packages resolve, and those have no testing entry. */
const OUTSIDE_TESTS = ['e2e/soak/check-soak.ts', 'e2e/soak/run-soak.ts', 'e2e/soak/soak-node.ts'];

describe('tests and their helpers', () => {
  const root = join(packages, '..');
  const readFiles = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file))
      .map((file) => ({ file, imports: parseImports(readFileSync(join(root, file), 'utf8')) }));
  const sources = Object.keys(LAYERS).flatMap((name) => readFiles(`packages/${name}/src`));
  const all = [...sources, ...['test', 'e2e', 'bench', 'examples'].flatMap(readFiles)];
  const ownerOf = (file: string) => /^packages\/[a-z]+\/src\//.exec(file)?.[0];

  it('reach other packages by their entries or testing entries only', () => {
    const intruders = all.filter(({ file, imports }) =>
      imports
        .filter(({ target }) => target.startsWith('.'))
        .map(({ target }) => ownerOf(join(dirname(file), target)))
        .some((owner) => owner !== undefined && owner !== ownerOf(file)),
    );
    expect(intruders.map(({ file }) => file).sort()).toEqual(OUTSIDE_TESTS);
  });

  it('keep the testing entries to themselves', () => {
    const users = sources.filter(({ imports }) =>
      imports.some(({ target }) => /^(@porthole\/.*|porthole)\/testing$/.test(target)),
    );
    expect(users.length).toBeGreaterThan(0);
    const wrong = users.filter(({ file }) => !/\.test\.tsx?$/.test(file) && !file.includes('/testing/'));
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });
});

describe('the packages that others install', () => {
  const readDependencies = (name: string) => {
    const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    return Object.entries(manifest.dependencies ?? {}).filter(([dependency]) => !dependency.startsWith('@porthole/'));
  };

  it('the program lists what any package in it needs, in the same version', () => {
    const own = new Map(readDependencies('cli'));
    for (const [dependency, version] of ['logs', 'contract', 'client', 'cluster', 'server'].flatMap(readDependencies))
      expect(own.get(dependency), dependency).toBe(version);
  });

  it('the SDK needs nothing', () => {
    expect(readDependencies('client')).toEqual([]);
  });
});
