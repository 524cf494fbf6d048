import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onEnd } from '@porthole/records/testing';

export const BINARY = join(import.meta.dirname, '../../packages/cli/bin/porthole.cjs');

/**
 * Code that has run often is compiled again, by an optimizing compiler: of one that runs for seconds that takes a tenth of
 * all time, most of it for the parser of responses from members. What runs longer still gets there.
 */
const FLAGS = ['--wasm-tiering-budget=2000000000', '--interrupt-budget=540000'];

export interface Outcome {
  /** `null` when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface ProgramOptions {
  cwd: string;
  env?: Record<string, string>;
  /** What runs it, instead of Node.js with the program of this checkout. */
  command?: string;
  /** Who runs it, where the tests run as root. */
  uid?: number;
  gid?: number;
}

/** The real program, running. Killed when the test ends. */
export class Program {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #isGroup: boolean;
  #readsParts = false;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], { cwd, env = {}, command, ...user }: ProgramOptions) {
    const { PATH } = process.env;
    const [file, words] = command === undefined ? [process.execPath, [...FLAGS, BINARY, ...args]] : [command, args];
    this.#child = spawn(file, words, {
      cwd,
      env: { PATH, TZ: 'UTC', ...env },
      ...user,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: what stands between us and the program does not hand on signals.
      detached: command !== undefined,
    });
    this.#isGroup = command !== undefined;
    this.#child.stdout?.on('data', (part: Buffer) => {
      this.stdout += part.toString();
      if (this.#readsParts) this.#child.stdout?.pause();
    });
    this.#child.stderr?.on('data', (part: Buffer) => {
      this.stderr += part.toString();
    });
    this.#ended = once(this.#child, 'close').then(() => {});
    onEnd(() => this.kill('SIGKILL'));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Reads one more part of its output and then no more, so that writing to it waits once the pipe is full. */
  readOnePart(): void {
    this.#readsParts = true;
    this.#child.stdout?.resume();
  }

  /** Reads its output as it comes. */
  readAll(): void {
    this.#readsParts = false;
    this.#child.stdout?.resume();
  }

  /** Closes the pipe of its output: writing to it fails from now on. */
  stopReading(): void {
    this.#child.stdout?.destroy();
  }

  kill(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (!this.#isGroup) this.#child.kill(signal);
    else if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, signal);
  }

  async end(): Promise<Outcome> {
    await this.#ended;
    return { code: this.#child.exitCode, signal: this.#child.signalCode, stdout: this.stdout, stderr: this.stderr };
  }

  /** The address from the ready line. Fails with what the program said if it ends before. */
  async ready(): Promise<string> {
    for (;;) {
      const url = /^porthole is ready at (\S+)$/m.exec(this.stdout)?.[1];
      if (url !== undefined) return url;
      const next = this.#child.stdout ? once(this.#child.stdout, 'data') : Promise.resolve();
      const ended = this.#ended.then(() => 'ended');
      if ((await Promise.race([next, ended])) === 'ended')
        throw new Error(`it ended before it was ready: ${this.stderr}`);
    }
  }
}

/** The environment of a program whose clock is off by what is written to the file, like `+3600`; monotonic time is not. */
export function fakeClock(file: string): Record<string, string> {
  writeFileSync(file, '+0');
  // Debian puts it below the folder of the machine's kind.
  const folder = readdirSync('/usr/lib').find((name) => name.includes('linux-gnu')) ?? '';
  const library = join('/usr/lib', folder, 'faketime', 'libfaketimeMT.so.1');
  const how = { FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' };
  return { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, ...how };
}

/** Runs a command line to its end. */
export function runToEnd(args: readonly string[], cwd: string, env?: Record<string, string>): Promise<Outcome> {
  return new Program(args, { cwd, ...(env && { env }) }).end();
}

/**
 * Runs a command line to its end like `runToEnd`, in a process that has run others before: for tests of what a command
 * does, not of its process. Commands take turns.
 */
export async function runCommand(
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Outcome> {
  host ??= startHost();
  const { PATH = '' } = process.env;
  const outcome = Promise.all([host, turn]).then(([child]) =>
    nextMessage<Outcome>(child, { args, cwd, env: { PATH, TZ: 'UTC', ...env } }),
  );
  turn = outcome.catch(() => {});
  return outcome;
}

let host: Promise<ChildProcess> | undefined;
let turn: Promise<unknown> = Promise.resolve();

/** Ends with this thread, when its channel is closed. */
async function startHost(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'command-host.mjs'), {
    execArgv: [],
    // What is piped into the tests is not for the commands.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  await nextMessage(child);
  return child;
}

function nextMessage<T>(child: ChildProcess, sent?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`the host of commands has ended: ${JSON.stringify(sent)}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
    if (sent) child.send(sent);
  });
}

/** `serve` on free ports, everything it writes below the directory. */
export function serve(cwd: string, ...flags: string[]): Program {
  return new Program(['serve', '--http-port', '0', '--grpc-port', '0', ...flags], { cwd });
}
