import fs from 'node:fs';
import { promisify } from 'node:util';
import type { IndexDir, IndexKeys } from '../file/index-dir.ts';
import { closeFd, statFd } from '../fs-calls.ts';
import type { KeptIndex, KeptSegment, TextIndexStore, TextKey, TextSegment } from '../scan/index-jobs.ts';
import { KEPT, NO_WORK, Shared, unneeded } from '../shared.ts';
import {
  encodeFileHead,
  encodeRenewal,
  encodeSegment,
  readChecks,
  readSegmentTable,
  type SegmentTable,
} from './segment-file.ts';

/** Files that stay open for the next search. */
const MAX_IDLE_FILES = 32;

/** A file that contains more of what was replaced than this, and than of what is valid, is made anew. */
const MAX_DEAD_BYTES = 16 * 1024 ** 2;

const writeFd = promisify(fs.write);
const truncateFd: (fd: number, length: number) => Promise<void> = promisify(fs.ftruncate);

/** A file that is open for one or more searches, or for the next one. */
interface OpenedFile {
  name: string;
  fd: number;
  table: SegmentTable;
  /** Its table is being updated; false: it is damaged. */
  updating: Promise<boolean>; // kept: a chain; each link is awaited by who adds it
  users: number;
  /** It was removed or replaced: closed as soon as nobody uses it. */
  isGone: boolean;
}

export interface FileTextIndexesDeps {
  dir: IndexDir;
  keys: IndexKeys;
  /** A file was searched without an index. */
  onScanned?(name: string): void;
}

/** Keeps the segments of each text in a file. */
export class FileTextIndexes implements TextIndexStore {
  readonly #dir: IndexDir;
  readonly #keys: IndexKeys;
  readonly #onScanned: (name: string) => void;
  /** By name, the least recently used first. */
  readonly #opened = new Map<string, Shared<OpenedFile | undefined>>();
  #writing = NO_WORK;
  #builtBytes = 0;
  #refused = 0;
  #failed = 0;
  /** Texts that were used more recently are not removed to make room for others. */
  evictIdleMs = 0;

  constructor({ dir, keys, onScanned = () => {} }: FileTextIndexesDeps) {
    this.#dir = dir;
    this.#keys = keys;
    this.#onScanned = onScanned;
  }

  /** Bytes written so far. */
  get builtBytes(): number {
    return this.#builtBytes;
  }

  /** Segments that were not kept because there was no room. */
  get refused(): number {
    return this.#refused;
  }

  /** Segments, or stamps of them, that could not be written. */
  get failed(): number {
    return this.#failed;
  }

  async open(key: TextKey): Promise<KeptIndex | undefined> {
    const name = await this.#name(key, { create: false });
    const file = name === undefined ? undefined : await this.#use(name).catch((error) => this.#dir.noteFailure(error));
    if (!file) return undefined;
    let isReleased = false;
    return {
      fd: file.fd,
      segments: [...file.table.segments.values()],
      checks: async (segment: KeptSegment) => {
        const checks = await readChecks(file.fd, segment);
        if (!checks) await this.#dropFile(file.name);
        return checks;
      },
      release: () => {
        if (!isReleased) this.#leave(file);
        isReleased = true;
      },
    };
  }

  put(key: TextKey, segment: TextSegment, stamp: string): Promise<void> {
    return this.#write(async () => {
      const name = await this.#name(key, { create: true });
      if (name === undefined) return;
      const bytes = encodeSegment(segment, stamp);
      const file = await this.#use(name);
      try {
        const isOnly = ![...(file?.table.segments.keys() ?? [])].some((first) => first !== segment.firstBlock);
        this.#dir.noteUse(name);
        if (!(await this.#dir.trim(bytes.length, this.evictIdleMs))) {
          this.#refused++;
          return;
        }
        if (!file || file.isGone || isOnly) await this.#replace(name, bytes);
        else await this.#append(file, bytes);
      } finally {
        if (file) this.#leave(file);
      }
    });
  }

  renew(key: TextKey, firstBlocks: readonly number[], stamp: string): Promise<void> {
    return this.#write(async () => {
      const name = await this.#name(key, { create: true });
      const file = name === undefined ? undefined : await this.#use(name);
      if (!file) return;
      try {
        const known = firstBlocks.filter((first) => file.table.segments.has(first));
        if (known.length > 0 && !file.isGone) await this.#append(file, encodeRenewal(known, stamp));
      } finally {
        this.#leave(file);
      }
    });
  }

  async drop(key: TextKey): Promise<void> {
    const name = await this.#name(key, { create: false });
    if (name !== undefined) await this.#dropFile(name);
  }

  noteScanned(name: string): void {
    this.#onScanned(name);
  }

  /** Closes files that no search uses; the others are closed when they are released. */
  async close(): Promise<void> {
    await this.#writing;
    for (const name of [...this.#opened.keys()]) await this.#forget(name);
  }

  #name({ headHash, headBytes, reading, scrubId }: TextKey, { create }: { create: boolean }) {
    return this.#keys.name('text', { scrubId, parts: [headHash, headBytes, reading], create });
  }

  /** One writer at a time. Only a mistake in the code rejects. */
  #write(step: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(async () => {
      const before = this.#builtBytes + this.#refused;
      await step().catch((error) => this.#dir.noteFailure(error));
      if (this.#builtBytes + this.#refused === before) this.#failed++;
    });
    this.#writing = unneeded(done); // reported to the caller of this step
    return done;
  }

  /** The file with its current table. The caller leaves it. */
  async #use(name: string): Promise<OpenedFile | undefined> {
    const opening = this.#opened.get(name) ?? new Shared<OpenedFile | undefined>(KEPT);
    this.#opened.delete(name);
    this.#opened.set(name, opening);
    const file = await opening.run(() => this.#openFile(name));
    if (!file) {
      if (this.#opened.get(name) === opening) this.#opened.delete(name);
      return undefined;
    }
    file.users++;
    let state: 'current' | 'gone' | 'damaged' = 'damaged';
    try {
      state = await this.#update(file);
    } finally {
      if (state !== 'current') {
        await this.#forget(name);
        this.#leave(file);
      }
    }
    if (state === 'current') return file;
    if (state === 'gone') return this.#use(name);
    await this.#dir.drop(name);
    return undefined;
  }

  /** Reads what was appended since; gone: it was evicted, or replaced by another process. */
  async #update(file: OpenedFile): Promise<'current' | 'gone' | 'damaged'> {
    const { size, nlink } = await statFd(file.fd);
    if (nlink === 0n) return 'gone';
    this.#dir.noteUse(file.name);
    file.updating = file.updating.then(async (isValid) => {
      const sizeBytes = Number(size);
      if (!isValid || sizeBytes <= file.table.end) return isValid;
      return (await readSegmentTable({ ...file, sizeBytes }, file.table)) !== undefined;
    });
    return (await file.updating) ? 'current' : 'damaged';
  }

  /** Nothing if it cannot be read. */
  async #openFile(name: string): Promise<OpenedFile | undefined> {
    const fd = await this.#dir.openRead(name);
    if (fd === undefined) return undefined;
    try {
      const sizeBytes = Number((await statFd(fd)).size);
      const table = await readSegmentTable({ fd, name, sizeBytes });
      if (table) {
        void this.#closeIdle();
        return { name, fd, table, updating: Promise.resolve(true), users: 0, isGone: false };
      }
    } catch (error) {
      await closeFd(fd);
      return this.#dir.noteFailure(error);
    }
    await closeFd(fd);
    await this.#dir.drop(name);
    return undefined;
  }

  #leave(file: OpenedFile): void {
    file.users--;
    if (file.users === 0 && file.isGone) fs.closeSync(file.fd);
  }

  async #closeIdle(): Promise<void> {
    const excess = [...this.#opened.keys()].slice(0, Math.max(0, this.#opened.size - MAX_IDLE_FILES));
    for (const name of excess) {
      const file = await this.#opened.get(name)?.last();
      if (file?.users === 0) await this.#forget(name);
    }
  }

  async #forget(name: string): Promise<void> {
    const opening = this.#opened.get(name);
    this.#opened.delete(name);
    const file = await opening?.last();
    if (!file || file.isGone) return;
    file.isGone = true;
    if (file.users === 0) fs.closeSync(file.fd);
  }

  async #dropFile(name: string): Promise<void> {
    await this.#forget(name);
    await this.#dir.drop(name);
  }

  /** Writes a file with this entry only. */
  async #replace(name: string, entry: Buffer): Promise<void> {
    if (await this.#dir.write(name, Buffer.concat([encodeFileHead(name), entry]))) this.#builtBytes += entry.length;
    await this.#forget(name);
  }

  /** With one call at the end of the file, so that another process can do the same. */
  async #append(file: OpenedFile, entry: Buffer): Promise<void> {
    const { name, table } = file;
    if (table.deadBytes > MAX_DEAD_BYTES && table.deadBytes > table.end / 2) return this.#dropFile(name);
    const fd = await this.#dir.openAppend(name);
    if (fd === undefined) return;
    try {
      const sizeBytes = Number((await statFd(fd)).size);
      // An entry that was never completed: its process has been killed.
      if (sizeBytes !== table.end) return await this.#dropFile(name);
      const written = await this.#writeEntry(fd, entry);
      if (written < entry.length) return await this.#undo(fd, { name, sizeBytes, written });
      this.#dir.noteSize(name, sizeBytes + written);
      this.#builtBytes += written;
    } finally {
      await closeFd(fd);
    }
  }

  async #writeEntry(fd: number, entry: Buffer): Promise<number> {
    try {
      return (await writeFd(fd, entry, 0, entry.length, null)).bytesWritten;
    } catch (error) {
      await this.#dir.noteFailure(error);
      return 0;
    }
  }

  /** Removes the beginning of an entry that did not fit on the disk, unless someone else has written meanwhile. */
  async #undo(fd: number, { name, sizeBytes, written }: { name: string; sizeBytes: number; written: number }) {
    const isLast = Number((await statFd(fd)).size) === sizeBytes + written;
    if (isLast) await truncateFd(fd, sizeBytes);
    else await this.#dropFile(name);
  }
}
