import { checkOf, decodeCursor, encodeMark } from '../cursor/cursor.ts';
import type { CheckedIndex } from '../index/checked-index.ts';
import { BLOCK_BYTES } from '../scan/blocks.ts';
import type { CancelFlag } from '../scan/cancel-flag.ts';
import { disorderNear } from '../scan/seek-time.ts';
import type { SearchQuery, StartPoint } from '../types.ts';
import { findRecord, findShortened, recordGone } from './find-record.ts';
import { noteUntimed, type OpenFamily } from './open-family.ts';
import type { ScanShop } from './scan-shop.ts';

/** A place in a family: a file, by its number, and an offset in its text. */
export interface Place {
  file: number;
  offset: number;
}

/** Records are looked at whose start is at or behind `from` and before `to`. */
export interface PlaceRange {
  from: Place;
  to: Place;
}

/** Before everything, and behind everything. */
export const FIRST_PLACE: Place = { file: 0, offset: 0 };
export const LAST_PLACE: Place = { file: Number.MAX_SAFE_INTEGER, offset: 0 };

/** What places are looked for with, and what gives the looking up. */
export interface PlaceFinder {
  shop: ScanShop;
  flag: CancelFlag;
}

/** The part of a family a query is about. */
export async function rangeOf(finder: PlaceFinder, family: OpenFamily, query: SearchQuery): Promise<FamilyPart> {
  const newestFirst = query.order === 'newest';
  const range: PlaceRange = { from: FIRST_PLACE, to: LAST_PLACE };
  const found = { start: query.start === undefined, until: query.until === undefined };
  const start =
    query.start && ((await startPlace(finder, family, query.start)) ?? (await byTime(finder, family, query)));
  if (start) {
    found.start = true;
    if (newestFirst) range.to = start.place;
    else range.from = start.inclusive ? start.place : behind(start.place);
  }
  const until =
    query.until === undefined
      ? undefined
      : ((await findAny(finder, family, query.until)) ?? (await endOfRest(finder, family, query)));
  if (until) {
    found.until = true;
    if (newestFirst) range.from = behind(until.place);
    else range.to = until.place;
  }
  return {
    range,
    found,
    cursor: start && (start.cursor ?? (await edgeCursor(finder, family, range, newestFirst))),
    restFrom: newestFirst ? undefined : start?.restFrom,
  };
}

export interface FamilyPart {
  range: PlaceRange;
  /** Whether the records the query names are of this family. */
  found: { start: boolean; until: boolean };
  /** Of the record, or the place, the scan begins next to. */
  cursor: string | undefined;
  /** The first byte behind what was delivered of the record that the scan begins next to. */
  restFrom: Place | undefined;
}

/**
 * Names the place where a scan begins that was not begun at a record: it may end before it has told anything of this
 * family. `undefined` where it begins at the family's first (newest first: last) record, as it does without a cursor.
 */
async function edgeCursor(
  { shop, flag }: PlaceFinder,
  { files, problems }: OpenFamily,
  { from, to }: PlaceRange,
  newestFirst: boolean,
): Promise<string | undefined> {
  const place = newestFirst ? to : from;
  const isWhole = newestFirst ? place === LAST_PLACE : place.file === 0 && place.offset === 0;
  if (isWhole) return undefined;
  const encode = async (number: number, offset: number | undefined) => {
    const file = files[number];
    if (!file) return undefined;
    const end = offset ?? (await shop.prepare(file, flag, problems)).textBytes;
    return encodeMark({ ...file.mark, file: file.name, offset: end, check: checkOf(NO_BYTES, 0, 0), checkBytes: 0 });
  };
  if (newestFirst) return encode(place.file, place.offset);
  // What starts at a place is next to the byte before it, which may be the last one of the file before.
  if (place.file >= files.length) return encode(files.length - 1, undefined);
  return place.offset > 0 ? encode(place.file, place.offset - 1) : encode(place.file - 1, undefined);
}

const NO_BYTES = new Uint8Array(0);

function behind({ file, offset }: Place): Place {
  return { file, offset: offset + 1 };
}

interface Start {
  place: Place;
  inclusive: boolean;
  cursor?: string;
  restFrom?: Place | undefined;
}

async function startPlace(finder: PlaceFinder, family: OpenFamily, start: StartPoint): Promise<Start | undefined> {
  if ('timeMs' in start) return { place: await placeAt(finder, family, start.timeMs), inclusive: true };
  if ('offset' in start) return { place: await placeOf(finder, family, start.offset), inclusive: true };
  const found = await findAny(finder, family, 'cursor' in start ? start.cursor : start.record);
  if (!found) return undefined;
  if ('record' in start) return { place: found.place, inclusive: true };
  // Of a record of which nothing was delivered the record itself is next.
  return { ...found, inclusive: found.restFrom?.offset === found.place.offset };
}

/**
 * A cursor that says how far its record was delivered continues by time when the record is gone, and that is reported: the
 * files that are left are newer as a rule. Of one log only, and not without a time.
 */
async function byTime(
  finder: PlaceFinder,
  family: OpenFamily,
  { file, family: wanted, start, order }: SearchQuery,
): Promise<Start | undefined> {
  if (order === 'newest' || !start || !('cursor' in start) || (file === undefined && wanted === undefined)) return;
  const gone = decodeCursor(start.cursor).findLast(({ delivered }) => delivered?.timeMs !== undefined);
  if (gone?.delivered?.timeMs === undefined) return;
  const { code, message: detail } = recordGone();
  family.problems.push({ file: gone.file, code, detail });
  return { place: await placeAt(finder, family, gone.delivered.timeMs), inclusive: true };
}

/** Where the end of a range is gone, but not the text it stood in: what is left of that, and that some is gone is reported. */
async function endOfRest(
  finder: PlaceFinder,
  family: OpenFamily,
  { until, order }: SearchQuery,
): Promise<{ place: Place } | undefined> {
  if (until === undefined || order === 'newest') return undefined;
  for (const mark of decodeCursor(until)) {
    const place = await findShortened(finder, family, mark);
    if (!place) continue;
    const { code, message: detail } = recordGone();
    family.problems.push({ file: mark.file, code, detail });
    return { place };
  }
  return undefined;
}

/** A cursor may name records of several logs: the one of this family counts. */
async function findAny(
  finder: PlaceFinder,
  family: OpenFamily,
  cursor: string,
): Promise<{ place: Place; cursor: string; restFrom: Place | undefined } | undefined> {
  for (const mark of decodeCursor(cursor)) {
    const place = await findRecord(finder, family, mark);
    if (!place) continue;
    const { delivered } = mark;
    const restFrom = delivered && { file: place.file, offset: place.offset + delivered.bytes };
    return { place, cursor: encodeMark(mark), restFrom };
  }
  return undefined;
}

async function placeOf({ shop, flag }: PlaceFinder, { files, problems }: OpenFamily, offset: number): Promise<Place> {
  const [file] = files;
  if (!file) return LAST_PLACE;
  const scanFile = await shop.prepare(file, flag, problems);
  return { file: 0, offset: await shop.pool.run({ kind: 'align', file: scanFile, offset }, flag) };
}

/** The first record, in the family's order, that is not older. */
async function placeAt({ shop, flag }: PlaceFinder, { files, problems }: OpenFamily, timeMs: number): Promise<Place> {
  const slackMs = disorderNear(shop.zone, timeMs);
  for (const [number, file] of files.entries()) {
    const next = files[number + 1]?.firstMs;
    // All of it is older than what the next one starts with.
    if (!file.timed) {
      noteUntimed(problems, file.name);
      continue;
    }
    // Lines in front of its first timestamp continue what the file before it ended with: they are not older either.
    if (file.firstMs !== null && file.firstMs >= timeMs) return { file: number, offset: 0 };
    const index = shop.indexOf(file);
    const known = index.times((at) => disorderNear(shop.zone, at));
    if (typeof next === 'number' && next < timeMs - slackMs && known.isInOrder && known.maxMs < timeMs) continue;
    const scanFile = await shop.prepare(file, flag, problems);
    const scanFrom = scanStart(index, timeMs, (at) => disorderNear(shop.zone, at));
    const offset = await shop.pool.run({ kind: 'first-at', file: scanFile, timeMs, scanFrom }, flag);
    if (offset < scanFile.textBytes) return { file: number, offset };
  }
  return LAST_PLACE;
}

/** Where to look for a time in a file that is known not to be in order: at its first block that may hold it. */
function scanStart(index: CheckedIndex, timeMs: number, slackAt: (timeMs: number) => number): number | undefined {
  if (index.times(slackAt).isInOrder) return undefined;
  let block = 0;
  for (let known = index.get(block)?.all; known && !(known.maxMs >= timeMs); known = index.get(block)?.all) block++;
  return block * BLOCK_BYTES;
}
