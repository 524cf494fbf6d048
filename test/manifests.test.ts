import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  license?: string;
  description?: string;
  keywords?: string[];
  homepage?: string;
  bugs?: string;
  repository?: { type: string; url: string; directory: string };
  engines?: { node?: string };
  files?: string[];
  publishConfig?: object;
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

const FOLDERS = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
const PUBLISHED = ['packages/cli', 'packages/client'];

it('only the two packages that contain all others can be published', () => {
  const open = ['.', ...FOLDERS].filter((folder) => readManifest(folder).private !== true);
  expect(open.sort()).toEqual(PUBLISHED);
});

describe.each(PUBLISHED)('the manifest of %s', (folder) => {
  const manifest = readManifest(folder);

  it('has what a registry shows, and what a provenance statement is compared with', () => {
    const { homepage, repository } = readManifest('packages/cli');
    expect(manifest).toMatchObject({
      license: 'Apache-2.0',
      description: expect.stringMatching(/^\w.{40,}\.$/),
      homepage,
      bugs: `${homepage}/issues`,
      repository: { type: 'git', url: repository?.url, directory: folder },
      engines: readManifest('.').engines,
      publishConfig: { access: 'public', provenance: true },
    });
    expect(new URL(homepage ?? '').protocol).toBe('https:');
    expect(repository?.url).toMatch(/^git\+https:\/\/\S+\.git$/);
    const { keywords = [] } = manifest;
    expect(keywords.length).toBeGreaterThan(4);
    expect(new Set(keywords).size).toBe(keywords.length);
  });
});

it('examples import only packages that are published, of ours', () => {
  const published = PUBLISHED.map((folder) => readManifest(folder).name);
  const folder = join(root, 'examples');
  const sources = readdirSync(folder).filter((name) => /\.(mjs|ts)$/.test(name));
  expect(sources.length).toBeGreaterThan(5);
  const imported = sources.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:from|import) '((?:@porthole\/|porthole)[^'/]*)/g)].map(
      ([, specifier]) => `${name}: ${specifier}`,
    ),
  );
  expect(imported.length).toBeGreaterThan(5);
  expect(imported.filter((line) => !published.includes(line.split(': ')[1] ?? ''))).toEqual([]);
});

it('all manifests and the changelog have the same version, and no page speaks of another one', () => {
  const { version } = readManifest('.');
  expect(FOLDERS.map((folder) => readManifest(folder).version).filter((other) => other !== version)).toEqual([]);
  const headings = read('CHANGELOG.md').match(/^## .*$/gm) ?? [];
  expect(headings.filter((heading) => heading !== `## ${version} (not released yet)`)).toEqual([]);
  expect(headings).toHaveLength(1);
  const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'];
  for (const folder of ['docs', 'docs/tasks'])
    pages.push(...readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? `${folder}/${name}` : [])));
  const spoken = pages.flatMap((page) => [
    ...[...read(page).matchAll(/\bversions? v?(0\.\d+(?:\.\d+)?)\b/gi)].map(([, other]) => `${page}: ${other}`),
    ...[...read(page).matchAll(/\bporthole(?:-client)?[-_](\d+\.\d+\.\d+)\b/g)].map(([, other]) => `${page}: ${other}`),
  ]);
  expect(spoken.filter((line) => !line.endsWith(`: ${version}`))).toEqual([]);
});

/** What a change adds here has to be kept for years: values by name, and the types that users need to name. */
const EXPORTS = {
  'packages/server/src/index.ts': [
    ...['SettingsError', 'StartError', 'createNode', 'fastifyPlugin', 'mark', 'startNode'],
    ...['Authenticate', 'AuthenticateRequest', 'AuthenticatedUser', 'ConfigOption', 'CreateNodeOptions'],
    ...[
      'EmbeddedHttp',
      'EmbeddedNode',
      'FetchContext',
      'HandlerContext',
      'HostLogger',
      'Logger',
      'MarkedValue',
      'Marks',
    ],
    ...[
      'NodeOptions',
      'PartialSettings',
      'ProgramConfig',
      'RunningNode',
      'Settings',
      'StartErrorCode',
      'StartNodeOptions',
    ],
  ],
};

it('the package porthole exports what its users need, and nothing from inside', async () => {
  for (const [file, names] of Object.entries(EXPORTS)) {
    const text = readFileSync(join(root, file), 'utf8');
    const exported = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.replace('type ', '').trim()),
    );
    expect(exported.sort()).toEqual([...names].sort());
    // There is no other way to export: all of it is seen above.
    expect(text.match(/^export /gm)).toHaveLength([...text.matchAll(/^export (?:type )?\{/gm)].length);
  }
  const built: object = await import(join(root, 'packages/cli/lib/index.js'));
  expect(Object.keys(built).sort()).toEqual(EXPORTS['packages/server/src/index.ts'].slice(0, 6).sort());
});

it('the SDK exports no value from inside', async () => {
  const built: object = await import(join(root, 'packages/client/lib/index.js'));
  const own = readFileSync(join(root, 'packages/client/src/index.ts'), 'utf8');
  const values = [...own.matchAll(/^export \{([^}]*)\} from/gm)].flatMap(([, list = '']) =>
    list.split(',').flatMap((name) => name.trim() || []),
  );
  expect(Object.keys(built).sort()).toEqual(values.sort());
  const { exports } = JSON.parse(readFileSync(join(root, 'packages/client/package.json'), 'utf8')) as {
    exports: object;
  };
  // Nodes ask each other by the second one, which users have no need of.
  expect(Object.keys(exports)).toEqual(['.', './member']);
});
