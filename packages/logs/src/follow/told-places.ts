import { decodeCursor, type FileMark, HEAD_BYTES } from '../cursor/cursor.ts';
import { isMarked } from '../cursor/file-mark.ts';
import type { FoundRecord } from '../types.ts';
import type { EntrySource, RecordEntry } from './ring-entry.ts';

/** Files whose end of the history is remembered: the last ones are the only ones still being read. */
const MAX_PLACES = 16;

/** How far the history has told each file: the records of the ring that are known from it are not told again. */
export class ToldPlaces {
  #places: { hash: string; mark: FileMark; end: number }[] = [];
  #ends = new WeakMap<EntrySource, number>();

  note({ cursor, offset, bytes }: Pick<FoundRecord, 'cursor' | 'offset' | 'bytes'>): void {
    const last = this.#places.at(-1);
    const hash = hashOf(cursor);
    if (last?.hash === hash) {
      last.end = offset + bytes;
      return;
    }
    const [mark] = decodeCursor(cursor);
    if (!mark) return;
    this.#places.push({ hash, mark, end: offset + bytes });
    if (this.#places.length > MAX_PLACES) this.#places.shift();
    this.#ends = new WeakMap();
  }

  /** Whether a record of the history was emitted before: where its start is gone, the history continues by time. */
  has({ cursor, offset }: FoundRecord): boolean {
    const hash = hashOf(cursor);
    return this.#places.some((place) => place.hash === hash && offset < place.end);
  }

  /** What of the record is still to be told, or `undefined`. */
  untold(entry: RecordEntry): RecordEntry | undefined {
    if (this.#places.length === 0) return entry;
    const { offset, bytes } = entry.piece;
    const end = this.#endIn(entry.source);
    if (offset >= end) return entry;
    return offset + bytes.length <= end ? undefined : entry.from(end);
  }

  #endIn(source: EntrySource): number {
    const known = this.#ends.get(source);
    if (known !== undefined) return known;
    const ends = this.#places.filter(({ mark }) => mark.headBytes > 0 && isMarked(mark, source.head));
    const end = Math.max(0, ...ends.map((place) => place.end));
    // The start of a short file is still to come: it may turn out to be one of them.
    if (source.head.length >= HEAD_BYTES) this.#ends.set(source, end);
    return end;
  }
}

/** Of the file's first bytes. */
function hashOf(cursor: string): string {
  return cursor.slice(0, cursor.indexOf('.'));
}
