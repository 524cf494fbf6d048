import type { CheckedIndex } from '../block-index/checked-index.ts';
import type { CancelFlag } from '../cancel-flag.ts';
import { decodeCursor, encodeMark, fnv1a, HEAD_BYTES, type RecordMark } from '../cursor/cursor.ts';
import { isMarked } from '../cursor/file-mark.ts';
import { LogError } from '../log-error.ts';
import { LogSources } from '../query/log-sources.ts';
import { BLOCK_BYTES, blockAt } from '../scan/block/blocks.ts';
import { disorderNear, SMALL_BYTES } from '../scan/tasks/seek-time.ts';
import type { SearchQuery, StartPoint } from '../types.ts';
import { noteUntimed, type OpenFamily } from './files/open-family.ts';
import type { OpenFile } from './files/open-file.ts';
import { FIRST_POSITION, LAST_POSITION, type PositionRange, type RecordPosition } from './plan/file-parts.ts';
import { learnTimes } from './plan/narrow-bounds.ts';
import type { ScanTally } from './plan/scan-tally.ts';
import type { ScanContext } from './scan-context.ts';

/** What positions are found with, and what cancels finding them. */
interface PositionFinder {
  scanContext: ScanContext;
  flag: CancelFlag;
  /** Counts what is read, and left unread, to find them. */
  tally: ScanTally;
}

/** The part of a family a query covers. */
export async function findRange(finder: PositionFinder, family: OpenFamily, query: SearchQuery): Promise<FamilyPart> {
  const newestFirst = query.order === 'newest';
  const range: PositionRange = { from: FIRST_POSITION, to: LAST_POSITION };
  const found = { start: query.start === undefined, until: query.until === undefined };
  const start =
    query.start && ((await startPosition(finder, family, query.start)) ?? (await startByTime(finder, family, query)));
  if (start) {
    found.start = true;
    if (newestFirst) range.to = start.position;
    else range.from = start.inclusive ? start.position : after(start.position);
  }
  const until =
    query.until === undefined
      ? undefined
      : ((await findAny(finder, family, query.until)) ?? (await findShortenedEnd(finder, family, query)));
  if (until) {
    found.until = true;
    if (newestFirst) range.from = after(until.position);
    else range.to = until.position;
  } else if (query.until !== undefined) {
    // The query ends in other logs: nothing of this one is asked for.
    if (newestFirst) range.from = range.to;
    else range.to = range.from;
  }
  return {
    range,
    found,
    cursor: start && (start.cursor ?? (await edgeCursor(finder, family, range, newestFirst))),
    restFrom: newestFirst ? undefined : start?.restFrom,
  };
}

export interface FamilyPart {
  range: PositionRange;
  /** Whether the records the query names are in this family. */
  found: { start: boolean; until: boolean };
  /** Names the record, or the position, next to which the scan begins. */
  cursor: string | undefined;
  /** The first byte after what was delivered of the record next to which the scan begins. */
  restFrom: RecordPosition | undefined;
}

/**
 * The cursor of the position where a scan begins that did not begin at a record: it may end before it has emitted
 * anything of this family. `undefined` if it begins at the family's first (newest first: last) record, as it does
 * without a cursor.
 */
async function edgeCursor(
  { scanContext, flag }: PositionFinder,
  { files, problems }: OpenFamily,
  { from, to }: PositionRange,
  newestFirst: boolean,
): Promise<string | undefined> {
  const position = newestFirst ? to : from;
  const isWhole = newestFirst ? position === LAST_POSITION : position.file === 0 && position.offset === 0;
  if (isWhole) return undefined;
  const encode = async (number: number, offset: number | undefined) => {
    const file = files[number];
    if (!file) return undefined;
    const end = offset ?? (await scanContext.prepare(file, flag, problems)).textBytes;
    return encodeMark({ ...file.mark, file: file.name, offset: end, check: fnv1a(NO_BYTES, 0, 0), checkBytes: 0 });
  };
  if (newestFirst) return encode(position.file, position.offset);
  // What starts at a position is next to the byte before it, which may be the last one of the previous file.
  if (position.file >= files.length) return encode(files.length - 1, undefined);
  return position.offset > 0 ? encode(position.file, position.offset - 1) : encode(position.file - 1, undefined);
}

const NO_BYTES = new Uint8Array(0);

function after({ file, offset }: RecordPosition): RecordPosition {
  return { file, offset: offset + 1 };
}

interface Start {
  position: RecordPosition;
  inclusive: boolean;
  cursor?: string;
  restFrom?: RecordPosition | undefined;
}

async function startPosition(
  finder: PositionFinder,
  family: OpenFamily,
  start: StartPoint,
): Promise<Start | undefined> {
  if ('timeMs' in start) return { position: await positionAtTime(finder, family, start.timeMs), inclusive: true };
  if ('offset' in start) return { position: await positionAtOffset(finder, family, start.offset), inclusive: true };
  const found = await findAny(finder, family, 'cursor' in start ? start.cursor : start.record);
  if (!found) return undefined;
  if ('record' in start) return { position: found.position, inclusive: true };
  // If nothing of the record was delivered, the record itself is next.
  return { ...found, inclusive: found.restFrom?.offset === found.position.offset };
}

/**
 * A cursor that includes how far its record was delivered continues by time if the record no longer exists, which is
 * reported: the files that are left are usually newer. For one log only, and not without a time.
 */
async function startByTime(
  finder: PositionFinder,
  family: OpenFamily,
  { src, start, order }: SearchQuery,
): Promise<Start | undefined> {
  if (order === 'newest' || !start || !('cursor' in start) || !new LogSources(src).only) return;
  const mark = decodeCursor(start.cursor).findLast(({ delivered }) => delivered?.timeMs !== undefined);
  if (mark?.delivered?.timeMs === undefined) return;
  const { code, message: detail } = recordGone();
  family.problems.push({ file: mark.file, code, detail });
  return { position: await positionAtTime(finder, family, mark.delivered.timeMs), inclusive: true };
}

/**
 * If the record that ends a range no longer exists, but its text does: the range ends with what is left of it, and the
 * loss is reported.
 */
async function findShortenedEnd(
  finder: PositionFinder,
  family: OpenFamily,
  { until, order }: SearchQuery,
): Promise<{ position: RecordPosition } | undefined> {
  if (until === undefined || order === 'newest') return undefined;
  for (const mark of decodeCursor(until)) {
    const position = await findShortened(finder, family, mark);
    if (!position) continue;
    const { code, message: detail } = recordGone();
    family.problems.push({ file: mark.file, code, detail });
    return { position };
  }
  return undefined;
}

/** A cursor may name records of several logs: the one of this family counts. */
async function findAny(
  finder: PositionFinder,
  family: OpenFamily,
  cursor: string,
): Promise<{ position: RecordPosition; cursor: string; restFrom: RecordPosition | undefined } | undefined> {
  for (const mark of decodeCursor(cursor)) {
    const position = await findRecord(finder, family, mark);
    if (!position) continue;
    const { delivered } = mark;
    const restFrom = delivered && { file: position.file, offset: position.offset + delivered.bytes };
    return { position, cursor: encodeMark(mark), restFrom };
  }
  return undefined;
}

async function positionAtOffset(
  { scanContext, flag }: PositionFinder,
  { files, problems }: OpenFamily,
  offset: number,
): Promise<RecordPosition> {
  const [file] = files;
  if (!file) return LAST_POSITION;
  const scanFile = await scanContext.prepare(file, flag, problems);
  return { file: 0, offset: await scanContext.pool.run({ kind: 'align', file: scanFile, offset }, flag) };
}

/**
 * The first record, in the family's order, that is not older. What the bisection of a large file passes over is read as
 * far as the query may read more than it needs, nearest first; the rest counts as unread.
 */
async function positionAtTime(finder: PositionFinder, family: OpenFamily, timeMs: number): Promise<RecordPosition> {
  const { scanContext, flag, tally } = finder;
  const slackAt = (at: number) => disorderNear(scanContext.zone, at);
  for (const [number, file] of family.files.entries()) {
    if (!file.timed) {
      noteUntimed(family.problems, file.name);
      continue;
    }
    // Lines before its first timestamp continue the last record of the previous file: they are not older either.
    if (file.firstMs !== null && file.firstMs >= timeMs) return { file: number, offset: 0 };
    const index = scanContext.indexFor(file);
    const known = index.times(slackAt);
    const next = family.files[number + 1]?.firstMs;
    // All of it is older than the start of the next one.
    const isBefore = typeof next === 'number' && next < timeMs - slackAt(timeMs);
    const isLarge = file.compressed || file.handle.sizeBytes > Math.max(SMALL_BYTES, tally.extraBytes);
    if (isBefore && isLarge && known.isInOrder && known.maxMs < timeMs) {
      tally.leaveUnread(file.handle.sizeBytes);
      continue;
    }
    const scanFile = await scanContext.prepare(file, flag, family.problems);
    const firstAt = (scanFrom: number | undefined) =>
      scanContext.pool.run({ kind: 'first-at', file: scanFile, timeMs, scanFrom }, flag);
    const isSmall = scanFile.textBytes <= SMALL_BYTES;
    const scanFrom = scanStart(index, timeMs, slackAt) ?? (isSmall ? 0 : undefined);
    const first = await firstAt(scanFrom);
    let { offset } = first;
    if (scanFrom === undefined && first.scannedFrom > 0) {
      const passed = blocksBefore(first.scannedFrom);
      await learnTimes(finder, { file: scanFile, index }, passed);
      const early = scanStart(index, timeMs, slackAt) ?? firstBlockAt(index, passed, timeMs);
      if (early === undefined) leaveUnknown(finder, index, passed);
      else ({ offset } = await firstAt(early));
    }
    if (offset < scanFile.textBytes) return { file: number, offset };
  }
  return LAST_POSITION;
}

/** Where to search for a time in a file known not to be in order: at the first block that may contain it. */
function scanStart(index: CheckedIndex, timeMs: number, slackAt: (timeMs: number) => number): number | undefined {
  if (index.times(slackAt).isInOrder) return undefined;
  let block = 0;
  for (let known = index.get(block)?.all; known && !(known.maxMs >= timeMs); known = index.get(block)?.all) block++;
  return block * BLOCK_BYTES;
}

/** The blocks before the one at an offset, the nearest first. */
function blocksBefore(offset: number): number[] {
  return Array.from({ length: blockAt(offset) }, (_, step) => blockAt(offset) - 1 - step);
}

/** The offset of the first of these blocks that is known to contain the time. */
function firstBlockAt(index: CheckedIndex, blocks: readonly number[], timeMs: number): number | undefined {
  const first = blocks.findLast((block) => (index.peek(block)?.all?.maxMs ?? -Infinity) >= timeMs);
  return first === undefined ? undefined : first * BLOCK_BYTES;
}

/** Counts blocks of which nothing is known as unread. */
function leaveUnknown({ tally }: PositionFinder, index: CheckedIndex, blocks: readonly number[]): void {
  const unknown = blocks.filter((block) => !index.get(block)?.all);
  if (unknown.length > 0) tally.leaveUnread(unknown.length * BLOCK_BYTES);
}

/**
 * The current position of the marked record: the file is identified by the start of its text, whatever its name has
 * become, and the record by its own first bytes. `undefined` if none of the files contains it.
 */
async function findRecord(
  finder: PositionFinder,
  family: OpenFamily,
  mark: RecordMark,
): Promise<RecordPosition | undefined> {
  const numbers = family.files.map((_, index) => index);
  // The name it had is the likeliest.
  numbers.sort((a, b) => Number(family.files[b]?.name === mark.file) - Number(family.files[a]?.name === mark.file));
  for (const file of numbers) {
    const candidate = family.files[file];
    if (candidate && (await holds(finder, candidate, mark, family))) return { file, offset: mark.offset };
  }
  return undefined;
}

/**
 * The end of the text in which the marked record was beyond all that is left: it was written between the copying and
 * the truncation of its file. What is left precedes it.
 */
async function findShortened(
  { scanContext, flag }: PositionFinder,
  family: OpenFamily,
  mark: RecordMark,
): Promise<RecordPosition | undefined> {
  for (const [file, candidate] of family.files.entries()) {
    if (mark.headBytes === 0 || !isSameHead(candidate, mark)) continue;
    const { textBytes } = await scanContext.prepare(candidate, flag, family.problems);
    if (mark.offset + mark.checkBytes > textBytes) return { file, offset: textBytes };
  }
  return undefined;
}

async function holds(
  { scanContext, flag }: PositionFinder,
  file: OpenFile,
  mark: RecordMark,
  family: OpenFamily,
): Promise<boolean> {
  if (!isSameHead(file, mark)) return false;
  const scanFile = await scanContext.prepare(file, flag, family.problems);
  if (mark.offset + mark.checkBytes > scanFile.textBytes) return false;
  if (mark.checkBytes === 0) return true;
  const { offset, checkBytes: bytes, check } = mark;
  return (await scanContext.pool.run({ kind: 'check', file: scanFile, offset, bytes }, flag)) === check;
}

/** A mark made when the file was shorter than the usual head is compared with that length. */
function isSameHead({ mark, head }: OpenFile, wanted: RecordMark): boolean {
  return wanted.headBytes === HEAD_BYTES || wanted.headBytes === mark.headBytes
    ? wanted.headHash === mark.headHash
    : isMarked(wanted, head);
}

export function recordGone(): LogError {
  return new LogError('CURSOR_GONE', 'the record of this cursor no longer exists: its file was removed or rewritten');
}
