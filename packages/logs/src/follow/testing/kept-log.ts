import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';

export const KEPT_KINDS = ['rename', 'copy', 'gzip'] as const;
export type KeptKind = (typeof KEPT_KINDS)[number];

export interface KeptLogOptions {
  kind: KeptKind;
  /** Rotated files that are kept: the oldest is deleted by the next rotation. */
  keep: number;
  /** A number from 0 to below 1. */
  random(): number;
  /** Lines have no timestamps at all. */
  isUntimed: boolean;
}

/** Times of files are those of the kernel's last tick. */
const TICK_MS = 10;

const FIRST_MS = Date.UTC(2026, 10, 15, 10);

/** A log with numbered lines of which a rotation deletes the oldest, as logrotate does: in steps. */
export class KeptLog {
  readonly path: string;
  /** The last number written. */
  last = 0;
  readonly #dir: string;
  readonly #options: KeptLogOptions;
  #rotating: Generator<void, void, undefined> | undefined;
  #fd: number;
  #timeMs = FIRST_MS;
  #rotatedMs = 0;

  constructor(dir: string, options: KeptLogOptions) {
    this.#dir = dir;
    this.#options = options;
    this.path = join(dir, 'app.log');
    this.#fd = openSync(this.path, 'a');
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Lines with equal or growing timestamps; some continue the record before them. */
  write(count: number): void {
    const { random, isUntimed } = this.#options;
    for (let made = 0; made < count; made++) {
      const number = ++this.last;
      if (random() < 0.4) this.#timeMs += Math.ceil(random() * 2000);
      const time = new Date(this.#timeMs).toISOString().replace('T', ' ').replace('Z', '');
      const isContinued = random() < 0.25;
      const head = isUntimed ? `plain ` : isContinued ? '\tat ' : `${time}\tINFO\ta/b.go:1\t[x]: `;
      writeSync(this.#fd, `${head}#${number}# ${'of many '.repeat(random() ** 4 * 20)}\n`);
    }
  }

  /** One step of a rotation; begins one if none is under way, and the last one can be told from it by its times. */
  step(): void {
    if (!this.#rotating && performance.now() - this.#rotatedMs < TICK_MS) return;
    this.#rotating ??= this.#rotate();
    if (!this.#rotating.next().done) return;
    this.#rotating = undefined;
    this.#rotatedMs = performance.now();
  }

  /** Ends the rotation under way. */
  settle(): void {
    while (this.#rotating) this.step();
  }

  async rotate(): Promise<void> {
    this.settle();
    await delay(TICK_MS); // pause: the time of a file moves on
    this.step();
    this.settle();
  }

  /** Numbers of the lines that can be read, in whatever file. */
  onDisk(): Set<number> {
    const numbers = new Set<number>();
    for (const file of readdirSync(this.#dir)) {
      const bytes = readFileSync(join(this.#dir, file));
      const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
      for (const [, digits] of text.matchAll(/#(\d+)#/g)) numbers.add(Number(digits));
    }
    return numbers;
  }

  *#rotate(): Generator<void, void, undefined> {
    const { kind, keep, random } = this.#options;
    const ending = kind === 'gzip' ? '.gz' : '';
    for (let number = keep; number > 0; number--) {
      if (!existsSync(`${this.path}.${number}${ending}`)) continue;
      renameSync(`${this.path}.${number}${ending}`, `${this.path}.${number + 1}${ending}`);
      yield;
    }
    if (kind === 'copy') {
      copyFileSync(this.path, `${this.path}.1`);
      yield;
      truncateSync(this.path);
    } else {
      renameSync(this.path, `${this.path}.1`);
      yield;
      closeSync(openSync(this.path, 'a'));
      yield;
      // The writer notices late.
      if (random() < 0.5) this.write(1);
      closeSync(this.#fd);
      this.#fd = openSync(this.path, 'a');
    }
    yield;
    if (kind === 'gzip') {
      writeFileSync(`${this.path}.1.gz`, gzipSync(readFileSync(`${this.path}.1`)));
      yield;
      rmSync(`${this.path}.1`);
      yield;
    }
    rmSync(`${this.path}.${keep + 1}${ending}`, { force: true });
  }
}
