import { appendFileSync, copyFileSync, renameSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** How often it writes what is due. */
const EVERY_MS = 10;

/** A line of the contract's format. */
export function logLine(text: string, { timeMs = Date.now(), level = 'INFO' } = {}): string {
  const time = new Date(timeMs).toISOString().slice(0, 23).replace('T', ' ');
  return `${time}\t${level}\tmain.go:1\t[Test]: ${text}\n`;
}

/** Writes numbered lines to a log, and rotates it. */
export class LogWriter {
  readonly #path: string;
  #next = 1;
  #rotations = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(dir: string, file: string) {
    this.#path = join(dir, file);
    onTestFinished(() => this.stop());
  }

  /** Lines written so far; the first has the number 1. */
  get written(): number {
    return this.#next - 1;
  }

  /** All of them, as they are to be read. */
  get texts(): string[] {
    return Array.from({ length: this.written }, (_, index) => `line ${index + 1}`);
  }

  write(lines: number): void {
    let text = '';
    for (const end = this.#next + lines; this.#next < end; this.#next++) text += logLine(`line ${this.#next}`);
    appendFileSync(this.#path, text);
  }

  /** Writes on in the background until stopped. */
  start(linesPerSecond: number): void {
    const [startedAt, first] = [performance.now(), this.#next];
    this.#timer = setInterval(() => {
      const due = first + Math.floor(((performance.now() - startedAt) * linesPerSecond) / 1000);
      if (due > this.#next) this.write(due - this.#next);
    }, EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** As logrotate does: the file gets another name, and a new one takes its place. */
  rotate(): void {
    for (let number = this.#rotations; number > 0; number--)
      renameSync(`${this.#path}.${number}`, `${this.#path}.${number + 1}`);
    renameSync(this.#path, `${this.#path}.1`);
    this.#rotations++;
    this.write(1);
  }

  /** As logrotate does with `copytruncate`: the file is copied and emptied. */
  copyAndTruncate(): void {
    for (let number = this.#rotations; number > 0; number--)
      renameSync(`${this.#path}.${number}`, `${this.#path}.${number + 1}`);
    copyFileSync(this.#path, `${this.#path}.1`);
    truncateSync(this.#path, 0);
    this.#rotations++;
    this.write(1);
  }
}
