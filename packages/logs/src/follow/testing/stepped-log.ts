import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export type RotationKind = 'rename' | 'gzip' | 'copy' | 'delete';

export interface SteppedLogOptions {
  kind: RotationKind;
  /** A number from 0 to below 1. */
  random(): number;
  rotations: number;
}

/**
 * A log with numbered lines that is written and rotated in small steps: a test decides between which calls of the tail
 * they happen. No file is ever dropped.
 */
export class SteppedLog {
  readonly path: string;
  /** The last number written. */
  last = 0;
  rotations = 0;
  /** The last numbers of the files that were deleted. */
  readonly ends: number[] = [];
  readonly #options: SteppedLogOptions;
  readonly #rotating: Generator<void, void, undefined>;
  readonly #lines: number;
  readonly #pauses: number;
  #fd: number;
  isDone = false;

  constructor(dir: string, options: SteppedLogOptions) {
    this.#options = options;
    this.path = join(dir, 'app.log');
    this.#fd = openSync(this.path, 'a');
    this.#lines = 1 + options.random() ** 2 * 60;
    this.#pauses = options.random() * 60;
    this.#write(20);
    this.#rotating = this.#rotate();
  }

  /** One step of the writer or of the program that rotates. */
  step(): void {
    if (this.isDone) return;
    const { random } = this.#options;
    const choice = random();
    if (choice < 0.4) this.#write(Math.ceil(random() ** 3 * this.#lines));
    else if (choice < 0.65) this.#reopen();
    else if (this.#rotating.next().done) this.#end();
  }

  close(): void {
    closeSync(this.#fd);
  }

  #end(): void {
    this.#reopen();
    this.#write(1);
    this.isDone = true;
  }

  #write(count: number): void {
    let text = '';
    for (let made = 0; made < count; made++) {
      const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
      text += `${time}\tINFO\tbroker/runtime.go:172\t[x]: #${++this.last}# of many\n`;
    }
    writeSync(this.#fd, text);
  }

  /** The writer notices that its file was renamed. */
  #reopen(): void {
    if (existsSync(this.path) && statSync(this.path).ino === fstatSync(this.#fd).ino) return;
    closeSync(this.#fd);
    this.#fd = openSync(this.path, 'a');
  }

  *#rotate(): Generator<void, void, undefined> {
    const { kind, rotations } = this.#options;
    for (; this.rotations < rotations; this.rotations++) {
      yield* this.#pause();
      if (kind === 'delete') {
        this.ends.push(this.last);
        closeSync(this.#fd);
        rmSync(this.path);
        this.#fd = openSync(this.path, 'a');
        continue;
      }
      yield* this.#shift(kind === 'gzip' ? '.gz' : '');
      if (kind === 'copy') {
        copyFileSync(this.path, `${this.path}.1`);
        yield;
        truncateSync(this.path, 0);
        continue;
      }
      renameSync(this.path, `${this.path}.1`);
      // The next rotation needs a file.
      while (!existsSync(this.path)) yield;
      if (kind === 'gzip') yield* this.#compress();
    }
  }

  /** Now and then rotations follow each other at once. */
  *#pause(): Generator<void, void, undefined> {
    const { random } = this.#options;
    for (let steps = random() < 0.3 ? 0 : random() * this.#pauses; steps > 0; steps--) yield;
  }

  *#shift(ending: string): Generator<void, void, undefined> {
    for (let number = this.rotations; number > 0; number--) {
      const name = `${this.path}.${number}${ending}`;
      if (!existsSync(name)) continue;
      renameSync(name, `${this.path}.${number + 1}${ending}`);
      yield;
    }
  }

  /** Like `gzip`: the plain file is deleted when the archive is complete. */
  *#compress(): Generator<void, void, undefined> {
    const plain = `${this.path}.1`;
    yield* this.#pause();
    const archive = gzipSync(readFileSync(plain));
    const middle = Math.floor(archive.length * this.#options.random());
    writeFileSync(`${plain}.gz`, '');
    yield;
    appendFileSync(`${plain}.gz`, archive.subarray(0, middle));
    yield;
    appendFileSync(`${plain}.gz`, archive.subarray(middle));
    yield;
    rmSync(plain);
  }
}
