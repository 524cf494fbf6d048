import { undefinedIfUnreadable } from '../../log-error.ts';
import type { RingWriter } from '../ring/ring-writer.ts';
import { type FamilyDeps, listMembers, type SeenMember } from './family-files.ts';
import type { KnownFiles } from './known-files.ts';
import type { OpenFiles } from './open-files.ts';
import type { TailFile } from './tail-file.ts';

/** Writers notice late that their file was renamed, so it is read this much longer. Then its disk space is released. */
export const LINGER_MS = 5000;

/** Renamed files that are still read; if there are more, rotation is so quick that the oldest have surely been left. */
const MAX_ROTATED = 8;

export interface RotatedFilesDeps {
  open: OpenFiles;
  writer: RingWriter;
  known: KnownFiles;
  lingerMs: number;
}

interface LeftDeps extends Pick<FamilyDeps, 'list' | 'handles'> {
  family: string;
  /** Its files, as they were listed before the live one was opened. */
  listed: readonly SeenMember[];
}

/** Files that were live and may still be written to, oldest first. */
export class RotatedFiles {
  readonly #deps: RotatedFilesDeps;
  readonly #files: TailFile[] = [];

  constructor(deps: RotatedFilesDeps) {
    this.#deps = deps;
  }

  get all(): readonly TailFile[] {
    return this.#files;
  }

  add(file: TailFile): void {
    file.rotatedMs = performance.now();
    this.#files.push(file);
    while (this.#files.length > MAX_ROTATED) this.#retireOldest();
  }

  /**
   * The follow may begin in the middle of a rotation: there is no live file, or it is still empty. Then adds the newest
   * rotated one if it was written to a moment ago, because its writers may not have opened the next file yet.
   */
  async addLeft(current: TailFile | undefined, { family, listed, list, handles }: LeftDeps): Promise<void> {
    if (current && !current.text.isUnread) return;
    const { open, lingerMs } = this.#deps;
    const isListed = listed.some(({ live, id }) => live && id === current?.id);
    const members = isListed ? listed : await listMembers(family, { list });
    const left = members.findLast(({ live }) => !live);
    if (!left || left.compressed || Date.now() - Number(left.modifiedNs / 1_000_000n) > lingerMs) return;
    const handle = await handles.acquire(left.name).catch(undefinedIfUnreadable);
    // One that cannot be read does not end the follow of the others.
    const file = handle && (await open.open(handle, 'end').catch(undefinedIfUnreadable));
    if (file) this.add(file);
  }

  /** Removes and returns a file that is live again. */
  takeBack(id: string): TailFile | undefined {
    const index = this.#files.findIndex((file) => file.id === id);
    return index < 0 ? undefined : this.#files.splice(index, 1)[0];
  }

  /** Emits what was appended to them. */
  async drainAll(): Promise<void> {
    const { open, writer, lingerMs } = this.#deps;
    for (const file of this.#files) {
      await open.drain(file);
      writer.write(file.text.flushLines());
    }
    while (this.#files[0] && performance.now() - this.#files[0].rotatedMs >= lingerMs) this.#retireOldest();
  }

  #retireOldest(): void {
    const { open, writer, known } = this.#deps;
    const file = this.#files.shift();
    if (!file) return;
    writer.write(file.text.flushAll());
    known.addMark(file.text.mark);
    open.release(file);
  }
}
