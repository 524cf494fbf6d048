import { type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import type { OpenedMember, SeenMember } from './family-files.ts';

/** Marks of emitted files; older files have left any family that keeps a sane number of them. */
const MAX_MARKS = 256;

/** The files of a family that must not be emitted: they were emitted already, or are older than the follow. */
export class KnownFiles {
  #members = new Map<string, SeenMember>();
  #marks: FileMark[] = [];

  /** Replaces the known files. Deleted ones are forgotten, because a new file may get the same inode number. */
  remember(members: readonly SeenMember[]): void {
    this.#members = new Map(members.map((member) => [member.id, member]));
  }

  get members(): SeenMember[] {
    return [...this.#members.values()];
  }

  addMark(mark: FileMark): void {
    if (mark.headBytes === 0) return;
    this.#marks.push(mark);
    if (this.#marks.length > MAX_MARKS) this.#marks.shift();
  }

  /** Whether it is the very same file. The inode number alone is no proof: file systems reuse it for the next new file. */
  has(member: SeenMember): boolean {
    const known = this.#members.get(member.id);
    if (!known) return false;
    const isUnchanged = known.size === member.size && known.modifiedNs === member.modifiedNs;
    return isUnchanged || (known.birthNs > 0n && known.birthNs === member.birthNs);
  }

  /** Whether it is an archive or a full copy of an emitted file. */
  isCopy(member: OpenedMember): boolean {
    return this.#marks.some((mark) => isCopyOf(mark, member));
  }
}

/** A few equal bytes prove nothing for a plain file, but an archive is always an archive of another file. */
export function isCopyOf(mark: FileMark, { head, compressed }: OpenedMember): boolean {
  if (mark.headBytes === 0 || (!compressed && mark.headBytes < HEAD_BYTES)) return false;
  return isMarked(mark, head);
}
