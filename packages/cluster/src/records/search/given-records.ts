import { codeOf } from '@porthole/contract';
import { decodeCursor } from '@porthole/logs';
import type { FoundRecord, SearchQuery } from '@porthole/logs/types';
import { cursorAt, originAt, type RecordBatch } from '@porthole/records';
import type { SteppedClock } from '../../fan-out/clock-steps.ts';
import type { MemberPosition, ReplacedPosition } from './cluster-cursor.ts';
import { ReachFilter } from './drop-records.ts';

/** Records of one file that follow each other, of which the snapshot of the member has emitted every one that matches. */
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

type Identified = Pick<FoundRecord, 'file' | 'offset' | 'cursor' | 'timeMs'>;

/** Whether a snapshot has emitted the record. */
export function isGiven(record: Identified, given: readonly GivenRange[]): boolean {
  const { file, offset, cursor, timeMs = Infinity } = record;
  return given.some((range) => {
    if (!(offset >= range.from && offset <= range.to)) return false;
    const head = headOf(cursor);
    if (bytesOf(head) === bytesOf(range.head)) return head === range.head && (head !== '' || file === range.file);
    // A short file that has grown since, unless another one has its name now.
    return file === range.file && range.lastMs !== null && timeMs <= range.lastMs;
  });
}

/** The same of a record in a batch. */
export function isGivenAt(batch: RecordBatch, index: number, given: readonly GivenRange[]): boolean {
  const offset = batch.offsets[index] as number;
  if (!given.some(({ from, to }) => offset >= from && offset <= to)) return false;
  const timeMs = batch.times[index] as number;
  const time = Number.isNaN(timeMs) ? {} : { timeMs };
  return isGiven({ file: originAt(batch, index).file, offset, cursor: cursorAt(batch, index), ...time }, given);
}

/** What a snapshot has that the member, and earlier pages, have not emitted. */
export class SnapshotPart {
  readonly #position: ReplacedPosition;
  readonly #order: SearchQuery['order'];
  readonly #clock: SteppedClock;
  /** Its matching records that the member itself has not emitted, in the order of the search. */
  #records: readonly FoundRecord[] = [];

  constructor(position: ReplacedPosition, { order, clock }: { order: SearchQuery['order']; clock: SteppedClock }) {
    this.#position = position;
    this.#order = order;
    this.#clock = clock;
  }

  /** The records to emit, of those that match. `startMs`: not before this time, by the clock of the member. */
  select(matching: readonly FoundRecord[], startMs: number | undefined): FoundRecord[] {
    const { own, given, reach = reachIn(own) } = this.#position;
    const reached = reach && new ReachFilter(reach, this.#order, this.#clock);
    const marks = marksOf(own);
    const isInside = ({ timeMs = Number.NaN }: FoundRecord) =>
      startMs === undefined || (this.#order === 'newest' ? timeMs < startMs : timeMs >= startMs);
    // Later ones out of order belong where their predecessor does: what is left out in between would be taken for emitted.
    const first = matching.findIndex(isInside);
    const inside = first < 0 ? [] : matching.slice(first);
    this.#records = inside.filter((record) => !reached?.drops(record) && !this.#isOwn(record, marks));
    return this.#records.filter((record) => !isGiven(record, given));
  }

  /** The position when so many of them were emitted. */
  after(emitted: number): MemberPosition | ReplacedPosition {
    const { own, reach } = this.#position;
    const given = this.#givenAfter(emitted);
    return given.length === 0 && reach === undefined ? own : { own, given, ...(reach && { reach }) };
  }

  /** A range never spans a record that was not emitted: the snapshot has no gaps, except between its files. */
  #givenAfter(emitted: number): GivenRange[] {
    const { given } = this.#position;
    const ranges: GivenRange[] = [];
    const open = new Map<string, GivenRange>();
    let left = emitted;
    for (const record of this.#records) {
      const { file, offset, timeMs = null } = record;
      if (!isGiven(record, given) && --left < 0) {
        open.delete(file);
        continue;
      }
      const range = open.get(file) ?? { file, head: headOf(record.cursor), from: offset, to: offset, lastMs: timeMs };
      if (!open.has(file)) ranges.push(range);
      open.set(file, range);
      range.from = Math.min(range.from, offset);
      range.to = Math.max(range.to, offset);
      if (timeMs !== null) range.lastMs = Math.max(range.lastMs ?? timeMs, timeMs);
    }
    return given.reduce(join, ranges);
  }

  /** Whether the member itself has emitted it: its cursor is in the same file, and not before it. */
  #isOwn(record: FoundRecord, marks: readonly Mark[]): boolean {
    return marks.some(({ head, offset, isRecord }) => {
      if (head !== headOf(record.cursor)) return false;
      if (this.#order === 'newest') return record.offset >= offset;
      return record.offset < offset || (isRecord && record.offset === offset);
    });
  }
}

/** Ranges that have a record in common are one. */
function join(ranges: readonly GivenRange[], { file, head, from, to, lastMs }: GivenRange): GivenRange[] {
  const joined = { file, head, from, to, lastMs };
  const others = ranges.filter((range) => {
    if (range.file !== file || range.head !== head || range.from > joined.to || range.to < joined.from) return true;
    joined.from = Math.min(joined.from, range.from);
    joined.to = Math.max(joined.to, range.to);
    if (range.lastMs !== null) joined.lastMs = Math.max(joined.lastMs ?? range.lastMs, range.lastMs);
    return false;
  });
  return [...others, joined];
}

interface Mark {
  head: string;
  offset: number;
  /** Or a place between two. */
  isRecord: boolean;
}

function reachIn(position: MemberPosition) {
  return typeof position === 'object' && 'reach' in position ? position.reach : undefined;
}

function marksOf(position: MemberPosition): Mark[] {
  if (typeof position !== 'object' || !('cursor' in position)) return [];
  try {
    return decodeCursor(position.cursor).map(({ headHash, headBytes, offset, checkBytes }) => {
      return { head: `${headHash}.${headBytes.toString(36)}`, offset, isRecord: checkBytes > 0 };
    });
  } catch (error) {
    if (codeOf(error) !== 'CURSOR_INVALID') throw error;
    return []; // of a search that made no progress
  }
}

const HEAD = /^[0-9a-f]{16}\.[0-9a-z]{1,4}(?=\.)/;

function headOf(cursor: string): string {
  return HEAD.exec(cursor)?.[0] ?? '';
}

/** How much of the file its head identifies: heads of different lengths cannot be compared. */
function bytesOf(head: string): string {
  return head.slice(head.indexOf('.') + 1);
}
