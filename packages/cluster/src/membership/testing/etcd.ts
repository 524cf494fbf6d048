import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onEnd, tempDir } from '@porthole/records/testing';
import { EtcdGateway } from './etcd-gateway.ts';

/** For slow machines with a busy disk; usually etcd starts in a fraction of it. */
const START_TIMEOUT_MS = 15_000;

/** Ports are chosen before etcd binds them; another process may be faster. */
const START_ATTEMPTS = 5;

export interface TestEtcdOptions {
  /** TLS for clients; the JSON gateway is then unavailable. */
  tls?: { certFile: string; keyFile: string; clientCaFile?: string };
  /** Additional etcd flags. */
  flags?: readonly string[];
}

/** Starts a real etcd on free ports; stopped and removed when the test ends. */
export async function startTestEtcd(options: TestEtcdOptions = {}): Promise<TestEtcd> {
  const dir = tempDir();
  const etcd = new TestEtcd(dir, options);
  const kill = (): void => etcd.killNow();
  process.once('exit', kill); // also when the tests are aborted
  onEnd(async () => {
    process.removeListener('exit', kill);
    await etcd.stop();
  });
  await etcd.start();
  return etcd;
}

export class TestEtcd extends EtcdGateway {
  readonly #dir: string;
  readonly #options: TestEtcdOptions;
  #ports: { client: number; peer: number; health: number } | undefined;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(dir: string, options: TestEtcdOptions) {
    super();
    this.#dir = dir;
    this.#options = options;
  }

  get port(): number {
    return this.#ports?.client ?? 0;
  }

  /** Client URL; stays the same for the whole test. */
  override get url(): string {
    return `${this.#options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`;
  }

  /** Also restarts after `stop`, on the same port with the same data. Resolves when it responds. */
  async start(): Promise<void> {
    const taken = this.#ports;
    for (let attempt = 1; ; attempt++) {
      const ports = taken ?? { client: await freePort(), peer: await freePort(), health: await freePort() };
      this.#ports = ports;
      if (await this.#isReady(this.#spawn(ports), ports.health)) return;
      await this.stop();
      if (attempt === START_ATTEMPTS) throw new Error(`etcd failed to start:\n${this.#output}`);
    }
  }

  /** Kills it like a crash. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Restarts on the same port as a new, empty cluster. */
  async wipe(): Promise<void> {
    await this.stop();
    rmSync(join(this.#dir, 'data'), { recursive: true, force: true });
    await this.start();
  }

  /** Suspends it: connections stay open without responses. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  killNow(): void {
    this.#child?.kill('SIGKILL');
  }

  #spawn(ports: { peer: number; health: number }): ChildProcess {
    const [client, peer] = [this.url, `http://127.0.0.1:${ports.peer}`];
    const { tls, flags = [] } = this.#options;
    const args = [
      ['--data-dir', join(this.#dir, 'data')],
      ['--listen-client-urls', client, '--advertise-client-urls', client],
      ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
      ['--listen-metrics-urls', `http://127.0.0.1:${ports.health}`],
      // Elects itself quickly and allows leases of one second: their minimum depends on this.
      ['--heartbeat-interval', '20', '--election-timeout', '100'],
      tls === undefined ? [] : ['--cert-file', tls.certFile, '--key-file', tls.keyFile],
      tls?.clientCaFile === undefined ? [] : ['--client-cert-auth', '--trusted-ca-file', tls.clientCaFile],
      flags,
    ];
    const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch };
    // programs: etcd
    const child = spawn('etcd', args.flat(), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => {
        this.#output = `${this.#output}${text}`.slice(-20_000);
      });
    }
    child.on('error', (error) => {
      this.#output += `${error}\n`;
    });
    this.#child = child;
    return child;
  }

  /** Uses a separate port that is plain HTTP even if clients need TLS. */
  async #isReady(child: ChildProcess, healthPort: number): Promise<boolean> {
    const giveUpAt = Date.now() + START_TIMEOUT_MS;
    while (Date.now() < giveUpAt && child.pid !== undefined && child.exitCode === null) {
      const response = await fetch(`http://127.0.0.1:${healthPort}/health`).catch(() => undefined);
      await response?.body?.cancel();
      if (response?.ok) return true;
      await delay(5); // pause: between two attempts
    }
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
