import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { startClickHouse } from '@porthole/archive/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, onTestFinished, test } from 'vitest';
import { ensurePrograms, type ProgramName } from '../scripts/programs.mjs';
import { FRAMEWORKS, installTools, linkPackages } from './testing/install-tools.ts';
import { BINARY, Program } from './testing/program.ts';
import { createPostgres } from './testing/real-servers.ts';

const execute = promisify(execFile);

/** A fenced block: its language, the file that it is if it names one, and its text. */
const BLOCK = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;

interface TaskPageOptions {
  /** What stands for something else here: paths, ports and host names of the page, the longest first. */
  replace?: (dir: string) => readonly (readonly [from: string, to: string])[];
  env?: Record<string, string>;
}

/** Does what a page of docs/tasks says, from its first block to its last: writes its files, runs its commands. */
class TaskPage {
  readonly dir = tempDir();
  readonly env: Record<string, string>;
  readonly #replace: readonly (readonly [from: string, to: string])[];
  readonly #text: string;

  constructor(name: string, { replace = () => [], env = {} }: TaskPageOptions = {}) {
    this.#text = readFileSync(join(import.meta.dirname, '../docs/tasks', name), 'utf8');
    this.#replace = replace(this.dir);
    const bin = join(this.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'porthole'), `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`);
    chmodSync(join(bin, 'porthole'), 0o755);
    // What is installed and made before the page begins.
    for (const [, , file] of this.#text.matchAll(BLOCK))
      if (file !== undefined) mkdirSync(dirname(resolve(this.dir, this.here(file))), { recursive: true });
    this.env = { PATH: `${bin}:${process.env.PATH}:/usr/sbin`, HOME: this.dir, TZ: 'UTC', ...env };
  }

  /**
   * Runs the page; `instead` has what is done in place of a line of it, such as to start a server that goes on running.
   * Returns what each line has printed. Fails if one fails, or if a line that is replaced is not there.
   */
  async run(instead: Readonly<Record<string, () => unknown>> = {}): Promise<Map<string, string>> {
    const printed = new Map<string, string>();
    const replaced = new Set<string>();
    for (const [, language = '', file, text = ''] of this.#text.matchAll(BLOCK)) {
      if (file !== undefined) this.#write(file, text);
      else if (language === 'sh')
        for (const line of commandLines(text)) {
          const other = instead[line];
          if (other) {
            replaced.add(line);
            await other();
          } else printed.set(line, await this.#execute(line));
        }
    }
    const absent = Object.keys(instead).filter((line) => !replaced.has(line));
    if (absent.length > 0) throw new Error(`the page has no line ${JSON.stringify(absent[0])}`);
    return printed;
  }

  /** A text of the page as it is here. */
  here(text: string): string {
    return this.#replace.reduce((sofar, [from, to]) => sofar.replaceAll(from, to), text);
  }

  #write(name: string, text: string): void {
    writeFileSync(resolve(this.dir, this.here(name)), this.here(text));
  }

  async #execute(line: string): Promise<string> {
    const script = ['-e', '-o', 'pipefail', '-c', this.here(line)];
    try {
      const { stdout, stderr } = await execute('bash', script, { cwd: this.dir, env: this.env });
      // It is shown once, and the page goes on with it.
      if (line.startsWith('porthole token')) this.env.TOKEN = stderr.trim().split(' ').at(-1) ?? '';
      return stdout + stderr;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`"${line}" failed:\n${stdout}${stderr}`, { cause: error });
    }
  }
}

/** Lines without their comments; one that ends with a backslash goes on in the next, and so does what has no end yet. */
function commandLines(block: string): string[] {
  const lines = block
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll(/^(for .*\n)((?: .*\n)+)(done)$/gm, (_loop, head: string, body: string, end: string) =>
      [head.trim(), ...body.trim().split(/\n\s*/), end].join('; ').replace('do; ', 'do '),
    )
    .split('\n');
  return lines
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/* What the pages of docs/tasks say is done here, with real servers. */

const PORT_FLAGS = ['--grpc-port', '0', '--http-port'];

/** A node as a page starts it, on this port. */
async function serve(page: TaskPage, config: string, port: number, ...flags: string[]): Promise<Program> {
  const args = ['serve', '--config', config, ...PORT_FLAGS, String(port), ...flags];
  const program = new Program(args, { cwd: page.dir, env: page.env });
  await program.ready();
  return program;
}

/** A server that a page starts, until the test ends. */
// programs: etcd prometheus
function start([name, ...args]: [ProgramName, ...string[]], page: TaskPage): void {
  const program = ensurePrograms([name]).get(name) ?? name;
  const env = { ...page.env, ETCD_UNSUPPORTED_ARCH: process.arch };
  const child = spawn(program, args, { cwd: page.dir, env, stdio: 'ignore' });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        if (!child.kill()) resolve();
      }),
  );
}

/** A line of a log, by default of now. */
function line(level: string, text: string, at = new Date()): string {
  return `${at.toISOString().replace('T', ' ').replace('Z', '')}\t${level}\ta.go:1\t[A]: ${text}\n`;
}

test('behind nginx', async () => {
  const [port = 0, tlsPort = 0] = await freePorts(2);
  const page = new TaskPage('nginx.md', {
    replace: (dir) => [
      ['/etc/', `${dir}/etc/`],
      ['https://logs.example.org', `https://localhost:${tlsPort}`],
      ['server_name logs.example.org', 'server_name localhost logs.example.org'],
      ['listen 443', `listen 127.0.0.1:${tlsPort}`],
      ['127.0.0.1:7300', `127.0.0.1:${port}`],
    ],
  });
  const nginx = join(page.dir, 'etc/nginx');
  const cert = join(nginx, 'logs.example.org.crt');
  const key = ['-keyout', join(nginx, 'logs.example.org.key'), '-out', cert];
  const names = ['-subj', '/CN=logs.example.org', '-addext', 'subjectAltName=DNS:localhost,DNS:logs.example.org'];
  // programs: openssl
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...names, ...key], { stdio: 'pipe' });
  Object.assign(page.env, { CURL_CA_BUNDLE: cert, NODE_EXTRA_CA_CERTS: cert });
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${nginx}/${name};`,
  );
  const include = `http { access_log off; ${temp.join(' ')} include ${nginx}/conf.d/*.conf; }`;
  writeFileSync(
    join(nginx, 'nginx.conf'),
    `daemon off; pid ${nginx}/pid; error_log ${nginx}/error.log; events {}\n${include}\n`,
  );
  const config = join(page.dir, 'etc/porthole/porthole.toml');
  let node: Program | undefined;
  const printed = await page.run({
    'porthole serve --config /etc/porthole/porthole.toml': async () => {
      node = await serve(page, config, port);
    },
    'nginx -s reload': async () => {
      start(['nginx', '-c', join(nginx, 'nginx.conf'), '-e', join(nginx, 'error.log')], page);
      await eventually(() => send('/health/live'));
    },
  });
  function send(path: string, headers: Record<string, string> = {}) {
    return new Promise<{ status: number; hsts: unknown; text(): Promise<string>; until(sign: string): Promise<void> }>(
      (resolve, reject) => {
        const host = { host: 'logs.example.org', ...headers };
        const options = { host: '127.0.0.1', port: tlsPort, path, ca: readFileSync(cert), headers: host, agent: false };
        const sent = request({ ...options, servername: 'logs.example.org' }, (response) => {
          response.setEncoding('utf8');
          const until = async (sign: string) => {
            for await (const part of response) if (String(part).includes(sign)) return;
            throw new Error(`it ended without ${sign}`);
          };
          const text = async () => (await response.toArray()).join('');
          const { statusCode: status = 0 } = response;
          resolve({ status, hsts: response.headers['strict-transport-security'], text, until });
        });
        onTestFinished(() => void sent.destroy());
        sent.on('error', reject).end();
      },
    );
  }
  const list = 'https://logs.example.org/api/v1/log/list';
  expect(printed.get(`curl -s ${list}`)).toContain('"code":"UNAUTHENTICATED"');
  expect(printed.get(`curl -s -H "Authorization: Bearer $TOKEN" ${list}`)).toContain('porthole.log');
  const logs = 'PORTHOLE_TOKEN=$TOKEN porthole logs -n 5 --url https://logs.example.org';
  expect(printed.get(logs)).toContain('the node is ready');

  const authorization = `Bearer ${page.env.TOKEN}`;
  expect(await send('/api/v1/node', { authorization })).toMatchObject({ status: 200, hsts: 'max-age=31536000' });
  // It arrives while the stream is open, as nothing is held back.
  const follow = await send('/api/v1/log/follow?src==porthole.log&back=1', { authorization });
  await follow.until('event: record');

  // Below a path of its own, and without credentials, as the page says.
  node?.kill('SIGTERM');
  await node?.end();
  const conf = join(nginx, 'conf.d/porthole.conf');
  writeFileSync(conf, readFileSync(conf, 'utf8').replace('location / ', 'location /ops/ '));
  process.kill(Number(readFileSync(join(nginx, 'pid'), 'utf8')), 'SIGHUP');
  node = await serve(page, config, port, '--http-base-path', '/ops');
  await eventually(async () => expect((await send('/ops/api/v1/node', { authorization })).status).toBe(200));
  const console = await (await send('/ops/', { authorization })).text();
  const script = /<script type="module" src="([^"]+)">/.exec(console)?.[1] ?? '';
  expect((await send(new URL(script, 'https://logs.example.org/ops/').pathname, { authorization })).status).toBe(200);
  node.kill('SIGTERM');
  await node.end();
  node = await serve(page, config, port, '--http-base-path', '/ops', '--auth-token-file', '');
  expect(await (await send('/ops/api/v1/node')).text()).toMatch(/"code":"(FORBIDDEN|HOST_NOT_ALLOWED)"/);
});

test('three nodes with etcd and mutual TLS', async () => {
  const [port = 0, etcd = 0, peer = 0] = await freePorts(3);
  const page = new TaskPage('three-nodes.md', {
    replace: (dir) => [
      ['/etc/', `${dir}/etc/`],
      ['/var/', `${dir}/var/`],
      ['10.8.0.', '127.0.0.'],
      [':7300', `:${port}`],
      [':2379', `:${etcd}`],
    ],
  });
  const etc = join(page.dir, 'etc/porthole');
  mkdirSync(join(page.dir, 'var/log/mydb'), { recursive: true });
  writeFileSync(join(page.dir, 'var/log/mydb/db.log'), line('ERROR', 'the disk is full'));
  const ips = ['127.0.0.11', '127.0.0.12', '127.0.0.13'];
  const etcdLine =
    'etcd --data-dir /var/lib/etcd --auto-compaction-retention=1h --client-cert-auth --listen-client-urls https://10.8.0.11:2379 --advertise-client-urls https://10.8.0.11:2379 --trusted-ca-file /etc/porthole/ca.pem --cert-file /etc/porthole/server.pem --key-file /etc/porthole/server.key';
  /** Copies to a machine what the page says. */
  const install = (ip: string, dir: string) => {
    mkdirSync(dir, { recursive: true });
    for (const [from, to] of [
      ['ca.pem', 'ca.pem'],
      [`${ip}.pem`, 'server.pem'],
      [`${ip}.key`, 'server.key'],
    ] as const)
      copyFileSync(join(page.dir, from), join(dir, to));
  };
  const nodes: Program[] = [];
  const printed = await page.run({
    [etcdLine]: () => {
      install('127.0.0.11', etc);
      const url = `http://127.0.0.1:${peer}`;
      const peers = ['--listen-peer-urls', url, '--initial-advertise-peer-urls', url];
      start(
        ['etcd', ...page.here(etcdLine).split(' ').slice(1), ...peers, '--initial-cluster', `default=${url}`],
        page,
      );
    },
    'porthole serve --config /etc/porthole/porthole.toml': async () => {
      const text = readFileSync(join(etc, 'porthole.toml'), 'utf8');
      for (const ip of ips) {
        const machine = join(page.dir, ip);
        install(ip, machine);
        copyFileSync(join(etc, 'tokens'), join(machine, 'tokens'));
        const own = text.replaceAll(etc, machine).replace('host = "127.0.0.11"', `host = "${ip}"`);
        writeFileSync(join(machine, 'porthole.toml'), own);
        // They share the name of this machine.
        const flags = ['--logging-dir', join(machine, 'log'), '--cluster-node-id', ip];
        nodes.push(await serve(page, join(machine, 'porthole.toml'), port, ...flags));
      }
    },
    'porthole nodes': () => {},
  });
  await eventually(async () => {
    const { stdout } = await new Program(['nodes', '-o', 'json'], { cwd: page.dir, env: page.env }).end();
    const states = stdout
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as { state: string }).state);
    expect(states).toEqual(['up', 'up', 'up']);
  });
  expect(printed.get('porthole logs --all -l error -S 1h')?.match(/the disk is full/g)).toHaveLength(3);
  // Nodes have said nothing about what is deprecated or about certificates.
  expect(nodes.map(({ stderr }) => stderr)).toEqual(['', '', '']);
  const url = `https://127.0.0.13:${port}`;
  const ask = (...args: string[]) =>
    new Program(['nodes', '--url', url, ...args], { cwd: page.dir, env: { ...page.env } });
  const anybody = await ask('--ca-file', 'ca.pem', '-c', '').end();
  expect(anybody.code).toBe(2);
  const bob = new Program(['logs', '--url', url, '--ca-file', 'ca.pem', '-n', '1'], {
    cwd: page.dir,
    env: { ...page.env, PORTHOLE_TOKEN: page.env.TOKEN ?? '' },
  });
  expect((await bob.end()).stdout).toContain('the disk is full');
});

test('beside PostgreSQL', async () => {
  const [port = 0, postgresPort = 0] = await freePorts(2);
  const server = createPostgres(postgresPort);
  const page = new TaskPage('postgresql.md', {
    replace: (dir) => [
      ['/etc/postgresql/15/main/postgresql.conf', server.configFile],
      ['/var/log/postgresql', server.logDir],
      [
        '["psql", "-XAtq", "-d", "postgres", "-c",',
        JSON.stringify(server.configCommand.slice(0, -1)).replace(/\]$/, ','),
      ],
      ['/etc/', `${dir}/etc/`],
      ['/var/lib/', `${dir}/`],
    ],
    env: { PORTHOLE_URL: `http://127.0.0.1:${port}` },
  });
  const unit = readFileSync(join(import.meta.dirname, '../deploy/systemd/porthole.service'), 'utf8');
  const printed = await page.run({
    'apt install postgresql ./porthole_0.1.0-1_amd64.deb': () => server.start(),
    // The tests of a sidecar ask as the owner of the database.
    'su postgres -c "psql -c \'create role porthole login; grant pg_read_all_settings to porthole\'"': () => {
      const [psql = '', ...args] = server.configCommand.slice(0, -2);
      const sql = 'create role porthole login; grant pg_read_all_settings to porthole';
      execFileSync(psql, [...args, '-c', sql], { stdio: 'pipe' });
    },
    'systemctl restart porthole': async () => {
      const [, ...words] = (/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '').split(' ');
      const args = words.map((word) => page.here(word));
      await new Program([...args, ...PORT_FLAGS, String(port)], { cwd: page.dir, env: page.env }).ready();
      await server.provoke();
    },
  });
  expect(printed.get('porthole doctor --config /etc/porthole/porthole.toml')).toMatch(/^0 problems/m);
  expect(printed.get('porthole logs -n 5')).toContain('database system is ready to accept connections');
  expect(printed.get('porthole logs -l error -S 1h')).toContain('division by zero');
  expect(printed.get('porthole config get shared_buffers -o value')).toBe('16MB\n');
  expect(printed.get('porthole events -S 1h')).toContain('started');
});

test('behind the login of an Express app', async () => {
  const page = new TaskPage('express.md', { env: { PORT: '0', SECRET: 'of this test' } });
  let url = '';
  await page.run({
    'npm install express express-session porthole': async () => {
      const from = await installTools(FRAMEWORKS);
      linkPackages(page.dir, { from, names: ['express', 'express-session'] });
      symlinkSync(join(import.meta.dirname, '../packages/cli'), join(page.dir, 'node_modules/porthole'));
    },
    'SECRET=change-me PORT=8080 node app.mjs': async () => {
      mkdirSync(join(page.dir, 'log'));
      writeFileSync(join(page.dir, 'log/shop.log'), line('INFO', 'an order was taken'));
      const app = new Program(['app.mjs'], { cwd: page.dir, command: process.execPath, env: page.env });
      await eventually(() => expect(app.stdout).toContain('\n'));
      url = app.stdout.trim();
    },
  });
  const get = (path: string, cookie = '') => fetch(`${url}${path}`, { headers: { cookie }, redirect: 'manual' });
  expect((await get('/ops/')).headers.get('location')).toBe('/login');
  expect((await get('/ops/api/v1/log/list')).status).toBe(401);
  const login = await fetch(`${url}/login`, { method: 'POST', redirect: 'manual' });
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect([login.headers.get('location'), (await get('/ops/', cookie)).status]).toEqual(['/ops/', 200]);
  expect(await (await get('/ops/api/v1/log/search', cookie)).text()).toContain('an order was taken');
  const { config } = (await (await get('/ops/api/v1/config', cookie)).json()) as { config: string };
  expect(config).toBe('workers = 4\n');
  const follow = await get('/ops/api/v1/log/follow', cookie);
  await fetch(`${url}/logout`, { method: 'POST', headers: { cookie }, redirect: 'manual' });
  await expect(follow.text()).rejects.toThrow();
  expect((await get('/ops/api/v1/log/list', cookie)).status).toBe(401);
});

test('what happened last month', async () => {
  const clickhouse = await startClickHouse();
  onTestFinished(() => clickhouse.stop());
  const [port = 0] = await freePorts(1);
  const page = new TaskPage('last-month.md', {
    replace: (dir) => [
      ['http://10.8.0.9:8123', clickhouse.url],
      ['/etc/', `${dir}/etc/`],
      ['/var/', `${dir}/var/`],
    ],
    env: { PORTHOLE_URL: `http://127.0.0.1:${port}` },
  });
  const logs = join(page.dir, 'var/log/mydb');
  mkdirSync(logs, { recursive: true });
  // In the middle of last month, wherever in this one we are.
  const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()];
  const old = (text: string) => line('ERROR', text, new Date(Date.UTC(year, month - 1, 15, 10)));
  writeFileSync(join(logs, 'mydb.log.1'), old('a card was refused'));
  writeFileSync(join(logs, 'mydb.log'), line('INFO', 'a card was accepted'));
  const found = 'porthole logs --all -S "last month" -U "this month" -g refused';
  const archiveOnly = 'porthole logs db-1:mydb.log -S "last month" --store archive';
  const nodesOnly = 'porthole logs --all -S "last month" --store nodes';
  const run = (command: string) => new Program(splitWords(command).slice(1), { cwd: page.dir, env: page.env }).end();
  const printed = await page.run({
    'porthole serve --config /etc/porthole/porthole.toml': async () => {
      await serve(page, join(page.dir, 'etc/porthole/porthole.toml'), port, '--logging-dir', join(page.dir, 'own/log'));
      // All of it is shipped before the page looks, and deletes.
      await eventually(
        async () => {
          expect((await run(archiveOnly)).stdout).toMatch(/refused[\s\S]*accepted/);
          expect((await run('porthole archive status')).code).toBe(0);
        },
        { withinMs: 60_000 },
      );
    },
    'rm /var/log/mydb/mydb.log.1': async () => {
      rmSync(join(logs, 'mydb.log.1'));
      await eventually(async () => expect((await run(found)).stdout).toContain('refused'), { withinMs: 60_000 });
    },
  });
  expect(printed.get('porthole archive init --archive-url http://10.8.0.9:8123 --dry-run')).toContain('CREATE TABLE');
  expect(printed.get(found)).toContain('a card was refused');
  expect(printed.get('porthole logs top level --all -S 2mo')).toContain('ERROR');
  expect(printed.get(archiveOnly)).toContain('refused');
  expect(printed.get(nodesOnly)).not.toContain('refused');
});

/** The words of a command with quoted ones. */
function splitWords(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

test('a log format of your own', async () => {
  const page = new TaskPage('own-format.md');
  const printed = await page.run();
  expect(printed.get('porthole logs formats ./gateway.log')).toContain('log.formats');
  const doctor = printed.get('porthole doctor --config porthole.toml');
  expect(doctor).toMatch(/^ok +log formats: .*gateway/m);
  const records = printed.get('porthole logs ./gateway.log --config porthole.toml -l error -o json') ?? '';
  expect(JSON.parse(records)).toMatchObject({
    level: 'ERROR',
    message: 'refused\n  code 51',
    context: { order: 4712 },
  });
  expect(printed.get('porthole logs top order ./gateway.log --config porthole.toml')).toMatch(/^4711 +1/m);
});

test('Prometheus and Grafana', async () => {
  const [port = 0, prometheus = 0] = await freePorts(2);
  ensurePrograms(['prometheus', 'promtool', 'curl']);
  const page = new TaskPage('prometheus-grafana.md', {
    replace: (dir) => [
      ['/etc/', `${dir}/etc/`],
      ['127.0.0.1:7300', `127.0.0.1:${port}`],
    ],
  });
  const etc = join(page.dir, 'etc/prometheus');
  const rules = join(import.meta.dirname, '../deploy/prometheus/porthole-alerts.yml');
  const printed = await page.run({
    'porthole serve --config /etc/porthole/porthole.toml': async () => {
      copyFileSync(rules, join(etc, 'porthole-alerts.yml'));
      writeFileSync(join(etc, 'porthole.token'), page.env.TOKEN ?? '');
      await serve(page, join(page.dir, 'etc/porthole/porthole.toml'), port);
    },
    'prometheus --config.file=/etc/prometheus/prometheus.yml': async () => {
      const config = `--config.file=${join(etc, 'prometheus.yml')}`;
      start(['prometheus', config, '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${prometheus}`], page);
      await eventually(
        async () => {
          const targets = await fetch(`http://127.0.0.1:${prometheus}/api/v1/targets`);
          expect(await targets.text()).toContain('"health":"up"');
        },
        // It scrapes at a time that depends on the target.
        { withinMs: 30_000 },
      );
    },
  });
  const [check, records] = [...printed].filter(([command]) => command.startsWith('curl ')).map(([, text]) => text);
  expect(JSON.parse(check ?? '')).toMatchObject({ data: { result: [{ value: [expect.anything(), '2'] }] } });
  expect(records).toContain('the node is ready');
});

test('an assistant', async () => {
  const [port = 0] = await freePorts(1);
  const page = new TaskPage('assistant.md', { replace: () => [['127.0.0.1:7300', `127.0.0.1:${port}`]] });
  const printed = await page.run({
    'porthole serve --mcp-enabled --auth-token-file tokens': async () => {
      const args = ['serve', '--mcp-enabled', '--auth-token-file', 'tokens', ...PORT_FLAGS, String(port)];
      await new Program(args, { cwd: page.dir, env: page.env }).ready();
    },
  });
  expect([...printed.values()].at(-1)).toContain('"what_happened"');
  const { mcpServers } = JSON.parse(readFileSync(join(page.dir, 'mcp.json'), 'utf8')) as {
    mcpServers: { porthole: { command: string; args: string[] } };
  };
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  const env = { ...page.env, PORTHOLE_TOKEN: page.env.TOKEN ?? '' };
  await client.connect(new StdioClientTransport({ ...mcpServers.porthole, env }));
  const { content } = await client.callTool({ name: 'search_logs', arguments: { texts: ['ready'] } });
  expect(JSON.stringify(content)).toContain('the node is ready');
});
