import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { residentBytes } from '../../bench/process-usage.ts';
import { watchHealth } from './health-watch.ts';
import { Program, type ProgramOptions, tempDir } from './program.ts';

const MIB = 1024 ** 2;
const HOST = join(import.meta.dirname, 'embedding-host.mjs');

export interface AttackedNodeOptions extends Partial<ProgramOptions> {
  flags?: readonly string[];
  /** In the process of a program that embeds it, instead of its own. */
  isEmbedded?: boolean;
  /** Of the log directory. */
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
