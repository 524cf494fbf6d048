import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
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
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { ensurePrograms } from '../scripts/programs.mjs';
import { Program } from './testing/program.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** Any day: where there is no repository, there is no commit to take the time from. */
const SOURCE_DATE_EPOCH = '1794700800';

/** The architecture of this machine, as Node.js and Debian call it, and another one. */
const [OWN, OTHER] =
  process.arch === 'arm64'
    ? ([
        { node: 'arm64', debian: 'arm64' },
        { node: 'x64', debian: 'amd64' },
      ] as const)
    : ([
        { node: 'x64', debian: 'amd64' },
        { node: 'arm64', debian: 'arm64' },
      ] as const);

/** What the header of a program says it is made for. */
const MACHINES = { x64: 0x3e, arm64: 0xb7 };

let work: string;
let release: string;

beforeAll(async () => {
  ensurePrograms(['dpkg-deb', 'systemd-sysusers', 'tar', ...(process.getuid?.() === 0 ? [] : (['fakeroot'] as const))]);
  work = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-linux-')));
  chmodSync(work, 0o755);
  release = join(work, 'release');
  await makePackages(release, '022');
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

function makePackages(to: string, umask: string, ...architectures: string[]) {
  const script = ['scripts/package.mjs', '--as-built', '--quick', '--to', to, ...architectures];
  const env = { ...process.env, SOURCE_DATE_EPOCH };
  const command = 'umask "$1" && shift && exec "$@"';
  return execute('sh', ['-c', command, 'sh', umask, process.execPath, ...script], { cwd: root, env });
}

function debOf(architecture: string): string {
  return join(release, `porthole_${manifest.version}-1_${architecture}.deb`);
}

function archiveOf(architecture: string): string {
  return join(release, `porthole-${manifest.version}-linux-${architecture}.tar.gz`);
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** What the program in this folder prints as its version, by the Node.js beside it: none is on the path. */
function versionOf(program: string): string {
  return execFileSync(program, ['version'], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
}

const OWN_NODE = new RegExp(`^porthole ${manifest.version} \\(node ${nodeVersion()}\\)\n$`);

function nodeVersion(): string {
  const [, version = ''] = /version: '([\d.]+)'/.exec(readFileSync(join(root, 'scripts/package.mjs'), 'utf8')) ?? [];
  return version.replaceAll('.', '\\.');
}

describe('npm run package', () => {
  it('gives the same bytes again, whatever the umask', async () => {
    const again = join(work, 'again');
    await makePackages(again, '077', OWN.node);
    for (const file of [debOf(OWN.debian), archiveOf(OWN.node)])
      expect(hashOf(join(again, basename(file))), file).toBe(hashOf(file));
    rmSync(again, { recursive: true });
  });

  it('has hashes of all of it', async () => {
    const { stdout } = await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release });
    for (const { node, debian } of [OWN, OTHER])
      for (const file of [debOf(debian), archiveOf(node)]) expect(stdout).toContain(`${basename(file)}: OK`);
  });

  it('has a bill of materials for each, with its Node.js', () => {
    for (const { node } of [OWN, OTHER]) {
      const bill = JSON.parse(readFileSync(archiveOf(node).replace('.tar.gz', '.cdx.json'), 'utf8')) as {
        components: { name: string }[];
        dependencies: { ref: string; dependsOn: string[] }[];
      };
      const names = bill.components.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining([`node-linux-${node}`, 'undici', 'protobufjs']));
      expect(bill.dependencies).toHaveLength(names.length + 1);
      const product = bill.dependencies.find(({ ref }) => ref === `porthole@${manifest.version}`);
      expect(product?.dependsOn.filter((ref) => ref.startsWith(`pkg:npm/node-linux-${node}@`))).toHaveLength(1);
    }
  });

  it('puts the same files into the packages of both architectures, and the Node.js of each', async () => {
    const list = async (architecture: string) => {
      const { stdout } = await execute('dpkg-deb', ['--contents', debOf(architecture)], { maxBuffer: 1 << 24 });
      const lines = stdout.trimEnd().split('\n');
      expect(lines.filter((line) => !/ root\/root +\d+ 2026-11-15 00:00 /.test(line))).toEqual([]);
      return lines.map((line) => line.replace(/(root\/root) +\d+ (.*\/porthole\/node|.*\/copyright)$/, '$1 $2'));
    };
    const files = await list(OWN.debian);
    expect(await list(OTHER.debian)).toEqual(files);
    // Compilers and people read these, not the program.
    expect(files.filter((line) => /\.(d\.[cm]?ts|map)$/.test(line))).toEqual([]);
    for (const { node, debian } of [OWN, OTHER]) {
      const path = `${archiveOf(node).replace(/.*\/|\.tar\.gz/g, '')}/lib/porthole/node`;
      const { stdout } = await execute('sh', ['-c', 'tar -xzOf "$1" "$2" | head -c 20', 'sh', archiveOf(node), path], {
        encoding: 'buffer',
      });
      expect(stdout.subarray(0, 4).toString('latin1')).toBe('\x7fELF');
      expect(stdout.readUInt16LE(18)).toBe(MACHINES[node]);
      const { stdout: field } = await execute('dpkg-deb', ['--field', debOf(debian), 'Architecture']);
      expect(field).toBe(`${debian}\n`);
    }
  });
});

it('the archive runs from any folder, through a link', async () => {
  const folder = join(work, 'opt');
  mkdirSync(folder);
  await execute('tar', ['-xzf', archiveOf(OWN.node), '-C', folder, '--strip-components=1']);
  const link = join(work, 'porthole');
  symlinkSync(join(folder, 'bin/porthole'), link);
  expect(versionOf(link)).toMatch(OWN_NODE);
  expect(readdirSync(folder).sort()).toEqual(['LICENSE', 'README.md', 'bin', 'lib', 'share']);
  // The licences of what is in it: of Node.js, of packages it needs, of packages that are bundled, of the console.
  const licences = readFileSync(join(folder, 'LICENSE'), 'utf8');
  for (const name of ['node.LICENSE', 'undici/LICENSE', '@grpc+grpc-js.LICENSE', 'licences.txt'])
    expect(licences).toContain(name);
  rmSync(folder, { recursive: true });
});

describe('the Debian package', () => {
  /** The root of another system, into which dpkg installs. Its scripts are run here, with DPKG_ROOT. */
  let system: string;
  const at = (path: string) => join(system, path);
  const read = (path: string) => readFileSync(at(path), 'utf8');

  beforeAll(() => {
    system = join(work, 'system');
    for (const path of ['etc', 'var/lib/dpkg/info', 'var/lib/dpkg/updates', 'var/lib/dpkg/triggers'])
      mkdirSync(at(path), { recursive: true });
    writeFileSync(at('etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
    writeFileSync(at('etc/group'), 'root:x:0:\n');
    // What ours depends on is said to be there.
    const installed = [
      ['libc6', '2.36'],
      ['libgcc-s1', '12.2'],
      ['libstdc++6', '12.2'],
      ['systemd', '252'],
    ].map(
      ([name, version]) =>
        `Package: ${name}\nStatus: install ok installed\nMaintainer: nobody\nArchitecture: ${OWN.debian}\nMulti-Arch: same\nVersion: ${version}\nDescription: none\n`,
    );
    writeFileSync(at('var/lib/dpkg/status'), installed.join('\n'));
  });

  async function dpkg(...args: string[]): Promise<string> {
    const options = [`--root=${system}`, '--force-script-chrootless', '--force-confdef', '--force-confold'];
    const [command, ...words] = process.getuid?.() === 0 ? ['dpkg'] : ['fakeroot', '--', 'dpkg'];
    const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
    const all = [...words, ...options, ...args];
    const { stdout, stderr } = await execute(command ?? '', all, { env: { ...process.env, PATH, LC_ALL: 'C' } });
    return stdout + stderr;
  }

  async function statusOf(): Promise<string> {
    const { stdout } = await execute('dpkg-query', [
      `--root=${system}`,
      `--showformat=\${Status} \${Version}`,
      '-W',
      'porthole',
    ]);
    return stdout;
  }

  /** A version before, of which other settings were shipped, and a file that is no more; without Node.js, which takes long. */
  async function olderPackage(): Promise<string> {
    const folder = join(work, 'older');
    await execute('dpkg-deb', ['--raw-extract', debOf(OWN.debian), folder]);
    const edit = (path: string, change: (text: string) => string) =>
      writeFileSync(join(folder, path), change(readFileSync(join(folder, path), 'utf8')));
    edit('DEBIAN/control', (text) => text.replace(/^Version: .*/m, 'Version: 0.0.1-1'));
    edit('etc/porthole/porthole.toml', (text) => text.replace('#port = 7300', '#port = 7000'));
    rmSync(join(folder, 'usr/lib/porthole/node'));
    writeFileSync(join(folder, 'usr/lib/porthole/formerly'), '');
    const file = join(work, 'older.deb');
    await execute('dpkg-deb', ['--root-owner-group', '-Znone', '--build', folder, file]);
    rmSync(folder, { recursive: true });
    return file;
  }

  // One test: each step is about what the one before has left.
  it('is installed, upgraded, runs as its unit says, and is removed and purged', async () => {
    const users = readFileSync('/etc/passwd', 'utf8');
    const settings = '/etc/porthole/porthole.toml';
    await dpkg('--install', await olderPackage());
    expect(await statusOf()).toBe('install ok installed 0.0.1-1');
    const [, uid = '', gid = ''] = /^porthole:[^:]*:(\d+):(\d+):Porthole:/m.exec(read('etc/passwd')) ?? [];
    expect(Number(uid)).toBeGreaterThan(0);
    const { mode, uid: owner } = lstatSync(at('var/lib/porthole'));
    expect(mode & 0o777).toBe(0o700);
    if (process.getuid?.() === 0) expect(owner).toBe(Number(uid));
    expect(lstatSync(at('etc/systemd/system/multi-user.target.wants/porthole.service')).isSymbolicLink()).toBe(true);

    // The administrator changes the settings, and takes the service out of the start of the system.
    writeFileSync(at(settings), read(settings).replace('#port = 7000', 'port = 0').replace('#port = 7301', 'port = 0'));
    rmSync(at('etc/systemd/system/multi-user.target.wants/porthole.service'));
    await dpkg('--install', debOf(OWN.debian));
    expect(await statusOf()).toBe(`install ok installed ${manifest.version}-1`);
    expect(read(settings).match(/^port = 0$/gm)).toHaveLength(2);
    expect(read(`${settings}.dpkg-dist`)).toContain('#port = 7300');
    expect(existsSync(at('usr/lib/porthole/formerly'))).toBe(false);
    expect(existsSync(at('etc/systemd/system/multi-user.target.wants/porthole.service'))).toBe(false);

    expect(versionOf(at('usr/bin/porthole'))).toMatch(OWN_NODE);
    await runService({ uid: Number(uid), gid: Number(gid) });

    await dpkg('--remove', 'porthole');
    expect(await statusOf()).toBe(`deinstall ok config-files ${manifest.version}-1`);
    expect([existsSync(at('usr/bin/porthole')), existsSync(at('usr/lib/porthole'))]).toEqual([false, false]);
    expect([existsSync(at(settings)), existsSync(at('var/lib/porthole/log/porthole.log'))]).toEqual([true, true]);

    await dpkg('--purge', 'porthole');
    const left = readdirSync(system, { recursive: true, encoding: 'utf8' });
    // The user stays, and with it its line in these files.
    expect(left.filter((path) => path.includes('porthole'))).toEqual([]);
    expect(readFileSync('/etc/passwd', 'utf8')).toBe(users);
  });

  /** The command of the unit, with the paths of the other system. */
  async function runService(user: { uid: number; gid: number }): Promise<void> {
    const [, line = ''] = /^ExecStart=(.*)$/m.exec(read('usr/lib/systemd/system/porthole.service')) ?? [];
    const [command, ...words] = line.split(' ').map((word) => (word.startsWith('/') ? at(word) : word));
    expect(command).toBe('porthole');
    expect(read('etc/porthole/porthole.toml')).toContain('\ndir = "/var/lib/porthole/log"\n');
    const env = { PATH: `${at('usr/bin')}:/usr/bin:/bin`, PORTHOLE_LOGGING_DIR: at('var/lib/porthole/log') };
    const asUser = process.getuid?.() === 0 ? user : {};
    const program = new Program(words, {
      cwd: at('var/lib/porthole'),
      command: at('usr/bin/porthole'),
      env,
      ...asUser,
    });
    const url = await program.ready();
    const node = await (await fetch(`${url}api/v1/node`)).json();
    expect(node).toMatchObject({ versions: { porthole: manifest.version }, observes: 'self' });
    expect((await fetch(`${url}health/ready`)).status).toBe(200);
    expect(await (await fetch(url)).text()).toContain('<script');
    program.kill('SIGTERM');
    expect((await program.end()).code).toBe(0);
    // What /var/log has is the log.
    const log = readFileSync(realpathSync(at('var/log/porthole/porthole.log')), 'utf8');
    expect(log).toContain('the node is ready');
  }
});
