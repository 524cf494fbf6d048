import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { BINARY } from './program.ts';

/** To the start of the line, and clear it. */
const ERASE = '\r\u001b[K';

export interface TerminalOptions {
  cwd: string;
  columns?: number;
  env?: Record<string, string>;
}

/** The real program under a pseudo-terminal, which util-linux's `script` makes. */
export class TerminalProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #output = '';

  constructor(args: readonly string[], { cwd, columns = 80, env = {} }: TerminalOptions) {
    const words = [process.execPath, BINARY, ...args].map(quoted).join(' ');
    const { PATH } = process.env;
    this.#child = spawn('script', ['-qefc', `stty cols ${columns} rows 40 -echo; exec ${words}`, '/dev/null'], {
      cwd,
      // Without a pager, which would wait for keys.
      env: { PATH, TERM: 'xterm', TZ: 'UTC', SHELL: '/bin/sh', PAGER: 'cat', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout?.on('data', (part: Buffer) => {
      this.#output += part.toString();
    });
    this.#ended = once(this.#child, 'close');
    onTestFinished(() => {
      this.#child.kill('SIGKILL');
    });
  }

  /** What stays on the terminal of stdout and stderr, with plain line ends: progress that was taken away is not in it. */
  get output(): string {
    const [first = '', ...drawn] = this.#output.replaceAll('\r\n', '\n').split(ERASE);
    // Each erasure takes away what was drawn in the line since the one before it.
    return (
      first + drawn.map((text, index) => (index < drawn.length - 1 ? text.replace(/^[^\n]*$/, '') : text)).join('')
    );
  }

  /** As if typed. */
  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  async end(): Promise<{ code: number | null; output: string }> {
    await this.#ended;
    return { code: this.#child.exitCode, output: this.output };
  }
}

/** Runs a command line to its end. */
export function runOnTerminal(args: readonly string[], options: TerminalOptions) {
  return new TerminalProgram(args, options).end();
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
