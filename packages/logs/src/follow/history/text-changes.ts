import { decodeCursor, type FileMark, type RecordMark } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import { statFd } from '../../file/fs-calls.ts';
import type { FollowItem, FoundRecord } from '../../types.ts';
import { familyMembers, readFileStart, type SeenMember } from '../tail/family-files.ts';
import type { LogTail } from '../tail/log-tail.ts';

/** A text of the log that is in a file other than the live one. */
interface RotatedText {
  head: Buffer;
  /** When it began to be written, or its file was made; `undefined` where that is not known. */
  sinceNs: bigint | undefined;
}

/**
 * Finds the places in a log's history where its file was truncated. What is written between the copying and the
 * truncation is lost, and nobody but the reader of the history can know: it happened while nobody followed.
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

  /** What comes next has no record before it: that this one is gone was reported. */
  forget(): void {
    this.#last = undefined;
  }

  /** The records, with a gap wherever the file was truncated between two of them. */
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

  /** The same for what comes next: at this cursor, or from the start of a file of which nothing was read yet. */
  async *passEnd(until: string | undefined): AsyncGenerator<FollowItem[], void, undefined> {
    const [next] = until === undefined ? [] : decodeCursor(until);
    if (await this.#isTruncatedBefore(next)) yield [this.#gap()];
  }

  #gap(): FollowItem {
    const after = this.#last?.cursor ?? null;
    return { type: 'gap', family: this.#tail.family, reason: 'truncated', bytes: null, after, until: null };
  }

  /**
   * Whether the text of the last record was truncated away before the next one was written. It was if the live file is
   * older than that text, or than the copy of it: a file that is renamed is older than the one that takes its name.
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
    } catch {
      // The directory cannot be listed, or the live file is gone: the tail reports what that means.
      return false;
    }
  }

  async #find(mark: RecordMark): Promise<RotatedText | undefined> {
    const { deps, target } = this.#tail;
    const all = await familyMembers(await deps.list(target.family), target.family ?? target.name);
    const members = all.filter(({ live }) => !live);
    // The name that it had is the likeliest; then the newest.
    members.reverse().sort((a, b) => Number(b.name === mark.file) - Number(a.name === mark.file));
    for (const member of members) {
      const text = await this.#read(member).catch(() => undefined);
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
      // An archive is always younger than what it was made of: only its text tells.
      return { head, sinceNs: compressed || birthtimeNs === 0n ? toNs(firstTimeMs) : birthtimeNs };
    } finally {
      handle.release();
    }
  }
}

/** What of a cursor names its file. */
function textKey(cursor: string | null): string | undefined {
  return cursor?.slice(0, cursor.indexOf('.', cursor.indexOf('.') + 1));
}

function isSameMark(a: FileMark, b: FileMark): boolean {
  return a.headBytes === b.headBytes && a.headHash === b.headHash;
}

function toNs(timeMs: number | undefined): bigint | undefined {
  return timeMs === undefined ? undefined : BigInt(Math.trunc(timeMs) + 1) * 1_000_000n - 1n;
}
