import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@porthole/logs/testing';
import { freePorts } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { IMAGE_ENV, instructionArgs, instructionTexts, STAGES } from '../../test/testing/dockerfile.ts';

const execute = promisify(execFile);

/** Nobody, where the tests run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** How a release is made: where the command is run within the checkout, and who may read what is written there. */
interface ReleaseOptions {
  from: string;
  umask: string;
}

/**
 * The release of a checkout that was built from nothing: that it is the one which this checkout gives, as it was built for
 * the other tests, and that it runs.
 */
export function describeRelease(fresh: () => string): void {
  describe('a release of it', () => {
    let work: string;
    let one: string;

    beforeAll(async () => {
      work = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-release-')));
      // Who runs the program must be let through.
      chmodSync(work, 0o755);
      copyCheckout(join(work, 'one'), '022');
      one = await release(join(work, 'one'), { from: '.', umask: '022' });
    });

    afterAll(() => rmSync(work, { recursive: true, force: true }));

    it('has the same packages as another build of the same sources, independent of directory, umask and working directory', async () => {
      const other = await release(fresh(), { from: 'packages/cli', umask: '077' });
      const hashes = readFileSync(join(one, 'SHA256SUMS'), 'utf8');
      expect(readFileSync(join(other, 'SHA256SUMS'), 'utf8')).toBe(hashes);
      expect(hashes.match(/\S+$/gm)).toEqual([
        'package-lock.json',
        'package.json',
        `porthole-${manifest.version}.tgz`,
        `porthole-client-${manifest.version}.tgz`,
        'porthole-client.cdx.json',
        'porthole.cdx.json',
      ]);
      // The hashes are those of the files: anyone can compare what they have got.
      await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: other });
    });

    it('has bills of materials with all that is installed and all that is built in, each with what it needs', () => {
      for (const [file, product, folder] of PRODUCTS) {
        const bill = JSON.parse(readFileSync(join(one, file), 'utf8')) as Bill;
        expect([bill.bomFormat, bill.metadata.component['bom-ref']]).toEqual([
          'CycloneDX',
          `${product}@${manifest.version}`,
        ]);
        const others = bill.components.map((component) => component['bom-ref']);
        const refs = [bill.metadata.component['bom-ref'], ...others];
        expect(bill.dependencies.map(({ ref }) => ref).sort()).toEqual([...refs].sort());
        expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual(
          [],
        );
        // Packages of others have the hash of the registry.
        const hashless = bill.components.filter(({ hashes }) => hashes === undefined).map(({ name }) => name);
        expect(hashless.filter((name) => !name.startsWith('@porthole/'))).toEqual([]);
        const names = others.map((ref) => ref.replace(/@[^@]+$/, ''));
        const packages = [...namesInManifest(folder), ...namesOfLicences(folder)];
        expect(packages.length).toBeGreaterThan(0);
        expect(packages.filter((name) => !names.includes(name))).toEqual([]);
      }
    });

    it('makes an image, as far as that is possible without Docker, that runs as a user without rights from a tree nobody can write to, is healthy and stops on a signal', () =>
      runImage(work, one));
  });
}

/** The bill of each product and its folder. */
const PRODUCTS = [
  ['porthole.cdx.json', 'porthole', 'packages/cli'],
  ['porthole-client.cdx.json', '@porthole/client', 'packages/client'],
] as const;

interface Bill {
  bomFormat: string;
  metadata: { component: { 'bom-ref': string } };
  components: { 'bom-ref': string; name: string; hashes?: unknown[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

function namesInManifest(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(dependencies);
}

/** Beside the code of others stands their licence; that of the page is one file, with the name of each package as a line. */
function namesOfLicences(folder: string): string[] {
  const lib = join(ROOT, folder, 'lib');
  const files = readdirSync(lib).filter((name) => name.endsWith('.LICENSE'));
  const page = join(lib, 'console/assets/licences.txt');
  const lines = existsSync(page) ? (readFileSync(page, 'utf8').match(/^(@[\w.-]+\/)?[\w.-]+$/gm) ?? []) : [];
  return [
    ...files.map((name) => name.replace('.LICENSE', '').replace('+', '/')),
    ...lines.filter((line) => existsSync(join(ROOT, 'node_modules', line, 'package.json'))),
  ];
}

/** Packs what was built in a checkout, and returns the folder of its release. */
async function release(checkout: string, { from, umask }: ReleaseOptions): Promise<string> {
  const script = [join(checkout, 'scripts/pack.mjs'), '--as-built'];
  const command = 'umask "$1" && shift && exec "$@"';
  const cwd = join(checkout, from);
  await execute('sh', ['-c', command, 'sh', umask, process.execPath, ...script], { cwd }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => expect.fail(`${stdout}${stderr}`),
  );
  return join(checkout, 'release');
}

async function runImage(work: string, release: string): Promise<void> {
  const installed = await installRelease(work, release);
  const state = join(installed, '../state');
  mkdirSync(state);
  const { line } = createToken('ops');
  writeFileSync(join(state, 'tokens'), line, { mode: 0o644 });
  if (NOBODY.uid !== undefined) chownSync(state, NOBODY.uid, NOBODY.gid);
  const [port = 0] = await freePorts(1);
  const given = {
    ...IMAGE_ENV,
    PORTHOLE_HTTP_PORT: `${port}`,
    PORTHOLE_GRPC_PORT: '0',
    PORTHOLE_LOGGING_DIR: join(state, 'log'),
    PORTHOLE_AUTH_TOKEN_FILE: join(state, 'tokens'),
    HEALTH_URL: (IMAGE_ENV.HEALTH_URL ?? '').replace('7300', `${port}`),
  };
  const program = (instructionArgs('ENTRYPOINT')[1] ?? '').replace('/opt/porthole', installed);
  const options = { cwd: state, env: given, ...NOBODY };
  const child = spawn(process.execPath, [program, ...instructionArgs('CMD')], { ...options, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [, ...check] = instructionArgs('HEALTHCHECK');
  await eventually(() => execute(process.execPath, check, options).then(() => {}));
  expect(readdirSync(join(state, 'log'))).toContain('porthole.log');
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/config`)).status).toBe(401);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  // What says whether it lives says so when it does not.
  await expect(execute(process.execPath, check, options)).rejects.toMatchObject({ code: 1 });
}

/** The steps of the Dockerfile behind the build, in folders instead of images. */
async function installRelease(work: string, release: string): Promise<string> {
  const folder = join(work, 'opt');
  cpSync(release, folder, { recursive: true });
  const [, install] = STAGES;
  const [command = '', ...args] = (instructionTexts(install, 'RUN')[0] ?? '').split(' ');
  await execute(command, [...args, '--prefer-offline', '--loglevel=error'], { cwd: folder });
  await execute('chmod', ['-R', 'a-w,a+rX', folder]);
  onTestFinished(() => execute('chmod', ['-R', 'u+w', folder]).then(() => {}));
  return folder;
}

const ROOT = join(import.meta.dirname, '../..');

/** What a release needs. */
const SOURCES = ['LICENSE', 'README.md', 'package.json', 'package-lock.json', 'packages', 'proto', 'scripts'];

/** What is bundled is copied, not linked: a bundle contains the paths of its sources, and those of links lead out of the copy. */
const BUNDLED = [
  ...['@grpc', '@js-sdsl', '@protobufjs', 'grpc-health-check', 'lodash.camelcase', 'long', 'protobufjs'],
  ...['@modelcontextprotocol', 'diff', 'eventsource-parser', 'preact', 're2js', 'zod'],
];

/** Creates a directory with the sources of this checkout, what is built of them, and its installed dependencies. */
function copyCheckout(copy: string, umask: string): void {
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
