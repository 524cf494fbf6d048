// owner: the process and its input have listeners from birth; a failure ends the program with a message
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { NO_WORK, owned } from '@porthole/logs/shared';
import { EXIT } from '../exit.ts';

/** Output that stays incomplete this long is shown with the pager, which shows the rest as it comes. */
const PATIENCE_MS = 500;

/** As git runs them: quit if it fits one screen, show colours, leave the text on the screen. */
const PAGER_ENV = { LESS: 'FRX', LV: '-c' };

/** Exit codes of a shell that could not run the command. */
const NOT_RUN = [126, 127];

/** The pager of this environment; `undefined` for none. */
export function findPager({ PORTHOLE_PAGER, PAGER, TERM, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  if (TERM === 'dumb') return undefined;
  const named = PORTHOLE_PAGER ?? PAGER;
  if (named !== undefined) return named === '' || named === 'cat' ? undefined : named;
  return PATH.split(delimiter).some((dir) => existsSync(join(dir, 'less'))) ? 'less' : undefined;
}

export interface PagerOptions {
  /** A command line for sh. */
  command: string;
  rows: number;
  columns: number;
  /** Writes to the terminal what fits on it. */
  writeDirectly(chunk: string | Uint8Array): void;
  /** Makes a chunk safe for a terminal. */
  filter(chunk: string | Uint8Array): string;
}

/** Holds output back until it is complete or more than a screen; then a pager shows it. */
export class Pager {
  readonly #options: PagerOptions;
  #held: (string | Uint8Array)[] = [];
  #heldRows = 0;
  #timer: NodeJS.Timeout | undefined;
  #child: ChildProcess | undefined;
  #exited = NO_WORK;
  #isClosing = false;

  constructor(options: PagerOptions) {
    this.#options = options;
  }

  /** Whether messages on stderr have to wait: they would come before the output or disturb the pager. */
  get isActive(): boolean {
    return this.#child !== undefined || this.#held.length > 0;
  }

  async write(chunk: string | Uint8Array): Promise<void> {
    if (this.#child) return this.#send(chunk);
    const { rows, columns } = this.#options;
    this.#held.push(chunk);
    this.#heldRows += countRows(chunk, columns);
    if (this.#heldRows >= rows) return this.#start();
    this.#timer ??= setTimeout(() => void this.#start(), PATIENCE_MS);
  }

  /** Writes what is left; where a pager shows it, resolves when the user has quit it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isClosing = true;
    for (const chunk of this.#takeHeld()) this.#options.writeDirectly(chunk);
    if (!this.#child) return;
    // The pager shares our terminal, and handles Ctrl-C itself.
    process.removeAllListeners('SIGINT').on('SIGINT', () => {});
    this.#child.stdin?.end();
    await this.#exited;
    this.#child = undefined;
  }

  async #start(): Promise<void> {
    clearTimeout(this.#timer);
    const { command } = this.#options;
    const child = spawn('sh', ['-c', command], {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...PAGER_ENV, ...process.env },
    });
    this.#child = child;
    const stop = () => child.kill();
    process.once('exit', stop);
    // The exit code reports the same.
    child.stdin?.on('error', () => {});
    const giveUp = () => {
      console.error(`porthole: cannot run the pager ${JSON.stringify(command)}; --no-pager does without`);
      process.exit(EXIT.error);
    };
    // Not even sh could be started.
    child.on('error', giveUp);
    const exited = new Promise<void>((resolve) => {
      child.once('exit', (code) => {
        process.off('exit', stop);
        if (code !== null && NOT_RUN.includes(code)) giveUp();
        // Who quits has seen enough, like a reader of a pipe that stops early.
        if (!this.#isClosing) process.exit(EXIT.ok);
        resolve();
      });
    });
    this.#exited = owned(exited, giveUp);
    for (const chunk of this.#takeHeld()) await this.#send(chunk);
  }

  /** Waits while the user has not read on. */
  async #send(chunk: string | Uint8Array): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin || stdin.destroyed || stdin.write(this.#options.filter(chunk))) return;
    await new Promise<void>((resolve) => {
      stdin.once('drain', resolve);
      stdin.once('close', resolve);
    });
  }

  #takeHeld(): (string | Uint8Array)[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}

/** Rows on a terminal, long lines wrapped; colours are counted as text, which starts the pager a little early. */
function countRows(chunk: string | Uint8Array, columns: number): number {
  const lines = (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()).split('\n');
  return lines.slice(0, -1).reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / columns)), 0);
}
