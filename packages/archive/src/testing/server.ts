import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { scaled } from '@porthole/logs/testing';
import { ClickHouse, type ClickHouseOptions } from '../clickhouse/clickhouse.ts';

/** Usually it starts in a second. */
const START_TIMEOUT_MS = 60_000;

/** Debian keeps servers where the PATH of an ordinary user does not look. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;

export interface TestServerOptions {
  /** Where its data is; a temporary directory if absent. */
  dataDir?: string;
  /** More users, by name: password and profile (`default`, `readonly`). */
  users?: Readonly<Record<string, { password: string; profile?: string }>>;
  /** Servers of the ClickHouse cluster `porthole`, by their TCP ports, itself included if it is to be part of it. */
  clusterPorts?: readonly number[];
  /** For `clusterPorts`: known before it starts. */
  ports?: ServerPorts;
  tls?: { certFile: string; keyFile: string };
}

export interface ServerPorts {
  http: number;
  tcp: number;
  interserver: number;
  https: number;
}

/** Below the ports that systems and other tests give away, so that they are still free when the server is started again. */
const FIRST_PORT = 14_000;
const PORTS = 6000;

/** Ports that nobody listens on now. Held all at once while they are found, so that they differ. */
export async function serverPorts(): Promise<ServerPorts> {
  const held: Server[] = [];
  while (held.length < 4) {
    const server = createServer().listen(FIRST_PORT + Math.floor(Math.random() * PORTS), '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false, // taken: another one is tried
    );
    if (isFree) held.push(server);
  }
  const [http = 0, tcp = 0, interserver = 0, https = 0] = held.map(
    (server) => (server.address() as { port: number }).port,
  );
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return { http, tcp, interserver, https };
}

/** Starts a real ClickHouse server. The caller stops it: once per file of tests, since it takes a second to start. */
export async function startClickHouse(options: TestServerOptions = {}): Promise<TestClickHouse> {
  const server = new TestClickHouse(options, options.ports ?? (await serverPorts()));
  await server.start();
  return server;
}

/** A server that can be killed and started again with the same data and ports. */
export class TestClickHouse {
  readonly dir = mkdtempSync(join(tmpdir(), 'porthole-clickhouse-'));
  readonly ports: ServerPorts;
  readonly #options: TestServerOptions;
  readonly #onExit = () => this.#child?.kill('SIGKILL');
  #child: ChildProcess | undefined;
  #output = '';
  #databases = 0;

  constructor(options: TestServerOptions, ports: ServerPorts) {
    this.#options = options;
    this.ports = ports;
    process.once('exit', this.#onExit); // also when the tests are aborted
  }

  get url(): string {
    return `http://127.0.0.1:${this.ports.http}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** A connection to it; closed by the caller, or left to the end of the process. */
  connect(options: Partial<ClickHouseOptions> = {}): ClickHouse {
    return new ClickHouse({ url: this.url, database: 'default', ...options });
  }

  /** The name of a database that no other test uses. */
  newDatabase(): string {
    return `test_${this.#databases++}`;
  }

  async start(): Promise<void> {
    this.#writeConfig();
    const args = [`--config-file=${join(this.dir, 'config.xml')}`];
    // programs: clickhouse-server
    const child = spawn('clickhouse-server', args, {
      cwd: this.dir,
      env: { ...process.env, PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => {
        this.#output = `${this.#output}${text}`.slice(-20_000);
      });
    }
    child.on('error', (error) => {
      this.#output += `${error}\n`;
    });
    await this.#ready(child);
  }

  /** Like a crash. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Suspends it: connections stay open without responses. */
  async pause(): Promise<void> {
    this.#child?.kill('SIGSTOP');
    // A signal takes effect when the system gets to it.
    // pause: between two looks
    while (!/^State:\s+T/m.test(readFileSync(`/proc/${this.pid}/status`, 'utf8'))) await delay(1);
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.kill();
    process.removeListener('exit', this.#onExit);
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #ready(child: ChildProcess): Promise<void> {
    const giveUpAt = performance.now() + scaled(START_TIMEOUT_MS);
    while (performance.now() < giveUpAt && child.exitCode === null) {
      const response = await fetch(`${this.url}/ping`).catch(() => undefined);
      await response?.body?.cancel();
      if (response?.ok) return;
      await delay(20); // pause: between two attempts
    }
    throw new Error(`clickhouse-server failed to start:\n${this.#output}`);
  }

  #writeConfig(): void {
    const { dataDir = join(this.dir, 'data'), users = {}, clusterPorts = [], tls } = this.#options;
    mkdirSync(dataDir, { recursive: true });
    const shards = clusterPorts.map(
      (port) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`,
    );
    const { http, tcp, interserver, https } = this.ports;
    const config = [
      `<logger><level>warning</level><log>${this.dir}/server.log</log><errorlog>${this.dir}/errors.log</errorlog></logger>`,
      `<http_port>${http}</http_port><tcp_port>${tcp}</tcp_port>`,
      `<interserver_http_port>${interserver}</interserver_http_port><listen_host>127.0.0.1</listen_host>`,
      `<path>${dataDir}/</path><tmp_path>${dataDir}/tmp/</tmp_path><users_config>users.xml</users_config>`,
      '<default_profile>default</default_profile><default_database>default</default_database><timezone>UTC</timezone>',
      '<mark_cache_size>67108864</mark_cache_size>',
      shards.length > 0 ? `<remote_servers><porthole>${shards.join('')}</porthole></remote_servers>` : '',
      tls
        ? `<https_port>${https}</https_port><openSSL><server><certificateFile>${tls.certFile}</certificateFile>` +
          `<privateKeyFile>${tls.keyFile}</privateKeyFile><verificationMode>none</verificationMode></server></openSSL>`
        : '',
    ];
    writeFileSync(join(this.dir, 'config.xml'), `<yandex>\n${config.join('\n')}\n</yandex>\n`);
    const all = { default: { password: '' }, ...users };
    const entries = Object.entries(all).map(
      ([name, { password, profile = 'default' }]: [string, { password: string; profile?: string }]) =>
        `<${name}><password>${password}</password><networks><ip>127.0.0.1</ip></networks>` +
        `<profile>${profile}</profile><quota>default</quota></${name}>`,
    );
    const profiles = '<default></default><readonly><readonly>2</readonly></readonly>';
    writeFileSync(
      join(this.dir, 'users.xml'),
      `<yandex><profiles>${profiles}</profiles><users>${entries.join('')}</users><quotas><default></default></quotas></yandex>\n`,
    );
  }
}
