import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { scaled } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { onTestFinished } from 'vitest';
import { residentBytes } from '../../bench/process-usage.ts';
import { Program, type ProgramOptions } from './program.ts';

const MIB = 1024 ** 2;
const HOST = join(import.meta.dirname, 'embedding-host.mjs');

interface AttackedNodeOptions extends Partial<ProgramOptions> {
  flags?: readonly string[];
  /** In the process of a program that embeds it, instead of its own. */
  isEmbedded?: boolean;
  /** The files of the log directory. */
  files?: Readonly<Record<string, string | Uint8Array>>;
}

/** A real node with logs to show, asked all the time whether it lives. */
export class AttackedNode {
  readonly cwd: string;
  readonly program: Program;
  readonly url: string;
  readonly port: number;
  readonly #health: ReturnType<typeof watchHealth>;

  private constructor(program: Program, { cwd, url }: { cwd: string; url: string }) {
    this.program = program;
    this.cwd = cwd;
    this.url = url;
    this.port = Number(new URL(url).port);
    this.#health = watchHealth(url);
  }

  static async start(options: AttackedNodeOptions = {}): Promise<AttackedNode> {
    const { flags = [], files = {}, cwd = tempDir(), env, command, isEmbedded = false } = options;
    mkdirSync(join(cwd, 'logs'), { recursive: true });
    for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, 'logs', name), content);
    const args = ['serve', '--http-port', '0', '--grpc-port', '0', '--log-dir', 'logs', ...flags];
    const program = isEmbedded
      ? new Program([HOST], { cwd, env: { ...env, PORTHOLE_SERVICE_LOG_DIR: 'logs' }, command: process.execPath })
      : new Program(args, { cwd, ...(env && { env }), ...(command !== undefined && { command }) });
    return new AttackedNode(program, { cwd, url: await program.ready() });
  }

  get logDir(): string {
    return join(this.cwd, 'logs');
  }

  get residentMib(): number {
    return residentBytes(this.program.pid) / MIB;
  }

  /** Descriptors of all kinds that the process holds. */
  get openFiles(): number {
    return readdirSync(`/proc/${this.program.pid}/fd`).length;
  }

  /** Every line of the own log. */
  get ownLines(): string[] {
    return readFileSync(join(this.cwd, 'data/log/porthole.log'), 'utf8').split('\n').slice(0, -1);
  }

  async request(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`${this.url}${path}`);
    return { status: response.status, text: await response.text() };
  }

  async metric(sample: string): Promise<number> {
    const { text } = await this.request('metrics');
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `));
    return line === undefined ? 0 : Number(line.slice(sample.length + 1));
  }

  async grpcPort(): Promise<number> {
    const { node } = JSON.parse((await this.request('api/v1/node')).text) as { node: { grpcPort: number } };
    return node.grpcPort;
  }

  /** Fails unless it has answered in time whenever it was asked, up to now, and has not ended. */
  async expectHealthy(): Promise<void> {
    const { requests: asked, troubles } = await this.#health.stop();
    if (troubles.length > 0)
      throw new Error(`of ${asked} health checks: ${troubles.join(', ')}\n${this.program.stderr}`);
    if (asked === 0) throw new Error('it was never asked');
  }
}

/** The promise is a second. Tests find a node that hangs, not a machine that is busy. */
const GIVE_UP_MS = scaled(10_000);

/** Asked this often; with the limits on requests that tests set, still within them. */
const EVERY_MS = 40;

/** Not the address that attacks come from: what is limited by address is not this. */
const PROBE_ADDRESS = '127.0.0.2';

interface HealthReport {
  requests: number;
  /** Requests that failed or got no response, as they showed. */
  troubles: string[];
}

/** Asks a node over and over whether it lives, on a connection of its own, until stopped. */
function watchHealth(url: string): { stop(): Promise<HealthReport> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const seen: HealthReport = { requests: 0, troubles: [] };
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const trouble = await probe(url, agent);
      seen.requests++;
      if (trouble !== undefined) seen.troubles.push(trouble);
      await delay(EVERY_MS); // pause: the interval of probes
    }
  })();
  const stop = async () => {
    stopped = true;
    await watching;
    agent.destroy();
    return seen;
  };
  onTestFinished(() => stop().then(() => {}));
  return { stop };
}

function probe(url: string, agent: Agent): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probeRequest = request(`${url}health/live`, { agent, localAddress: PROBE_ADDRESS }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
    });
    probeRequest.setTimeout(GIVE_UP_MS, () => probeRequest.destroy(new Error(`no answer within ${GIVE_UP_MS} ms`)));
    probeRequest.once('error', (error) => resolve(error.message));
    probeRequest.end();
  });
}
