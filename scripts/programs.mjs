import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/* Programs of the system that tests and benchmarks run. Plain JavaScript: it runs before anything is installed. */

/** The Debian package of each. */
export const PACKAGES = {
  chromium: 'chromium-headless-shell',
  'clickhouse-client': 'clickhouse-client',
  'clickhouse-server': 'clickhouse-server',
  curl: 'curl',
  dd: 'coreutils',
  'dpkg-deb': 'dpkg',
  etcd: 'etcd-server',
  faketime: 'faketime',
  fakeroot: 'fakeroot',
  'firefox-esr': 'firefox-esr',
  fish: 'fish',
  git: 'git',
  go: 'golang-go',
  goaccess: 'goaccess',
  grep: 'grep',
  grpc_python_plugin: 'protobuf-compiler-grpc',
  ip: 'iproute2',
  journalctl: 'systemd',
  jq: 'jq',
  lnav: 'lnav',
  mariadb: 'mariadb-client-core',
  'mariadb-install-db': 'mariadb-server-core',
  mariadbd: 'mariadb-server-core',
  logrotate: 'logrotate',
  mandoc: 'mandoc',
  mawk: 'mawk',
  ls: 'coreutils',
  nginx: 'nginx-light',
  openssl: 'openssl',
  initdb: 'postgresql',
  postgres: 'postgresql',
  prlimit: 'util-linux',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  protoc: 'protobuf-compiler',
  psql: 'postgresql-client',
  'python3-grpcio': 'python3-grpcio',
  'redis-cli': 'redis-tools',
  'redis-server': 'redis-server',
  sqlite3: 'sqlite3',
  strace: 'strace',
  'systemd-sysusers': 'systemd',
  tar: 'tar',
  unshare: 'util-linux',
  'systemd-analyze': 'systemd',
  'systemd-journal-remote': 'systemd-journal-remote',
  wc: 'coreutils',
  wrk: 'wrk',
  zgrep: 'gzip',
};

/**
 * Programs that do the same, the better one first: the headless shell is the browser without its windows, tabs and address
 * bar, and loads a page in half the time of a core.
 */
const NAMES = {
  chromium: ['chromium-headless-shell', 'chromium'],
};

/** What is no program but is needed like one, by a file that shows it is there. */
const FILES = {
  'python3-grpcio': '/usr/lib/python3/dist-packages/grpc/__init__.py',
  'systemd-journal-remote': '/usr/lib/systemd/systemd-journal-remote',
};

/** Debian keeps servers where the PATH of an ordinary user does not look. */
const SYSTEM_DIRS = ['/usr/sbin', '/usr/local/sbin'];
const POSTGRESQL_DIR = '/usr/lib/postgresql';

/** A program is not there and cannot be installed from here; the message says what to do. */
export class ProgramsMissing extends Error {
  name = 'ProgramsMissing';
}

/** Finds the programs; installs missing ones where that is possible, and throws otherwise. */
export function ensurePrograms(names) {
  const missing = missingPrograms(names);
  if (missing.length > 0) installPrograms(missing);
  return new Map(names.map((name) => [name, findProgram(name)]));
}

export function missingPrograms(names) {
  return names.filter((name) => findProgram(name) === undefined);
}

/** As root on Debian. */
export function canInstall() {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined;
}

/** Says so first: it takes a minute and changes the machine. */
export function installPrograms(names) {
  if (!canInstall()) giveUp(names);
  console.error(`not found: ${names.join(', ')}; installing: ${installCommand(names)}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (...args) => spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env, encoding: 'utf8' });
  run('update'); // a fresh machine or container has no package lists yet
  const { status, stderr } = run('install', '-y', '--no-install-recommends', ...packagesOf(names));
  const missing = missingPrograms(names);
  if (status !== 0 || missing.length > 0) giveUp(missing.length > 0 ? missing : names, stderr);
}

export function installCommand(names) {
  return `apt-get install -y --no-install-recommends ${packagesOf(names).join(' ')}`;
}

/** Where a program is; `undefined` if it is not installed. */
export function findProgram(name) {
  if (FILES[name] !== undefined) return existsSync(FILES[name]) ? FILES[name] : undefined;
  const own = (process.env.PATH ?? '').split(delimiter).filter((dir) => dir !== '');
  const dirs = [...own, ...SYSTEM_DIRS, ...postgresqlDirs()];
  const paths = (NAMES[name] ?? [name]).flatMap((file) => dirs.map((dir) => join(dir, file)));
  return paths.find(isExecutable);
}

/** One for each version, the newest first. */
function postgresqlDirs() {
  if (!existsSync(POSTGRESQL_DIR)) return [];
  const versions = readdirSync(POSTGRESQL_DIR).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(POSTGRESQL_DIR, version, 'bin'));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function giveUp(missing, reason = '') {
  throw new ProgramsMissing(
    `${missing.join(' and ')} needed: install with "${installCommand(missing)}" as root, or put on PATH ${reason}`.trim(),
  );
}

function packagesOf(names) {
  return [...new Set(names.map((name) => PACKAGES[name]))];
}
