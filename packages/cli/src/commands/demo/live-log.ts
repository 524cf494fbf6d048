import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Small, so that rotation happens after minutes, not days. */
const MAX_BYTES = 512 * 1024;

/** Rotated files to retain. */
const KEEP_FILES = 6;

/** Writes and rotates a log like LinDB does (renamed with a UTC timestamp), but compresses rotated files. */
export class LiveLog {
  readonly #dir: string;
  readonly #stem: string;
  #bytes: number;

  constructor(dir: string, stem: string) {
    this.#dir = dir;
    this.#stem = stem;
    this.#bytes = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  get path(): string {
    return join(this.#dir, `${this.#stem}.log`);
  }

  append(text: string, nowMs: number): void {
    if (text === '') return;
    appendFileSync(this.path, text);
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes >= MAX_BYTES) this.rotate(nowMs, { gzip: true });
  }

  /** Renames the file and starts a new one. */
  rotate(nowMs: number, { gzip }: { gzip: boolean }): void {
    const stamp = new Date(nowMs).toISOString().slice(0, 23).replaceAll(':', '-');
    const rotated = join(this.#dir, `${this.#stem}-${stamp}.log`);
    renameSync(this.path, rotated);
    this.#bytes = 0;
    if (gzip) compress(rotated);
    setTime(gzip ? `${rotated}.gz` : rotated, nowMs);
    this.#removeOldest();
  }

  #removeOldest(): void {
    const rotated = readdirSync(this.#dir).filter((name) => name.startsWith(`${this.#stem}-`));
    for (const name of rotated.sort().slice(0, -KEEP_FILES)) rmSync(join(this.#dir, name));
  }
}

/** Writes a hidden file first, so that readers never see an incomplete one. */
function compress(path: string): void {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  writeFileSync(temporary, gzipSync(readFileSync(path)));
  renameSync(temporary, `${path}.gz`);
  rmSync(path);
}

function setTime(path: string, timeMs: number): void {
  utimesSync(path, timeMs / 1000, timeMs / 1000);
}
