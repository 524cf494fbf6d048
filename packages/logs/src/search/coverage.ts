import type { CheckedIndex } from '../block-index/checked-index.ts';
import { CancelFlag } from '../cancel-flag.ts';
import { BLOCK_BYTES, blockAt } from '../scan/block/blocks.ts';
import type { ScanFile } from '../scan/block/scan-file.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import { disorderNear } from '../scan/tasks/seek-time.ts';
import type { ReadOptions } from '../types.ts';
import { familyRecords } from './family-records.ts';
import { noteProblem, type OpenFamily } from './files/open-family.ts';
import type { OpenFile } from './files/open-file.ts';
import { FIRST_POSITION, LAST_POSITION, type RecordPosition } from './plan/file-parts.ts';
import type { TimeRange } from './plan/scan-tally.ts';
import { ScanTally } from './plan/scan-tally.ts';
import type { ScanContext } from './scan-context.ts';

/**
 * What was scanned of a family: of the records that start at or after `from` and before `to`, all matches were
 * returned.
 */
export interface CoveredPart {
  family: OpenFamily;
  from: RecordPosition;
  to: RecordPosition;
  /** What is known of the times at an end, if that is not the family's own end. */
  knownFrom?: TimeEdgeOptions['known'];
  knownTo?: TimeEdgeOptions['known'];
}

/** 8 MiB, about 10 ms: read at most at each end to determine it exactly. Busier logs have less coverage. */
const MAX_READ_BLOCKS = 32;

/** For an end that is only reported, not proven. */
const NAMED_READ_BLOCKS = 4;

/**
 * The time range for which a response contains every matching record of the files that could be read. `null` if there
 * is none. A record without a time is in no range.
 */
export async function computeCoverage(
  { scanContext, flag }: { scanContext: ScanContext; flag: CancelFlag },
  parts: readonly CoveredPart[],
  { fromMs, toMs, tally }: { fromMs: number | undefined; toMs: number | undefined; tally: ScanTally },
): Promise<TimeRange | null> {
  if (parts.every(({ family }) => family.files.length === 0)) return null;
  const edgesOn = (side: 'before' | 'from') => parts.flatMap((part) => timeEdges({ scanContext, flag }, part, side));
  const lowMs = (await findLatest(edgesOn('before'), MAX_READ_BLOCKS)) + 1;
  const highMs = -(await findLatest(edgesOn('from'), MAX_READ_BLOCKS)) - 1;
  const isWhole = lowMs === -Infinity && highMs === Infinity;
  // Records have whole milliseconds; the query need not.
  const startMs = fromMs === undefined ? -Infinity : Math.ceil(fromMs);
  const lastMs = toMs === undefined ? Infinity : Math.ceil(toMs) - 1;
  const deletedMs = parts.flatMap(({ family: { deleted = [] } }) => deleted.map((each) => each.toMs));
  const range = { fromMs: Math.max(lowMs, startMs, ...deletedMs), toMs: Math.min(highMs, lastMs) };
  // Nothing is missing beyond the first and the last record: the range ends with them.
  const ends = { scanContext, flag, families: parts.map(({ family }) => family), tally };
  if (range.fromMs === -Infinity) range.fromMs = await firstTime(ends);
  if (range.toMs === Infinity) range.toMs = await lastTime(ends);
  if (isWhole && fromMs === undefined) range.fromMs = Math.min(range.fromMs, lastMs);
  if (isWhole && toMs === undefined) range.toMs = Math.max(range.toMs, startMs);
  const isRange = Number.isFinite(range.fromMs) && Number.isFinite(range.toMs) && range.fromMs <= range.toMs;
  return isRange ? range : null;
}

/** The records that are left out on one side of a part; none if it extends to the end of the family. */
function timeEdges(reader: Reader, part: CoveredPart, side: 'before' | 'from'): TimeEdge[] {
  const { family } = part;
  const [position, known] = side === 'before' ? [part.from, part.knownFrom] : [part.to, part.knownTo];
  const isOpen =
    side === 'before' ? position.file === 0 && position.offset === 0 : position.file >= family.files.length;
  return isOpen ? [] : [new TimeEdge({ ...reader, family, side, position, known })];
}

interface Reader {
  scanContext: ScanContext;
  flag: CancelFlag;
}

interface Ends extends Reader {
  families: readonly OpenFamily[];
  tally: ScanTally;
}

async function firstTime({ families, tally, ...reader }: Ends): Promise<number> {
  const edges = families.map((family) => new TimeEdge({ ...reader, family, side: 'from', position: FIRST_POSITION }));
  // Of many logs, few begin near the earliest time: the others need not be read.
  for (const edge of edges) edge.enter();
  await findLatest(edges, NAMED_READ_BLOCKS * edges.length);
  return edges.reduce((first, { seenMs }) => Math.min(first, -seenMs), tally.minMs);
}

async function lastTime({ families, tally, ...reader }: Ends): Promise<number> {
  const edges = families.map((family) => new TimeEdge({ ...reader, family, side: 'before', position: LAST_POSITION }));
  await findLatest(edges, NAMED_READ_BLOCKS * edges.length);
  const firsts = families.flatMap(({ files }) => files.map(({ firstMs }) => firstMs ?? -Infinity));
  return [...edges.map(({ seenMs }) => seenMs), ...firsts].reduce((a, b) => Math.max(a, b), tally.maxMs);
}

/** The exact latest time of all edges. Only those that could still be the latest are read. */
async function findLatest(edges: readonly TimeEdge[], mostBlocks: number): Promise<number> {
  let left = mostBlocks;
  for (let blocks = 1; left > 0; blocks *= 2) {
    const seenMs = edges.reduce((latest, edge) => Math.max(latest, edge.seenMs), -Infinity);
    const open = edges.filter((edge) => !edge.isOver && edge.latestMs > seenMs);
    if (open.length === 0) break;
    const share = Math.max(1, Math.min(blocks, Math.floor(left / open.length)));
    const read = await Promise.all(open.slice(0, left).map((edge) => edge.advance(share)));
    left -= read.reduce((sum, count) => sum + Math.max(1, count), 0);
  }
  return edges.reduce((latest, edge) => Math.max(latest, edge.latestMs), -Infinity);
}

/** Records from the end examined for a time: garbage at the end of a log is rarely more. */
const MAX_SCANNED_RECORDS = 100;

/** The time range of the families, according to their first and last records. */
export async function timeSpan(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  { client }: ReadOptions,
): Promise<{ firstMs: number; lastMs: number } | undefined> {
  const firsts = families.flatMap(({ files }) => files.flatMap(({ firstMs }) => firstMs ?? []));
  if (firsts.length === 0) return undefined;
  const lasts = await Promise.all(
    families.map((family) => newestTime(scanContext, family, new CancelFlag({ client }))),
  );
  const firstMs = firsts.reduce((a, b) => Math.min(a, b));
  return { firstMs, lastMs: [...lasts.flatMap((time) => time ?? []), ...firsts].reduce((a, b) => Math.max(a, b)) };
}

async function newestTime(scanContext: ScanContext, family: OpenFamily, flag: CancelFlag): Promise<number | undefined> {
  const task = {
    scanContext,
    family,
    range: { from: FIRST_POSITION, to: LAST_POSITION },
    matcher: new RecordMatcher({}),
    newestFirst: true,
    flag,
    tally: new ScanTally(),
    ahead: 0,
  };
  let left = MAX_SCANNED_RECORDS;
  for await (const { found } of familyRecords(task, { filter: {}, raw: false, wanted: () => left })) {
    const timeMs = found.times.find((time) => !Number.isNaN(time));
    if (timeMs !== undefined) return timeMs;
    left -= found.times.length;
    if (left <= 0) return undefined;
  }
  return undefined;
}

interface TimeEdgeOptions {
  scanContext: ScanContext;
  flag: CancelFlag;
  family: OpenFamily;
  /** Which records are meant: those that start before the position, or those that start at or after it. */
  side: 'before' | 'from';
  position: RecordPosition;
  /** A time of one of them, and one of a record on the other side of the position. */
  known?: { insideMs: number; outsideMs: number } | undefined;
}

/**
 * The latest time of the records before a position in a family, or the earliest of those from it on. Records are only
 * roughly in order, so it reads on, block by block, until the rest cannot change the result. On the side where the
 * earliest time is wanted, times are negated: "later" means further into the part that was scanned.
 */
class TimeEdge {
  /** The latest time seen; `-Infinity`: none yet. */
  seenMs = -Infinity;
  /** Nothing is left to read, or the rest cannot be read without decompressing a whole file. */
  isOver = false;
  readonly #options: TimeEdgeOptions;
  readonly #sign: 1 | -1;
  #file: number;
  /** Before: the end offset of the next read. From: its start offset. */
  #offset: number;
  #boundMs = Infinity;
  readonly #files: Map<OpenFile, ScanFile> = new Map();
  /** Looking one up takes as long as all else of an edge that need not be read. */
  readonly #indexes: Map<OpenFile, CheckedIndex> = new Map();

  constructor(options: TimeEdgeOptions) {
    const { side, position, known, family } = options;
    this.#options = options;
    this.#sign = side === 'before' ? 1 : -1;
    const isBehindAll = position.file >= family.files.length;
    this.#file = isBehindAll ? family.files.length : position.file;
    this.#offset = isBehindAll ? 0 : position.offset;
    if (known) {
      if (!Number.isNaN(known.insideMs)) this.#note(known.insideMs, known.insideMs);
      this.#limit(known.outsideMs);
    }
  }

  /** No record is later. The exact time of a record if that is known, else a bound. */
  get latestMs(): number {
    return Math.max(
      this.seenMs,
      this.#isInOrder ? this.#boundMs : this.isOver && this.#boundMs === -Infinity ? -Infinity : Infinity,
    );
  }

  /** Notes what is known of its first file without reading it. */
  enter(): void {
    this.#enterFile();
  }

  /** Reads on for up to `blocks` blocks; what earlier scans know is free. Returns the number of blocks read. */
  async advance(blocks: number): Promise<number> {
    for (;;) {
      const opened = this.#enterFile();
      if (!opened) return 0;
      const { scanContext, flag, family } = this.#options;
      try {
        const file = this.#files.get(opened) ?? (await scanContext.prepare(opened, flag, family.problems));
        this.#files.set(opened, file);
        const read = await this.#readNext(opened, file, blocks);
        if (read > 0 || this.seenMs >= this.latestMs) return read;
      } catch (error) {
        this.isOver = true;
        return noteProblem(family.problems, opened.name, error) ?? 0;
      }
    }
  }

  /** The next file to read; `undefined`: there is none, or it cannot be read without much work. */
  #enterFile(): OpenFile | undefined {
    const { scanContext, family, side } = this.#options;
    for (;;) {
      if (side === 'before' && this.#offset <= 0) this.#moveTo(this.#file - 1, Infinity);
      const opened = family.files[this.#file];
      if (!opened) {
        this.isOver = true;
        this.#boundMs = -Infinity;
        return undefined;
      }
      if (opened.timed && opened.firstMs !== null && side === 'from' && this.#offset === 0)
        this.#note(opened.firstMs, opened.firstMs);
      if (opened.timed && scanContext.isReady(opened)) return opened;
      if (opened.timed) {
        this.isOver = true;
        return undefined;
      }
      // Records without times are in no time range.
      this.#moveTo(this.#file + (side === 'before' ? -1 : 1), side === 'before' ? Infinity : 0);
    }
  }

  async #readNext(opened: OpenFile, file: ScanFile, most: number): Promise<number> {
    const { scanContext, flag, side } = this.#options;
    const { textBytes } = file;
    const index = this.#indexOf(opened);
    const isBefore = side === 'before';
    for (;;) {
      const offset = Math.min(this.#offset, textBytes);
      if (!isBefore && offset >= textBytes) {
        this.#moveTo(this.#file + 1, 0);
        return 0;
      }
      const block = blockAt(isBefore ? Math.max(0, offset - 1) : offset);
      const isWhole = isBefore ? offset >= Math.min(textBytes, (block + 1) * BLOCK_BYTES) : offset % BLOCK_BYTES === 0;
      const known = isWhole ? (index.get(block)?.all ?? index.lastTimes(block)) : undefined;
      if (!known) {
        const first = isBefore ? Math.max(0, block - most + 1) : block;
        const end = isBefore ? block + 1 : Math.min(block + most, blockAt(textBytes - 1) + 1);
        const [startBytes, endBytes] = isBefore ? [0, offset] : [offset, textBytes];
        const job = { kind: 'times' as const, file, runs: [first, end], startBytes, endBytes };
        const { minMs, maxMs, summaries, blocks } = await scanContext.pool.run(job, flag);
        for (const summary of summaries) index.add(summary);
        scanContext.indexes.trim();
        // Small files have no complete block: of thousands, each would be read again by every search.
        const isLast = isWhole && end - first === 1 && end * BLOCK_BYTES > textBytes;
        if (isLast && blocks[0] === block) index.noteLastTimes({ block, minMs, maxMs });
        this.#note(minMs, maxMs);
        this.#offset = isBefore ? first * BLOCK_BYTES : end * BLOCK_BYTES;
        return end - first;
      }
      this.#note(known.minMs, known.maxMs);
      this.#offset = isBefore ? block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES;
      if (this.seenMs >= this.latestMs || this.#offset <= 0) return 0;
    }
  }

  #moveTo(file: number, offset: number): void {
    this.#file = file;
    this.#offset = offset;
  }

  #note(minMs: number, maxMs: number): void {
    if (minMs > maxMs) return;
    this.seenMs = Math.max(this.seenMs, this.#sign === 1 ? maxMs : -minMs);
    this.#limit(this.#sign === 1 ? minMs : maxMs);
  }

  /** What remains to be read can be later than the records read so far only by the usual disorder. */
  #limit(timeMs: number): void {
    if (!Number.isFinite(timeMs)) return;
    const boundMs = this.#sign * timeMs + disorderNear(this.#options.scanContext.zone, timeMs);
    this.#boundMs = Math.min(this.#boundMs, boundMs);
  }

  get #isInOrder(): boolean {
    const { scanContext, family } = this.#options;
    const slackAt = (timeMs: number) => disorderNear(scanContext.zone, timeMs);
    return family.files.every((file) => this.#indexOf(file).times(slackAt).isInOrder);
  }

  #indexOf(file: OpenFile): CheckedIndex {
    const index = this.#indexes.get(file) ?? this.#options.scanContext.indexFor(file);
    this.#indexes.set(file, index);
    return index;
  }
}
