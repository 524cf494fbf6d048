import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { readLock } from '../scripts/locked-tree.mjs';
import { billsOfMaterials } from '../scripts/sbom.mjs';
import { BILL } from './testing/cyclonedx-schema.ts';

const root = join(import.meta.dirname, '..');

interface Component {
  'bom-ref': string;
  purl: string;
  hashes: { alg: string; content: string }[];
  properties?: { name: string; value: string }[];
}

interface Bill {
  serialNumber: string;
  metadata: { timestamp?: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

function readBill(file: string, env: { SOURCE_DATE_EPOCH?: string } = {}): Bill {
  return JSON.parse(billsOfMaterials(env).get(file) ?? '{}') as Bill;
}

function purlsWhere(bill: Bill, isBundled: boolean): string[] {
  return bill.components.filter(({ properties }) => (properties !== undefined) === isBundled).map(({ purl }) => purl);
}

describe.each(['porthole.cdx.json', 'porthole-client.cdx.json'])('the bill of materials %s', (file) => {
  it('is CycloneDX 1.6', () => {
    const validate = new Ajv({ allErrors: true, strict: false }).compile(BILL);
    validate(readBill(file));
    expect(validate.errors ?? []).toEqual([]);
  });

  it('names each component once, with its dependencies', () => {
    const { metadata, components, dependencies } = readBill(file);
    const refs = [metadata.component, ...components].map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    expect(dependencies.map(({ ref }) => ref).sort()).toEqual([...refs].sort());
    for (const { dependsOn } of dependencies) for (const ref of dependsOn) expect(refs).toContain(ref);
  });

  it('leads from the product to every component', () => {
    const { metadata, components, dependencies } = readBill(file);
    const needs = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set([metadata.component['bom-ref']]);
    // Iterating a set includes what is added meanwhile.
    for (const ref of reached) for (const next of needs.get(ref) ?? []) reached.add(next);
    expect(reached.size).toBe(components.length + 1);
  });

  it('is the same every time, and has a time only where one was given', () => {
    expect(billsOfMaterials({}).get(file)).toBe(billsOfMaterials({}).get(file));
    expect(readBill(file).metadata.timestamp).toBeUndefined();
    const dated = readBill(file, { SOURCE_DATE_EPOCH: '1794700800' });
    expect(dated.metadata.timestamp).toBe('2026-11-15T00:00:00.000Z');
    expect(dated.serialNumber).not.toBe(readBill(file).serialNumber);
  });
});

describe('the bill of materials of the program', () => {
  const bill = readBill('porthole.cdx.json');

  it('has the hash of every package as the lockfile has it', () => {
    const known = Object.values(readLock(root)).map(({ integrity = '' }) => integrity);
    for (const { purl, hashes } of bill.components) {
      const integrity = `sha512-${Buffer.from(hashes[0]?.content ?? '', 'hex').toString('base64')}`;
      expect(known, purl).toContain(integrity);
    }
  });

  it('has everything the manifest names', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const purls = bill.components.map(({ purl }) => purl);
    for (const [name, version] of Object.entries(dependencies))
      expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    expect(purlsWhere(bill, false).length).toBeGreaterThan(10);
  });

  it('marks what the build has put into the program and its page', () => {
    const marked = purlsWhere(bill, true).map((purl) => /^pkg:npm\/(.+)@/.exec(purl)?.[1]);
    expect(marked).toEqual([
      '%40fontsource-variable/inter',
      '%40fontsource-variable/jetbrains-mono',
      '%40grafana/lezer-logql',
      '%40grpc/grpc-js',
      '%40grpc/proto-loader',
      '%40grpc/reflection',
      '%40js-sdsl/ordered-map',
      '%40lezer/common',
      '%40lezer/lr',
      '%40modelcontextprotocol/core',
      '%40modelcontextprotocol/server',
      ...['aspromise', 'base64', 'codegen', 'eventemitter', 'fetch'].map((name) => `%40protobufjs/${name}`),
      ...['float', 'path', 'pool', 'utf8'].map((name) => `%40protobufjs/${name}`),
      'diff',
      'eventsource-parser',
      'grpc-health-check',
      'lodash.camelcase',
      'long',
      'lucide',
      'preact',
      'protobufjs',
      're2js',
      'zod',
    ]);
    // Beside the code of others stands their licence: nothing was built in that is not marked.
    const lib = join(root, 'packages/cli/lib');
    const licences = readdirSync(lib).filter((name) => name.endsWith('.LICENSE'));
    const inPage = readFileSync(join(lib, 'console/assets/licences.txt'), 'utf8');
    const inside = [
      ...licences.map((name) => name.replace('.LICENSE', '').replace('@', '%40').replace('+', '/')),
      ...packagesIn(inPage).map((name) => name.replace('@', '%40')),
    ];
    expect(inside.length).toBeGreaterThan(1);
    expect(inside.filter((name) => !marked.includes(name))).toEqual([]);
  });
});

/** Each licence stands below the name of its package, which is a folder of node_modules. */
function packagesIn(licences: string): string[] {
  const lines = licences.match(/^(@[\w.-]+\/)?[\w.-]+$/gm) ?? [];
  return lines.filter((line) => existsSync(join(root, 'node_modules', line, 'package.json')));
}

it('npm run sbom writes both into release/', () => {
  const { stdout, status } = spawnSync(process.execPath, ['scripts/sbom.mjs'], { cwd: root, encoding: 'utf8' });
  expect({ status, files: stdout.match(/[\w-]+\.cdx\.json$/gm) }).toEqual({
    status: 0,
    files: ['porthole.cdx.json', 'porthole-client.cdx.json'],
  });
  expect(readFileSync(join(root, 'release/porthole.cdx.json'), 'utf8')).toContain('"specVersion": "1.6"');
});
