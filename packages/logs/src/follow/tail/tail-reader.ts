import { decodeCursor, encodeMark, fnv1a, HEAD_BYTES, type RecordMark } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import { LEVELS_BY_RANK } from '../../parse/level.ts';
import type { CountedItem, CountedRecords, FollowItem, FoundRecord, HistogramBucket } from '../../types.ts';
import { TextJoiner } from '../followed-text.ts';
import type { EntrySource, RecordEntry, RingEntry } from '../ring/ring-entry.ts';
import type { SharedFilter } from '../shared-filter.ts';
import type { LogTail } from './log-tail.ts';

/** Entries filtered for one batch: a filter that matches nothing must not hold up other follows. */
const BATCH_ENTRIES = 1000;

/** Text of one batch, so that a slow consumer holds little memory. */
const BATCH_BYTES = 512 * 1024;

interface ReaderOptions {
  filter: SharedFilter;
  raw: boolean;
  /** Names of the fields that each record carries. */
  fields?: readonly string[] | undefined;
  /** Emits how many records do not match. */
  counts?: boolean | undefined;
}

/** Where the ring continues what the files contain. */
export interface Junction {
  /** The ring's next entry and the cursor at which it begins; `undefined` if nothing of the file was read yet. */
  seq: number;
  until: string | undefined;
  /** A file of which nothing was emitted yet: all of it comes from the ring. */
  unread: string | undefined;
}

export function currentJunction({ ring, positionCursor: until, text, isRotating }: LogTail): Junction {
  // In the middle of a rotation, what the last events say happened after the position.
  const seq = isRotating ? ring.afterLastRecord : ring.nextSeq;
  return { seq, until, unread: text?.isUnemitted ? text.name : undefined };
}

/** What is next in the ring, and the cursor up to which everything was delivered. */
export interface TailPosition {
  seq: number;
  after: string | null;
}

export function tailPosition(tail: LogTail): TailPosition {
  return { seq: tail.ring.nextSeq, after: cursorBefore(tail) };
}

/** One follower's position in one log: a sequence number, not a queue. */
export class TailReader {
  readonly tail: LogTail;
  readonly delivered = new DeliveredOffsets();
  /** Where the follower joined: the ring has what was written since, even if the files were deleted meanwhile. */
  readonly joined: Junction;
  /** Records come from the files, up to a position in the ring. */
  isInHistory = false;
  readonly #filter: SharedFilter;
  readonly #shown: Pick<ReaderOptions, 'raw' | 'fields'>;
  readonly #counts: boolean;
  #seq: number;
  /** Bytes of text in the log before the position. */
  #bytes: number;
  /** The last record taken from the ring, matching or not: a gap begins after it. */
  #last: RecordEntry | undefined;
  #lastCursor: string | null;

  constructor(tail: LogTail, { filter, counts = false, ...shown }: ReaderOptions) {
    this.tail = tail;
    this.#counts = counts;
    this.#filter = filter;
    this.#shown = shown;
    this.joined = currentJunction(tail);
    this.#seq = tail.ring.nextSeq;
    this.#bytes = tail.ring.bytesBefore(this.#seq);
    this.#lastCursor = cursorBefore(tail);
  }

  /** Continues at this entry of the ring; `after` is the cursor of the record delivered last. */
  moveTo(seq: number, after?: string | null): void {
    this.#seq = seq;
    this.#bytes = this.tail.ring.bytesBefore(seq);
    this.isInHistory = false;
    if (after === undefined) return;
    this.#last = undefined;
    this.#lastCursor = after;
  }

  /**
   * Continues right after the record if the ring has it, with the rest of the record if it has grown since. Otherwise it
   * is older than the ring: the ring catches up first, because a history may be ahead of it.
   */
  async moveAfter(cursor: string): Promise<boolean> {
    if (this.#moveAfter(cursor)) return true;
    await this.tail.catchUp();
    return this.#moveAfter(cursor) || this.#moveAfterHeld(cursor);
  }

  /** Nothing was written since, or the newest record is held back for a moment, because lines may be appended to it. */
  #moveAfterHeld(cursor: string): boolean {
    const { text } = this.tail;
    const isHeld = (mark: RecordMark) =>
      text && mark.offset + (isPosition(mark) ? 1 : 0) >= text.emittedOffset && isMarked(mark, text.head);
    const { offset, delivered } = decodeCursor(cursor).find(isHeld) ?? {};
    if (offset === undefined || !delivered) return false;
    this.delivered.note({ cursor, offset, bytes: delivered.bytes });
    this.moveTo(this.tail.ring.nextSeq, cursor);
    return true;
  }

  #moveAfter(cursor: string): boolean {
    const marks = decodeCursor(cursor);
    const seq = this.tail.ring.findLast(
      (entry) => entry.kind === 'record' && marks.some((mark) => isRecord(entry, mark)),
    );
    const entry = seq === undefined ? undefined : this.tail.ring.at(seq);
    if (seq === undefined || entry?.kind !== 'record') return false;
    const { delivered } = marks.find((mark) => isRecord(entry, mark)) ?? {};
    const hasGrown = delivered !== undefined && delivered.bytes < entry.piece.bytes.length;
    if (hasGrown) this.delivered.note({ ...entry.found({ raw: false }), bytes: delivered.bytes });
    this.moveTo(hasGrown ? seq : seq + 1, cursor);
    return true;
  }

  /** The cursor of the last record or byte before the position; `null`: the start of the log. */
  get after(): string | null {
    return this.#last?.after ?? this.#lastCursor;
  }

  get hasMore(): boolean {
    return this.#seq < this.tail.ring.nextSeq;
  }

  /** Bytes of text in the ring after the position. */
  get heldBytes(): number {
    const { ring } = this.tail;
    return ring.bytesBefore(ring.nextSeq) - this.#bytes;
  }

  /** Whether the ring may drop soon what was not taken yet. */
  get isPressed(): boolean {
    const { ring, deps } = this.tail;
    const isHalfBehind = ring.nextSeq - this.#seq > (ring.nextSeq - ring.firstSeq) / 2;
    return isHalfBehind && ring.costBytes > deps.limitBytes() / 2;
  }

  /**
   * The matching items among the next entries. An empty result does not mean that there are no more entries. `texts`: the text
   * of records, but for lines that are not finished and those of short files.
   */
  async take({ texts = false } = {}): Promise<CountedItem[]> {
    const { ring, failure } = this.tail;
    if (failure && !this.hasMore) throw failure.error;
    const items: CountedItem[] = [];
    if (this.#seq < ring.firstSeq) items.push(...this.#passGap());
    const entries: RingEntry[] = [];
    for (let bytes = 0; entries.length < BATCH_ENTRIES && bytes < BATCH_BYTES; ) {
      const entry = ring.at(this.#seq + entries.length);
      if (!entry) break;
      if (entry.kind === 'record') bytes += entry.piece.bytes.length;
      entries.push(entry);
    }
    this.#seq += entries.length;
    this.#bytes = ring.bytesBefore(this.#seq);
    this.#last = entries.findLast((entry) => entry.kind === 'record') ?? this.#last;
    const fresh = entries.flatMap((entry) =>
      entry.kind === 'event' ? entry : (this.delivered.undelivered(entry) ?? []),
    );
    const wanted = await this.#filter.choose(fresh.filter((entry) => entry.kind === 'record'));
    if (this.#counts && fresh.length > 0) items.unshift(countOthers(this.tail.family, fresh, wanted));
    const joiner = new TextJoiner(items);
    for (const entry of fresh) {
      if (entry.kind === 'record' && !wanted.has(entry)) continue;
      const part = texts && entry.kind === 'record' ? entry.part : undefined;
      if (part) joiner.add(part);
      else joiner.push(entry.kind === 'event' ? entry.event : entry.found(this.#shown));
    }
    return joiner.end();
  }

  /** Skips to the ring's first record that is no continuation, because a search returns whole records. */
  #passGap(): FollowItem[] {
    const { ring, family } = this.tail;
    const { after } = this;
    const events: FollowItem[] = [];
    let next = ring.firstSeq;
    let entry = ring.at(next);
    for (; entry && (entry.kind !== 'record' || entry.piece.continued); entry = ring.at(++next))
      if (entry.kind === 'event') events.push(entry.event);
    const until = entry?.kind === 'record' ? entry.cursor : (ring.newest?.end ?? null);
    const bytes = ring.bytesBefore(next) - this.#bytes;
    const gap = { type: 'gap', family, reason: 'slow' } as const;
    const items: FollowItem[] = [];
    let [from, last] = [after, after];
    // What was lost within the gap cannot be loaded: it is reported at its position.
    for (const { event, end, next: behind } of ring.lossesFrom(this.#seq)) {
      if (end !== null && end !== last) items.push({ ...gap, bytes: null, after: from, until: end });
      items.push(event);
      from = behind ?? from;
      last = end;
    }
    this.#seq = next;
    return [...items, { ...gap, bytes, after: from, until }, ...events];
  }
}

const MINUTE_MS = 60_000;

function countOthers(family: string, entries: readonly RingEntry[], wanted: ReadonlySet<RingEntry>): CountedRecords {
  const byMinute = new Map<number, HistogramBucket>();
  for (const entry of entries) {
    if (entry.kind !== 'record' || entry.piece.continued || wanted.has(entry)) continue;
    const { timeMs, rank } = entry.piece.head;
    const startMs = Math.floor(timeMs / MINUTE_MS) * MINUTE_MS;
    const level = LEVELS_BY_RANK[rank] ?? 'NONE';
    const minute = byMinute.get(startMs) ?? { startMs, counts: {} };
    minute.counts[level] = (minute.counts[level] ?? 0) + 1;
    byMinute.set(startMs, minute);
  }
  return { type: 'counted', family, minutes: [...byMinute.values()] };
}

type Mark = ReturnType<typeof decodeCursor>[number];

function isPosition({ checkBytes }: Mark): boolean {
  return checkBytes === 0;
}

function isRecord({ piece, source }: RecordEntry, mark: Mark): boolean {
  if (piece.offset !== mark.offset || piece.bytes.length < mark.checkBytes || mark.checkBytes === 0) return false;
  return fnv1a(piece.bytes, 0, mark.checkBytes) === mark.check && isMarked(mark, source.head);
}

/** The cursor of the byte before the position, up to which everything was delivered. */
function cursorBefore({ positionCursor, text }: LogTail): string | null {
  const [mark] = positionCursor === undefined ? [] : decodeCursor(positionCursor);
  if (!mark || mark.offset === 0) return null;
  return encodeMark({ ...mark, offset: mark.offset - 1, delivered: { bytes: 1, timeMs: text?.firstTimeMs } });
}

/** Files whose delivered end is remembered. On a busy machine the ring may be many rotations behind the history. */
const MAX_FILES = 64;

/** A file, and the end of what was delivered of it. */
export interface DeliveredEnd {
  mark: RecordMark;
  end: number;
}

/** How far the history has delivered each file, so that records the ring also holds are not delivered twice. */
class DeliveredOffsets {
  /** By the hash of the file's first bytes; the one noted last is the last entry. */
  readonly #files = new Map<string, DeliveredEnd>();
  #last: string | undefined;
  #ends = new WeakMap<EntrySource, number>();

  /** The end of the record noted last. */
  get last(): DeliveredEnd | undefined {
    return this.#last === undefined ? undefined : this.#files.get(this.#last);
  }

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
