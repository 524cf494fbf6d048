import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

interface Manifest {
  name: string;
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
  expect(Object.keys(exports)).toEqual(['.']);
});
