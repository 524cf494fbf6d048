import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogDir, type Scrubbing, type UserFormat, type WorkerPool } from '@porthole/logs';
import type { FoundRecord } from '@porthole/logs/types';
import { batchOf, type RecordBatch, recordsOf } from '@porthole/records';
import type { ZoneInUse } from './member-zone.ts';
import { ASIDE } from './plan-files.ts';

/** Below the directory, so that a new file can be written beside it. */
export const COPIES = 'log';

export interface MirrorDirOptions {
  /** Where the copies stay when it is closed; absent: nowhere, they are in the system's temporary directory. */
  dir?: string | undefined;
  zone: ZoneInUse;
  /** Formats tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
  /** Scanner threads, shared with other directories. */
  threads: WorkerPool;
  scrubbing: Scrubbing;
}

/**
 * A directory with the newest part of each file of a node, written like a logger would, so that the engine reads and follows
 * it like any log directory. Private to this user.
 */
export class MirrorDir {
  logs: LogDir;
  /** In which its times are read. */
  zone: ZoneInUse;
  readonly #options: MirrorDirOptions;
  readonly #path: string;
  /** Reads in the zone of before, for requests that have begun. */
  #before: LogDir | undefined;

  private constructor(path: string, options: MirrorDirOptions) {
    this.#options = options;
    this.#path = path;
    this.zone = options.zone;
    this.logs = this.#read();
  }

  static async create(options: MirrorDirOptions): Promise<MirrorDir> {
    const path = options.dir ?? (await mkdtemp(join(tmpdir(), 'porthole-tails-')));
    await mkdir(join(path, COPIES), { recursive: true, mode: 0o700 });
    return new MirrorDir(path, options);
  }

  async append(name: string, bytes: Buffer): Promise<void> {
    await appendFile(this.#at(name), bytes, { mode: 0o600 });
  }

  /** The name leads to another file afterwards, as behind a rotation. */
  async put(name: string, bytes: Buffer): Promise<void> {
    const staged = join(this.#path, 'staged');
    await writeFile(staged, bytes, { mode: 0o600 });
    await rename(staged, this.#at(name));
  }

  /** As a rotation does: `put` of the old name comes next. */
  async move(from: string, to: string): Promise<void> {
    await rename(this.#at(from), this.#at(to));
  }

  async remove(name: string): Promise<void> {
    await rm(this.#at(name), { force: true });
  }

  /** Times are read in this zone from now on. Returns whether it is another one: what reads now has the wrong times. */
  async setZone(zone: ZoneInUse): Promise<boolean> {
    const isSame = zone.zone.id === this.zone.zone.id;
    this.zone = zone;
    if (isSame) return false;
    await this.#before?.close();
    this.#before = this.logs;
    this.logs = this.#read();
    return true;
  }

  /** Ends what reads it. */
  async close(): Promise<void> {
    await this.#before?.close();
    await this.logs.close();
    if (this.#options.dir === undefined) await rm(this.#path, { recursive: true, force: true });
  }

  #read(): LogDir {
    const { formats = [], threads, scrubbing } = this.#options;
    return new LogDir(join(this.#path, COPIES), { zone: this.zone.zone, formats, threads, scrubbing });
  }

  #at(name: string): string {
    return join(this.#path, COPIES, name);
  }
}

/** The name on the node of a file of the directory. */
export function nameOnNode(file: string): string {
  return file.endsWith(ASIDE) ? file.slice(0, -ASIDE.length) : file;
}

/** Records with the names of their files on the node. */
export function toNodeBatch(batch: RecordBatch): RecordBatch {
  if (!batch.origins.some(({ file }) => file.endsWith(ASIDE))) return batch;
  return batchOf(recordsOf<FoundRecord>(batch).map(toNodeRecord));
}

export function toNodeRecord(record: FoundRecord): FoundRecord {
  const { before, after } = record;
  return {
    ...record,
    file: nameOnNode(record.file),
    ...(before && { before: before.map(toNodeRecord) }),
    ...(after && { after: after.map(toNodeRecord) }),
  };
}
