import { type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import type { OpenedMember, SeenMember } from './family-files.ts';

/** Marks of files told; older ones have left any family that keeps a sane number of files. */
const MAX_MARKS = 256;

/** The files of a family that need not be told: they were told, or are older than the follow. */
export class KnownFiles {
  #members = new Map<string, SeenMember>();
  #marks: FileMark[] = [];

  /** From now on these are known; what is no longer there is forgotten, as its number may be given to a new file. */
  remember(members: readonly SeenMember[]): void {
    this.#members = new Map(members.map((member) => [member.id, member]));
  }

  addMark(mark: FileMark): void {
    if (mark.headBytes === 0) return;
    this.#marks.push(mark);
    if (this.#marks.length > MAX_MARKS) this.#marks.shift();
  }

  /** The very same file. A number alone does not say so: file systems give it to the next new file. */
  has(member: SeenMember): boolean {
    const known = this.#members.get(member.id);
    if (!known) return false;
    const isUnchanged = known.size === member.size && known.modifiedNs === member.modifiedNs;
    return isUnchanged || (known.birthNs > 0n && known.birthNs === member.birthNs);
  }

  /** Whether it is an archive, or a whole copy, of something told. */
  isCopy(member: OpenedMember): boolean {
    return this.#marks.some((mark) => isCopyOf(mark, member));
  }
}

/** Few bytes that are the same prove nothing of a plain file; but an archive is always one of something else. */
export function isCopyOf(mark: FileMark, { head, compressed }: OpenedMember): boolean {
  if (mark.headBytes === 0 || (!compressed && mark.headBytes < HEAD_BYTES)) return false;
  return isMarked(mark, head);
}
