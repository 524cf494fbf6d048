import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished } from 'vitest';
import { BINARY } from './program.ts';

const HOST = join(import.meta.dirname, 'terminal-host.mjs');

/** To the start of the line, and clear it. */
const ERASE = '\r\u001b[K';

export interface TerminalOptions {
  cwd: string;
  columns?: number;
  env?: Record<string, string>;
  /** What is run, instead of the program of this checkout. */
  program?: string;
}

/** The real program under a pseudo-terminal, which util-linux's `script` makes. */
export class TerminalProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #output = '';

  constructor(args: readonly string[], { cwd, columns = 80, env = {}, program = BINARY }: TerminalOptions) {
    const words = [process.execPath, program, ...args].map(quoted).join(' ');
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
    return erase(this.#output);
  }

  /** The same for each of several parts that end with a mark. */
  outputs(mark: string): string[] {
    return this.#output.split(mark).slice(0, -1).map(erase);
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

/**
 * Runs command lines to their ends one after the other in one process, on one terminal: for tests of what commands show
 * there, not of their processes. Returns what stays of each.
 */
export async function runAllOnTerminal(lines: readonly (readonly string[])[], options: TerminalOptions) {
  const file = join(tempDir(), 'lines.json');
  writeFileSync(file, JSON.stringify(lines));
  const mark = `<<< ${performance.now()} >>>`;
  const program = new TerminalProgram([file, mark], { ...options, program: HOST });
  await program.end();
  const outputs = program.outputs(mark);
  expect(outputs, program.output).toHaveLength(lines.length);
  return outputs;
}

function erase(written: string): string {
  const [first = '', ...drawn] = written.replaceAll('\r\n', '\n').split(ERASE);
  // Each erasure takes away what was drawn in the line since the one before it.
  return first + drawn.map((text, index) => (index < drawn.length - 1 ? text.replace(/^[^\n]*$/, '') : text)).join('');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
