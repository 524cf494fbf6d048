import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from '@porthole/records/testing';
import { BINARY } from './program.ts';

const execute = promisify(execFile);

/** A fenced block: its language, the file that it is if it names one, and its text. */
const BLOCK = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;

export interface TaskPageOptions {
  /** What stands for something else here: paths, ports and host names of the page, the longest first. */
  replace?: (dir: string) => readonly (readonly [from: string, to: string])[];
  env?: Record<string, string>;
}

/** Does what a page of docs/tasks says, from its first block to its last: writes its files, runs its commands. */
export class TaskPage {
  readonly dir = tempDir();
  readonly env: Record<string, string>;
  readonly #replace: readonly (readonly [from: string, to: string])[];
  readonly #text: string;

  constructor(name: string, { replace = () => [], env = {} }: TaskPageOptions = {}) {
    this.#text = readFileSync(join(import.meta.dirname, '../../docs/tasks', name), 'utf8');
    this.#replace = replace(this.dir);
    const bin = join(this.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'porthole'), `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`);
    chmodSync(join(bin, 'porthole'), 0o755);
    // What is installed and made before the page begins.
    for (const [, , file] of this.#text.matchAll(BLOCK))
      if (file !== undefined) mkdirSync(dirname(resolve(this.dir, this.here(file))), { recursive: true });
    this.env = { PATH: `${bin}:${process.env.PATH}:/usr/sbin`, HOME: this.dir, TZ: 'UTC', ...env };
  }

  /**
   * Runs the page; `instead` has what is done in place of a line of it, such as to start a server that goes on running.
   * Returns what each line has printed. Fails if one fails, or if a line that is replaced is not there.
   */
  async run(instead: Readonly<Record<string, () => unknown>> = {}): Promise<Map<string, string>> {
    const printed = new Map<string, string>();
    const replaced = new Set<string>();
    for (const [, language = '', file, text = ''] of this.#text.matchAll(BLOCK)) {
      if (file !== undefined) this.#write(file, text);
      else if (language === 'sh')
        for (const line of commandLines(text)) {
          const other = instead[line];
          if (other) {
            replaced.add(line);
            await other();
          } else printed.set(line, await this.#execute(line));
        }
    }
    const absent = Object.keys(instead).filter((line) => !replaced.has(line));
    if (absent.length > 0) throw new Error(`the page has no line ${JSON.stringify(absent[0])}`);
    return printed;
  }

  /** A text of the page as it is here. */
  here(text: string): string {
    return this.#replace.reduce((sofar, [from, to]) => sofar.replaceAll(from, to), text);
  }

  #write(name: string, text: string): void {
    writeFileSync(resolve(this.dir, this.here(name)), this.here(text));
  }

  async #execute(line: string): Promise<string> {
    const script = ['-e', '-o', 'pipefail', '-c', this.here(line)];
    try {
      const { stdout, stderr } = await execute('bash', script, { cwd: this.dir, env: this.env });
      // It is shown once, and the page goes on with it.
      if (line.startsWith('porthole token')) this.env.TOKEN = stderr.trim().split(' ').at(-1) ?? '';
      return stdout + stderr;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`"${line}" failed:\n${stdout}${stderr}`, { cause: error });
    }
  }
}

/** Lines without their comments; one that ends with a backslash goes on in the next, and so does what has no end yet. */
function commandLines(block: string): string[] {
  const lines = block
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll(/^(for .*\n)((?: .*\n)+)(done)$/gm, (_loop, head: string, body: string, end: string) =>
      [head.trim(), ...body.trim().split(/\n\s*/), end].join('; ').replace('do; ', 'do '),
    )
    .split('\n');
  return lines
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
