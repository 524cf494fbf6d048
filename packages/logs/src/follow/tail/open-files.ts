import type { LogHandle } from '../../file/handle-cache.ts';
import type { SharedReads } from '../../file/shared-reads.ts';
import { statFd } from '../../fs-calls.ts';
import { isFileFailure, undefinedIfUnreadable } from '../../log-error.ts';
import type { FormatSet } from '../../parse/detect-format.ts';
import type { Zone } from '../../parse/zone.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { RingWriter } from '../ring/record-ring.ts';
import { type FamilyDeps, type FirstPosition, listMembers, type SeenMember } from './family-files.ts';
import type { AssemblerTimes } from './record-assembler.ts';
import { readFileId, TailFile } from './tail-file.ts';

export interface OpenFilesDeps {
  zone: Zone;
  reads: SharedReads;
  formats?: FormatSet | undefined;
  scrubber(): Scrubber | undefined;
  times: AssemblerTimes;
  writer: RingWriter;
  onRead(): void;
}

/** The open descriptors of one log. Others must not be read: their numbers may belong to other files by now. */
export class OpenFiles {
  readonly #deps: OpenFilesDeps;
  readonly #handles = new Set<LogHandle>();
  #isClosed = false;

  constructor(deps: OpenFilesDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#handles.size;
  }

  /** Takes ownership of the handle. `before` is the previous file of the same log. */
  async open(handle: LogHandle, from: FirstPosition, before?: TailFile): Promise<TailFile> {
    this.#handles.add(handle);
    const { zone, reads, formats, times, scrubber, onRead } = this.#deps;
    const { holdMs, idleMs } = times;
    const taken = { format: before?.text.format, formatMs: before?.formatMs };
    try {
      return await TailFile.open(handle, from, { zone, reads, formats, holdMs, idleMs, ...taken, scrubber, onRead });
    } catch (error) {
      this.release({ handle });
      throw error;
    }
  }

  /** Continues a file whose descriptor was released. */
  reopen(file: TailFile, handle: LogHandle): void {
    this.#handles.add(handle);
    file.handle = handle;
  }

  has({ handle }: TailFile): boolean {
    return this.#handles.has(handle);
  }

  /** By its id. A new file may have got the inode number of one that was released: the next read finds out. */
  async isSameFile(file: TailFile, handle: LogHandle): Promise<boolean> {
    const hasSameDescriptor = this.has(file) && handle.fd === file.handle.fd;
    return hasSameDescriptor || (await readFileId(handle)) === file.id;
  }

  holds(handle: LogHandle): boolean {
    return this.#handles.has(handle);
  }

  release({ handle }: Pick<TailFile, 'handle'>): void {
    if (this.#handles.delete(handle)) handle.release();
  }

  /** The modification time; for a file whose descriptor was released, the last one known. */
  async readModifiedNs(file: TailFile): Promise<bigint> {
    return this.has(file) ? (await statFd(file.handle.fd)).mtimeNs : file.handle.modifiedNs;
  }

  /** Reads a file that is no longer live to its end, or as far as it can be read. */
  async drain(file: TailFile): Promise<void> {
    try {
      while (this.has(file) && !this.#isClosed) {
        const size = Number((await statFd(file.handle.fd)).size);
        if (size <= file.position) return;
        const { entries, bytes } = await file.readNext(size);
        await this.#deps.writer.writeAll(entries);
        if (bytes === 0) return;
      }
    } catch (error) {
      // The next poll tries again.
      if (!isFileFailure(error)) throw error;
    }
  }

  /** Ends reads in progress soon; `close` then releases everything. */
  stop(): void {
    this.#isClosed = true;
  }

  close(): void {
    this.stop();
    for (const handle of this.#handles) handle.release();
    this.#handles.clear();
  }
}

interface ListedLog extends Pick<FamilyDeps, 'handles' | 'list'> {
  /** The name of its live file. */
  name: string;
  family: string;
  /** Its files, as they were listed. */
  members: readonly SeenMember[] | undefined;
}

/** The file that was live when they were listed, wherever it is now, at its size of then; or the one that is live. */
export async function acquireListed({ name, family, members, handles, list }: ListedLog): Promise<FirstFile> {
  const handle = await handles.acquire(name);
  const live = members?.find((member) => member.name === name);
  if (!live) return { handle, from: 'end' };
  if ((await readFileId(handle)) === live.id) return { handle, from: Number(live.size) };
  const moved = (await listMembers(family, { list })).find(({ id, compressed }) => id === live.id && !compressed);
  const old = moved && (await handles.acquire(moved.name).catch(undefinedIfUnreadable));
  const isFound = old && (await readFileId(old)) === live.id;
  (isFound ? handle : old)?.release();
  return isFound ? { handle: old, from: Number(live.size) } : { handle, from: 'start' };
}

interface FirstFile {
  handle: LogHandle;
  from: FirstPosition;
}
