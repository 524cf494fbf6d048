import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { onTestFinished } from 'vitest';
import { ensurePrograms } from '../../scripts/programs.mjs';

/** Secret in the configuration of each, and not used by any. */
export const SECRET = 'Zq8-real-server-secret';

/** A server of Debian's packages, with its data in a directory of its own. */
export interface RealServer {
  /** What a node beside it is given. */
  configFile: string;
  configFiles: string[];
  configCommand: string[];
  logDir: string;
  format: string;
  /** A key, and a line that changes it in a copy of the file for another member. */
  changed: { key: string; from: string; to: string };
  /** Starts it and waits until it answers. */
  start(): Promise<void>;
  /** Makes it log something of this level. */
  provoke(): Promise<{ level: 'WARN' | 'ERROR'; text: RegExp }>;
  /** Kills it as a lack of memory does; with what is logged of it, if something is. */
  crash(): RegExp | undefined;
}

class ServerProcess {
  #child: ChildProcess | undefined;

  run(program: string, args: readonly string[], options: { uid?: number; gid?: number; output?: string } = {}): void {
    const { output, ...identity } = options;
    const out = output === undefined ? 'ignore' : openSync(output, 'a');
    // In a group of its own, which ends with the test, whatever has become of the first process of it.
    const child = spawn(program, args, { stdio: ['ignore', out, out], detached: true, ...identity });
    child.on('error', () => {}); // nothing answers then, and the test says so
    this.#child = child;
    onTestFinished(() => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // It has ended.
      }
    });
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  killChildren(): void {
    const pid = this.#child?.pid;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    for (const child of children) process.kill(Number(child), 'SIGKILL');
  }
}

/** Waits until a program succeeds. */
async function untilSuccess(program: string, args: readonly string[]): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      execFileSync(program, args, { stdio: 'pipe' });
      return;
    } catch (error) {
      if (tries > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100)); // pause: between two attempts
    }
  }
}

// programs: curl etcd initdb mariadb mariadb-install-db mariadbd nginx postgres psql redis-cli redis-server
function find(name: Parameters<typeof ensurePrograms>[0][number]): string {
  return ensurePrograms([name]).get(name) ?? name;
}

/** PostgreSQL refuses to run as root; its package makes a user. */
function postgresUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

export function createPostgres(port: number): RealServer {
  const dir = tempDir();
  const user = postgresUser();
  if (user.uid !== undefined && user.gid !== undefined) chownSync(dir, user.uid, user.gid);
  const data = join(dir, 'data');
  const psql = [find('psql'), '-XAtq', '-h', '127.0.0.1', '-p', String(port), '-U', 'admin', '-d', 'postgres'];
  const ask = (sql: string) => execFileSync(psql[0] ?? '', [...psql.slice(1), '-c', sql], { stdio: 'pipe' });
  const server = new ServerProcess();
  execFileSync(find('initdb'), ['-D', data, '-A', 'trust', '-U', 'admin', '-N', '--no-instructions'], {
    ...{ stdio: 'pipe', ...user },
  });
  const configFile = join(data, 'postgresql.conf');
  mkdirSync(join(data, 'conf.d'));
  writeFileSync(join(data, 'conf.d/logging.conf'), "logging_collector = on\nlog_filename = 'postgresql.log'\n");
  const lines = [
    `port = ${port}`,
    `unix_socket_directories = '${dir}'`,
    'shared_buffers = 16MB',
    'work_mem = 4MB',
    'fsync = off',
    `primary_conninfo = 'host=10.8.0.1 user=replica password=${SECRET}'`,
    "include_dir 'conf.d'",
  ];
  writeFileSync(configFile, `${readFileSync(configFile, 'utf8')}\n${lines.join('\n')}\n`);
  return {
    configFile,
    configFiles: [],
    configCommand: [...psql, '-c', 'select name, setting, unit, source from pg_settings'],
    logDir: join(data, 'log'),
    format: 'postgresql',
    changed: { key: 'shared_buffers', from: 'shared_buffers = 16MB', to: 'shared_buffers = 32MB' },
    async start() {
      server.run(find('postgres'), ['-D', data], { ...user, output: join(dir, 'output') });
      await untilSuccess(psql[0] ?? '', [...psql.slice(1), '-c', 'select 1']);
    },
    async provoke() {
      ask("alter system set work_mem = '8MB'");
      try {
        ask('select 1/0');
      } catch {
        // That is what is to be logged.
      }
      return { level: 'ERROR', text: /division by zero/ };
    },
    crash: () => void server.kill(),
  };
}

export function createMariadb(port: number): RealServer {
  const dir = tempDir();
  mkdirSync(join(dir, 'log'));
  mkdirSync(join(dir, 'conf.d'));
  const data = join(dir, 'data');
  const configFile = join(dir, 'my.cnf');
  const socket = join(dir, 's');
  const lines = [
    '[mysqldump]',
    'user = backup',
    `password = ${SECRET}`,
    '[mysqld]',
    `user = root`,
    `port = ${port}`,
    'bind-address = 127.0.0.1',
    `datadir = ${data}`,
    `socket = ${socket}`,
    `log_error = ${join(dir, 'log/error.log')}`,
    'innodb-buffer-pool-size = 16M',
    'innodb_log_file_size = 4M',
    'skip-name-resolve',
    'max_connections = 50   # few',
    `!includedir ${join(dir, 'conf.d')}/`,
  ];
  writeFileSync(configFile, `${lines.join('\n')}\n`);
  writeFileSync(join(dir, 'conf.d/more.cnf'), '[mysqld]\nmax_allowed_packet = 8M\n');
  const args = ['--user=root', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync(find('mariadb-install-db'), ['--no-defaults', ...args], { stdio: 'pipe' });
  const client = [find('mariadb'), '--no-defaults', '-u', 'root', '-S', socket, '-NB'];
  const server = new ServerProcess();
  return {
    configFile,
    configFiles: [join(dir, 'conf.d/*.cnf')],
    configCommand: [...client, '-e', 'show global variables'],
    logDir: join(dir, 'log'),
    format: 'ini',
    changed: { key: 'mysqld.max_connections', from: 'max_connections = 50', to: 'max_connections = 60' },
    async start() {
      server.run(find('mariadbd'), [`--defaults-file=${configFile}`]);
      await untilSuccess(client[0] ?? '', [...client.slice(1), '-e', 'select 1']);
    },
    async provoke() {
      try {
        const who = ['-u', 'nobody', '-pwrong', '-h', '127.0.0.1', '-P', String(port)];
        execFileSync(client[0] ?? '', ['--no-defaults', ...who, '-e', 'select 1'], { stdio: 'pipe' });
      } catch {
        // That is what is to be logged.
      }
      return { level: 'WARN', text: /Access denied for user 'nobody'/ };
    },
    crash: () => void server.kill(),
  };
}

export function createRedis(port: number): RealServer {
  const dir = tempDir();
  mkdirSync(join(dir, 'log'));
  const configFile = join(dir, 'redis.conf');
  const lines = [
    '# a cache',
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `logfile ${join(dir, 'log/redis.log')}`,
    'save 900 1',
    'save 300 10',
    'maxmemory 100mb',
    `masterauth ${SECRET}`,
    `# requirepass ${SECRET}`,
  ];
  writeFileSync(configFile, `${lines.join('\n')}\n`);
  const cli = [find('redis-cli'), '-h', '127.0.0.1', '-p', String(port)];
  const server = new ServerProcess();
  return {
    configFile,
    configFiles: [],
    configCommand: [...cli, 'config', 'get', '*'],
    logDir: join(dir, 'log'),
    format: 'key-value',
    changed: { key: 'maxmemory', from: 'maxmemory 100mb', to: 'maxmemory 200mb' },
    async start() {
      server.run(find('redis-server'), [configFile]);
      await untilSuccess(cli[0] ?? '', [...cli.slice(1), '-e', 'ping']);
    },
    async provoke() {
      execFileSync(cli[0] ?? '', [...cli.slice(1), 'replicaof', '127.0.0.1', '1'], { stdio: 'pipe' });
      return { level: 'WARN', text: /Connection refused|Error condition on socket/ };
    },
    crash: () => void server.kill(),
  };
}

export function createNginx(port: number): RealServer {
  const dir = tempDir();
  mkdirSync(join(dir, 'log'));
  mkdirSync(join(dir, 'sites'));
  const configFile = join(dir, 'nginx.conf');
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${dir}/${name};`,
  );
  const lines = [
    'daemon off;',
    'worker_processes 1;',
    `pid ${dir}/pid;`,
    `error_log ${dir}/log/error.log info;`,
    'events { worker_connections 64; }',
    'http {',
    `  access_log ${dir}/log/access.log;`,
    ...temp,
    '  keepalive_timeout 65;',
    '  include sites/*;',
    '}',
  ];
  writeFileSync(configFile, `${lines.join('\n')}\n`);
  const site = [
    'server {',
    `  listen 127.0.0.1:${port};`,
    `  root ${dir};`,
    `  location /api { proxy_set_header X-Api-Key ${SECRET}; proxy_pass http://127.0.0.1:1; }`,
    '}',
  ];
  writeFileSync(join(dir, 'sites/api'), `${site.join('\n')}\n`);
  const server = new ServerProcess();
  const url = `http://127.0.0.1:${port}/`;
  return {
    configFile,
    configFiles: [],
    configCommand: [],
    logDir: join(dir, 'log'),
    format: 'nginx',
    changed: { key: 'http.keepalive_timeout', from: 'keepalive_timeout 65', to: 'keepalive_timeout 75' },
    async start() {
      server.run(find('nginx'), ['-c', configFile, '-e', join(dir, 'log/error.log')]);
      await untilSuccess('curl', ['-s', '-o', '/dev/null', url]);
    },
    async provoke() {
      await fetch(`${url}api`);
      return { level: 'ERROR', text: /connect\(\) failed/ };
    },
    // A worker: without its master, it would go on.
    crash() {
      server.killChildren();
      return /worker process \d+ exited on signal 9/;
    },
  };
}

export function createEtcd(port: number, peerPort: number): RealServer {
  const dir = tempDir();
  mkdirSync(join(dir, 'log'));
  const configFile = join(dir, 'etcd.conf.yml');
  const url = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const lines = [
    '# one member',
    'name: one',
    `data-dir: ${join(dir, 'data')}`,
    `listen-client-urls: ${url}`,
    `advertise-client-urls: ${url}`,
    `listen-peer-urls: ${peer}`,
    `initial-advertise-peer-urls: ${peer}`,
    `initial-cluster: one=${peer}`,
    `initial-cluster-token: ${SECRET}`,
    'logger: zap',
    `log-outputs: [${join(dir, 'log/etcd.log')}]`,
    'snapshot-count: 10000',
  ];
  writeFileSync(configFile, `${lines.join('\n')}\n`);
  const server = new ServerProcess();
  return {
    configFile,
    configFiles: [],
    configCommand: ['curl', '-sf', `${url}/version`],
    logDir: join(dir, 'log'),
    format: 'yaml',
    changed: { key: 'snapshot-count', from: 'snapshot-count: 10000', to: 'snapshot-count: 20000' },
    async start() {
      process.env.ETCD_UNSUPPORTED_ARCH = process.arch;
      server.run(find('etcd'), ['--config-file', configFile], { output: join(dir, 'output') });
      await untilSuccess('curl', ['-sf', `${url}/version`]);
    },
    async provoke() {
      return { level: 'WARN', text: /./ };
    },
    crash: () => void server.kill(),
  };
}
