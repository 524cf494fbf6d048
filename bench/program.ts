import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Cleanup, Interrupted } from './cleanup.ts';

/** A program that does not end on its signal within this time is killed. */
const STOP_MS = 3_000;

export interface Program {
  readonly child: ChildProcess;
  /** Everything written so far, both streams in the order of arrival. */
  readonly output: string;
  /** Resolves to the exit code, null after a signal; rejects when it could not be started. */
  readonly exited: Promise<number | null>;
  stop(): Promise<void>;
}

/** Starts a program that is stopped by the next cleanup at the latest. */
export function startProgram(command: readonly string[], cleanup: Cleanup, options: SpawnOptions = {}): Program {
  if (cleanup.ended) throw new Interrupted('the run has been ended');
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'close').then(([code]) => code as number | null);
  exited.catch(() => {}); // a program that cannot be started is reported to whoever waits for it
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited.catch(() => {});
    clearTimeout(timer);
  };
  const forget = cleanup.add(stop);
  exited.then(forget, forget);
  return {
    child,
    exited,
    stop,
    get output() {
      return output;
    },
  };
}

/** Runs a program to its end and gives what it wrote; rejects when it failed. */
export async function runProgram(
  command: readonly string[],
  cleanup: Cleanup,
  options: SpawnOptions = {},
): Promise<string> {
  const program = startProgram(command, cleanup, options);
  const code = await program.exited;
  if (cleanup.ended) throw new Interrupted('the run has been ended');
  if (code !== 0) throw new Error(`${showCommand(command)} ended with ${code ?? 'a signal'}\n${program.output}`);
  return program.output;
}

/** The command as one would type it. */
export function showCommand(command: readonly string[]): string {
  return command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/** A port that nobody listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
