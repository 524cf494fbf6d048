import type { FoundRecord } from '@porthole/logs/types';
import { cursorAt, originAt, type RecordBatch } from '@porthole/records';

/** Records of one file that follow each other, of which every one that matches was emitted from a recording of the member. */
export interface GivenRange {
  file: string;
  /** The start of the file as its cursors name it; empty: not known. */
  head: string;
  /** Offsets of the first and the last record in the file. */
  from: number;
  to: number;
  /** The latest time of theirs, by the clock of the member. */
  lastMs: number | null;
}

const HEAD = /^[0-9a-f]{16}\.[0-9a-z]{1,4}(?=\.)/;

/** Whether a record of a batch was emitted. */
export function isGivenAt(batch: RecordBatch, index: number, given: readonly GivenRange[]): boolean {
  const offset = batch.offsets[index] as number;
  if (!given.some(({ from, to }) => offset >= from && offset <= to)) return false;
  const timeMs = batch.times[index] as number;
  const { file } = originAt(batch, index);
  return isGiven({ file, offset, cursor: cursorAt(batch, index), timeMs }, given);
}

function isGiven(
  record: Pick<FoundRecord, 'file' | 'offset' | 'cursor'> & { timeMs: number },
  given: readonly GivenRange[],
) {
  const { file, offset, cursor, timeMs } = record;
  const head = HEAD.exec(cursor)?.[0] ?? '';
  return given.some((range) => {
    if (!(offset >= range.from && offset <= range.to)) return false;
    if (headLength(head) === headLength(range.head)) return head === range.head && (head !== '' || file === range.file);
    // A short file that has grown since, unless another one has its name now.
    return file === range.file && range.lastMs !== null && timeMs <= range.lastMs;
  });
}

/** How much of the file its head identifies: heads of different lengths cannot be compared. */
function headLength(head: string): string {
  return head.slice(head.indexOf('.') + 1);
}

/** What a page has emitted of a recording, file by file. */
export class GivenRanges {
  readonly #ranges = new Map<string, GivenRange>();

  /** `timeMs` is by the clock of the member; `NaN` without one. */
  add(batch: RecordBatch, index: number, timeMs: number): void {
    const { file } = originAt(batch, index);
    const offset = batch.offsets[index] as number;
    const head = HEAD.exec(cursorAt(batch, index))?.[0] ?? '';
    const key = `${head} ${file}`;
    const range = this.#ranges.get(key) ?? { file, head, from: offset, to: offset, lastMs: null };
    this.#ranges.set(key, range);
    range.from = Math.min(range.from, offset);
    range.to = Math.max(range.to, offset);
    if (!Number.isNaN(timeMs)) range.lastMs = Math.max(range.lastMs ?? timeMs, timeMs);
  }

  /** With those of earlier pages. Ranges that have a record in common are one. */
  joined(earlier: readonly GivenRange[]): GivenRange[] {
    return earlier.reduce(join, [...this.#ranges.values()]);
  }
}

function join(ranges: readonly GivenRange[], given: GivenRange): GivenRange[] {
  const joined = { ...given };
  const others = ranges.filter((range) => {
    if (range.file !== joined.file || range.head !== joined.head) return true;
    if (range.from > joined.to || range.to < joined.from) return true;
    joined.from = Math.min(joined.from, range.from);
    joined.to = Math.max(joined.to, range.to);
    if (range.lastMs !== null) joined.lastMs = Math.max(joined.lastMs ?? range.lastMs, range.lastMs);
    return false;
  });
  return [...others, joined];
}
