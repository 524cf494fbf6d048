import { decodeCursor, type FileMark, type RecordMark } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import { statFd } from '../../file/fs-calls.ts';
import { isFileFailure, undefinedIfUnreadable } from '../../log-error.ts';
import type { FollowItem, FoundRecord } from '../../types.ts';
import { familyMembers, readFileStart, type SeenMember } from '../tail/family-files.ts';
import type { LogTail } from '../tail/log-tail.ts';

/** Content of the log in a file other than the live one. */
interface RotatedText {
  head: Buffer;
  /** When its writing began or its file was created; `undefined` if unknown. */
  sinceNs: bigint | undefined;
}

/**
 * Finds where in a log's history its file was truncated. What is written between the copy and the truncation is lost;
 * as it happened while nobody followed, only the history can reveal it.
 */
export class TextChanges {
  readonly #tail: LogTail;
  #last: { mark: RecordMark; timeMs: number | undefined; cursor: string | null } | undefined;

  /** `after`: cursor of the record that was delivered last. */
  constructor(tail: LogTail, after?: string) {
    this.#tail = tail;
    const mark = after === undefined ? undefined : decodeCursor(after).at(-1);
    if (mark) this.#last = { mark, timeMs: mark.delivered?.timeMs, cursor: null };
  }

  /** Forgets the last record, after its loss was reported. */
  forget(): void {
    this.#last = undefined;
  }

  /** Emits the records, with a gap wherever the file was truncated between two of them. */
  async *pass(records: readonly FoundRecord[]): AsyncGenerator<FollowItem[], void, undefined> {
    let start = 0;
    for (const [index, record] of records.entries()) {
      const { cursor, timeMs } = record;
      if (this.#last && textKey(cursor) === textKey(this.#last.cursor)) {
        this.#last = { ...this.#last, cursor, timeMs: timeMs ?? this.#last.timeMs };
        continue;
      }
      const [mark] = decodeCursor(cursor);
      if (!mark) continue;
      if (await this.#isTruncatedBefore(mark)) {
        if (index > start) yield records.slice(start, index);
        yield [this.#gap()];
        start = index;
      }
      this.#last = { mark, timeMs, cursor };
    }
    if (start < records.length) yield records.slice(start);
  }

  /** Emits a gap if the file was truncated before `until`, or before the start of a file of which nothing was read yet. */
  async *passEnd(until: string | undefined): AsyncGenerator<FollowItem[], void, undefined> {
    const [next] = until === undefined ? [] : decodeCursor(until);
    if (await this.#isTruncatedBefore(next)) yield [this.#gap()];
  }

  #gap(): FollowItem {
    const after = this.#last?.cursor ?? null;
    return { type: 'gap', family: this.#tail.family, reason: 'truncated', bytes: null, after, until: null };
  }

  /**
   * Whether the last record was truncated away before the next one was written. It was if the live file is older than
   * the last record's text or the copy of it; a renamed file is older than the file that takes over its name.
   */
  async #isTruncatedBefore(next: RecordMark | undefined): Promise<boolean> {
    const { current, target } = this.#tail;
    const last = this.#last;
    if (!last || !current || target.family === undefined || (next && isSameMark(last.mark, next))) return false;
    try {
      const { birthtimeNs: liveNs } = await statFd(current.handle.fd);
      if (liveNs === 0n || isMarked(last.mark, current.text.head)) return false;
      const rotated = await this.#find(last.mark);
      if (rotated && next && next.headBytes > 0 && isMarked(next, rotated.head)) return false;
      const sinceNs = rotated ? rotated.sinceNs : toNs(last.timeMs);
      return sinceNs !== undefined && sinceNs >= liveNs;
    } catch (error) {
      if (!isFileFailure(error)) throw error;
      // The directory cannot be listed or the live file was deleted; the tail reports that.
      return false;
    }
  }

  async #find(mark: RecordMark): Promise<RotatedText | undefined> {
    const { deps, target } = this.#tail;
    const all = await familyMembers(await deps.list(target.family), target.family ?? target.name);
    const members = all.filter(({ live }) => !live);
    // Most likely it still has its name; otherwise try the newest first.
    members.reverse().sort((a, b) => Number(b.name === mark.file) - Number(a.name === mark.file));
    for (const member of members) {
      const text = await this.#read(member).catch(undefinedIfUnreadable);
      if (text && isMarked(mark, text.head)) return text;
    }
    return undefined;
  }

  async #read({ name, compressed }: SeenMember): Promise<RotatedText> {
    const { deps } = this.#tail;
    const handle = await deps.handles.acquire(name);
    try {
      const { head, firstTimeMs } = await readFileStart(handle, deps);
      const { birthtimeNs } = await statFd(handle.fd);
      // An archive is always younger than the file it was made from: its text is the only clue to the age.
      return { head, sinceNs: compressed || birthtimeNs === 0n ? toNs(firstTimeMs) : birthtimeNs };
    } finally {
      handle.release();
    }
  }
}

/** The part of a cursor that identifies its file. */
function textKey(cursor: string | null): string | undefined {
  return cursor?.slice(0, cursor.indexOf('.', cursor.indexOf('.') + 1));
}

function isSameMark(a: FileMark, b: FileMark): boolean {
  return a.headBytes === b.headBytes && a.headHash === b.headHash;
}

function toNs(timeMs: number | undefined): bigint | undefined {
  return timeMs === undefined ? undefined : BigInt(Math.trunc(timeMs) + 1) * 1_000_000n - 1n;
}
