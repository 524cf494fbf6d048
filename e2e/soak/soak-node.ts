import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@porthole/client';
import type { Cleanup } from '../../bench/cleanup.ts';
import { residentBytes } from '../../bench/process-usage.ts';
import { type Program, startProgram } from '../../bench/program.ts';
import { scaled } from '../../packages/logs/src/testing/timeout-scale.ts';

const BINARY = join(import.meta.dirname, '../../packages/cli/bin/porthole.cjs');
const LIVE = 'service.log';
const READY_MS = scaled(30_000);

/** More than socket buffers hold, for readers that stop reading. */
const BIG_BYTES = 32 * 1024 ** 2;

export interface SoakNodeOptions {
  id: string;
  port: number;
  dir: string;
  token: string;
  flags: readonly string[];
  cleanup: Cleanup;
}

/** A node of the soak, and the service beside it that writes numbered lines and rotates its log. */
export class SoakNode {
  readonly id: string;
  readonly port: number;
  readonly url: string;
  readonly #options: SoakNodeOptions;
  #program: Program | undefined;
  #written = 0;
  #rotations = 0;
  /** Whether it was killed on purpose just now: nobody can expect answers. */
  isDown = false;
  wasKilled = false;

  constructor(options: SoakNodeOptions) {
    this.#options = options;
    this.id = options.id;
    this.port = options.port;
    this.url = `http://127.0.0.1:${options.port}`;
    mkdirSync(this.logDir, { recursive: true });
    writeFileSync(join(this.logDir, LIVE), '');
    writeFileSync(join(this.logDir, 'big.log'), Buffer.alloc(BIG_BYTES, 'a text without a time\n'));
  }

  get logDir(): string {
    return join(this.#options.dir, 'logs');
  }

  get written(): number {
    return this.#written;
  }

  get rotations(): number {
    return this.#rotations;
  }

  get client(): Client {
    return createClient({ url: this.url, token: this.#options.token });
  }

  get pid(): number {
    return this.#program?.child.pid ?? 0;
  }

  get residentBytes(): number {
    return residentBytes(this.pid);
  }

  get openFiles(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  async start(): Promise<void> {
    const { id, port, dir, flags, cleanup } = this.#options;
    const ownFlags = ['--log-dir', 'logs', '--http-port', String(port), '--grpc-port', '0', '--cluster-node-id', id];
    const command = [process.execPath, BINARY, 'serve', ...ownFlags, '--node-time-zone', 'UTC', ...flags];
    const { PATH } = process.env;
    const program = startProgram(command, cleanup, { cwd: dir, env: { PATH } });
    this.#program = program;
    const giveUpAt = Date.now() + READY_MS;
    while (!program.output.includes('porthole is ready')) {
      if (Date.now() > giveUpAt) throw new Error(`${id} is not ready: ${program.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20)); // pause: between two looks
    }
    this.isDown = false;
  }

  /** As a machine does that loses its power. */
  async kill(): Promise<void> {
    this.isDown = true;
    this.wasKilled = true;
    this.#program?.child.kill('SIGKILL');
    await this.#program?.exited.catch(() => {});
  }

  write(lines: number): void {
    const time = new Date().toISOString().slice(0, 23).replace('T', ' ');
    let text = '';
    for (let count = 0; count < lines; count++)
      text += `${time}\tINFO\tsoak.go:1\t[Soak]: ${this.id} line ${++this.#written}.\n`;
    appendFileSync(join(this.logDir, LIVE), text);
  }

  /** The live file becomes `.1`, that one `.2`, and so on; all are kept. */
  rotate(): void {
    const live = join(this.logDir, LIVE);
    let last = 0;
    while (existsSync(`${live}.${last + 1}`)) last++;
    for (let number = last; number > 0; number--) renameSync(`${live}.${number}`, `${live}.${number + 1}`);
    renameSync(live, `${live}.1`);
    writeFileSync(live, '');
    this.#rotations++;
  }
}

/** The numbers of a node's lines in records, in the order received. */
export function numberIn(message: string, id: string): number | undefined {
  const number = new RegExp(`^${id} line (\\d+)\\.$`).exec(message)?.[1];
  return number === undefined ? undefined : Number(number);
}
