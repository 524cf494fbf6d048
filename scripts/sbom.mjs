import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockedTree, nameOf, othersIn, readLock } from './locked-tree.mjs';
import { ROOT } from './steps.mjs';

/*
 * Writes what is in the two packages others install, as CycloneDX 1.6: what they need, and what the build has put into them.
 * The same lockfile gives the same bytes. SOURCE_DATE_EPOCH adds a time; without it there is none, as none would be true.
 */

/** `inside` are the folders whose packages of others the build puts into it; those of its own manifest are installed beside it. */
const PRODUCTS = [
  { folder: 'packages/cli', type: 'application', inside: ['packages/client', 'packages/console', 'packages/server'] },
  { folder: 'packages/client', type: 'library', inside: ['packages/client'] },
];

/** What packages that are built in need for their types or for a command line of theirs, which are not. */
const NOT_BUILT_IN = ['@types/node', 'yargs'];

/** File name -> text. */
export function billsOfMaterials({ SOURCE_DATE_EPOCH } = process.env) {
  const time = SOURCE_DATE_EPOCH ? new Date(Number(SOURCE_DATE_EPOCH) * 1000).toISOString() : undefined;
  return new Map(PRODUCTS.map((product) => billOf(product, time)));
}

/** Writes them to a folder and returns their paths. */
export function writeBills(folder) {
  mkdirSync(folder, { recursive: true });
  return [...billsOfMaterials()].map(([file, text]) => {
    writeFileSync(join(folder, file), text);
    return join(folder, file);
  });
}

function billOf({ folder, type, inside }, timestamp) {
  const lock = readLock(ROOT);
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  const needed = othersIn(ROOT, folder, 'dependencies');
  const bundled = inside.flatMap((from) => othersIn(ROOT, from, 'devDependencies'));
  const tree = lockedTree(lock, [...needed, ...bundled], NOT_BUILT_IN);
  const inBundle = [...lockedTree(lock, bundled, NOT_BUILT_IN).keys()].map(nameOf);
  const product = { type, ...identityOf(name, version), licenses: licencesOf(license) };
  const components = [...tree.keys()].map((path) => componentOf(path, lock[path], inBundle));
  const direct = [...needed, ...bundled].map((other) => refOf(`node_modules/${other}`, lock));
  const dependencies = [...tree].map(([path, needs]) => ({
    ref: refOf(path, lock),
    dependsOn: needs.map((need) => refOf(need, lock)),
  }));
  const content = {
    metadata: {
      ...(timestamp && { timestamp }),
      lifecycles: [{ phase: 'build' }],
      tools: { components: [{ type: 'application', name: 'scripts/sbom.mjs', version }] },
      component: product,
    },
    components: onePerRef(components, 'bom-ref'),
    dependencies: onePerRef(
      [{ ref: product['bom-ref'], dependsOn: [...new Set(direct)].sort() }, ...dependencies],
      'ref',
    ),
  };
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialOf(content),
    version: 1,
    ...content,
  };
  return [`${name.replace('@', '').replace('/', '-')}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`];
}

/** One version may be installed in several folders. */
function onePerRef(items, key) {
  return [...new Map(items.map((item) => [item[key], item])).values()];
}

function componentOf(path, { version, license, integrity }, bundled) {
  const isBundled = path === `node_modules/${nameOf(path)}` && bundled.includes(nameOf(path));
  return {
    type: 'library',
    ...identityOf(nameOf(path), version),
    scope: 'required',
    hashes: hashesOf(integrity),
    licenses: licencesOf(license),
    ...(isBundled && { properties: [{ name: 'porthole:bundled', value: 'true' }] }),
  };
}

function identityOf(fullName, version) {
  const [name, group] = fullName.split('/').reverse();
  const purl = purlOf(fullName, version);
  return { 'bom-ref': purl, ...(group && { group }), name, version, purl };
}

function refOf(path, lock) {
  return purlOf(nameOf(path), lock[path].version);
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** The hash of the tarball the registry serves. */
function hashesOf(integrity) {
  const [, bits, base64] = /^sha(\d+)-(.+)$/.exec(integrity);
  return [{ alg: `SHA-${bits}`, content: Buffer.from(base64, 'base64').toString('hex') }];
}

/** A single name, or an expression of several. */
function licencesOf(licence) {
  return [/ (OR|AND|WITH) /.test(licence) ? { expression: licence } : { license: { id: licence } }];
}

/** From the content: another content is another bill, the same content the same one. Marked as a UUID of its own kind (8). */
export function serialOf(content) {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const digits = `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`;
  return `urn:uuid:${digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const path of writeBills(join(ROOT, 'release'))) console.log(path);
