import { decodeCursor, type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import type { FoundRecord } from '../../types.ts';
import type { EntrySource, RecordEntry } from '../ring/ring-entry.ts';

/** Files whose delivered end is remembered. On a busy machine the ring may be many rotations behind the history. */
const MAX_FILES = 64;

/** How far the history has delivered each file, so that records the ring also holds are not delivered twice. */
export class DeliveredOffsets {
  /** By the hash of the file's first bytes; the one noted last is the last entry. */
  readonly #files = new Map<string, { mark: FileMark; end: number }>();
  #last: string | undefined;
  #ends = new WeakMap<EntrySource, number>();

  note({ cursor, offset, bytes }: Pick<FoundRecord, 'cursor' | 'offset' | 'bytes'>): void {
    const hash = fileHash(cursor);
    const known = hash === this.#last ? this.#files.get(hash) : undefined;
    if (known) {
      known.end = offset + bytes;
      return;
    }
    const [mark] = decodeCursor(cursor);
    if (!mark) return;
    const end = Math.max(offset + bytes, this.#files.get(hash)?.end ?? 0);
    this.#files.delete(hash);
    this.#files.set(hash, { mark, end });
    this.#last = hash;
    const [oldest] = this.#files.keys();
    if (this.#files.size > MAX_FILES && oldest !== undefined) this.#files.delete(oldest);
    this.#ends = new WeakMap();
  }

  /**
   * Notes a record of the history; false if it was delivered before. This happens if the start of the history was deleted
   * and it continued by time, and while a file is being copied.
   */
  add(record: FoundRecord): boolean {
    const file = this.#files.get(fileHash(record.cursor));
    if (file !== undefined && record.offset < file.end) return false;
    this.note(record);
    return true;
  }

  /** The part of the record that was not delivered yet, or `undefined`. */
  undelivered(entry: RecordEntry): RecordEntry | undefined {
    if (this.#files.size === 0) return entry;
    const { offset, bytes } = entry.piece;
    const end = this.#endIn(entry.source);
    if (offset >= end) return entry;
    return offset + bytes.length <= end ? undefined : entry.from(end);
  }

  #endIn(source: EntrySource): number {
    const known = this.#ends.get(source);
    if (known !== undefined) return known;
    const ends = [...this.#files.values()].filter(({ mark }) => mark.headBytes > 0 && isMarked(mark, source.head));
    const end = Math.max(0, ...ends.map((file) => file.end));
    // The head of a short file is still incomplete: it may turn out to be one of these files.
    if (source.head.length >= HEAD_BYTES) this.#ends.set(source, end);
    return end;
  }
}

/** The hash of the file's first bytes, as the cursor encodes it. */
function fileHash(cursor: string): string {
  return cursor.slice(0, cursor.indexOf('.'));
}
