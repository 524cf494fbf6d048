import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { byteRarity, GRAM_ROWS, type Needle } from '../../kernel/scan-kernel.ts';
import { systemCode } from '../../log-error.ts';
import { GRAM_BYTES, type KeptSegment, type ProbeJob, type ProbeResult } from '../index-jobs.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { requiredNeedles } from '../match/required-needles.ts';

/** Rows that have a checksum together: at most a page of a disk. */
export const ROWS_PER_GROUP = 64;

type Bits = Uint8Array<ArrayBuffer>;

/** The rows of one text: a block has all of them, or it does not contain it. */
type TextRows = readonly number[];

/** Which blocks may contain a record that matches. Reads a few rows of each segment. */
export function probe(
  { format, fd, segments }: Omit<ProbeJob, 'kind' | 'filter'>,
  matcher: RecordMatcher,
  isCancelled: () => boolean,
): ProbeResult {
  const sets = requiredNeedles(matcher, format)
    .map((needles) => needles.map(gramRows))
    .filter((texts) => texts.every((rows) => rows.length > 0));
  const result: ProbeResult = { bits: segments.map(() => null), isDamaged: false };
  if (sets.length === 0) return result;
  for (const [index, segment] of segments.entries()) {
    if (isCancelled()) break;
    const bits = probeSegment(new SegmentRows(fd, segment), sets);
    if (!bits) result.isDamaged = true;
    else result.bits[index] = bits;
  }
  return result;
}

/** The blocks that may contain a text of each set; `undefined` if the rows cannot be read. */
function probeSegment(rows: SegmentRows, sets: readonly (readonly TextRows[])[]): Bits | undefined {
  let all: Bits = new Uint8Array(rows.rowBytes).fill(255);
  for (const texts of sets) {
    const some: Bits = new Uint8Array(rows.rowBytes);
    for (const text of texts) {
      const found = rows.withAll(text, all);
      if (!found) return undefined;
      for (let at = 0; at < some.length; at++) some[at] = (some[at] ?? 0) | (found[at] ?? 0);
    }
    all = some;
    if (isZero(all)) break;
  }
  return all;
}

class SegmentRows {
  readonly rowBytes: number;
  readonly #fd: number;
  readonly #segment: ProbeJob['segments'][number];
  readonly #groups = new Map<number, Bits>();

  constructor(fd: number, segment: ProbeJob['segments'][number]) {
    this.#fd = fd;
    this.#segment = segment;
    this.rowBytes = segment.width / 8;
  }

  /** The blocks among these that have all the rows; `undefined` if one cannot be read. */
  withAll(rows: TextRows, among: Bits): Bits | undefined {
    const blocks: Bits = among.slice();
    for (const row of rows) {
      const group = this.#group(Math.floor(row / ROWS_PER_GROUP));
      if (!group) return undefined;
      const from = (row % ROWS_PER_GROUP) * this.rowBytes;
      for (let at = 0; at < blocks.length; at++) blocks[at] = (blocks[at] ?? 0) & (group[from + at] ?? 0);
      if (isZero(blocks)) break;
    }
    return blocks;
  }

  #group(index: number): Bits | undefined {
    const known = this.#groups.get(index);
    if (known) return known;
    const group: Bits = new Uint8Array(groupBytes(this.#segment.width));
    if (!readRowGroup(this.#fd, this.#segment, index, group)) return undefined;
    this.#groups.set(index, group);
    return group;
  }
}

function isZero(bits: Bits): boolean {
  return bits.every((byte) => byte === 0);
}

/** More grams of one text exclude hardly any more blocks. */
const MAX_GRAMS = 64;

/** The rows of the grams that a block must have to contain the needle, presumably rare ones first; none: too short. */
export function gramRows({ bytes }: Pick<Needle, 'bytes'>): number[] {
  const grams = new Map<number, number>();
  for (let at = 0; at + GRAM_BYTES <= bytes.length; at++) {
    let [gram, rarity] = [0, 0];
    for (let k = 0; k < GRAM_BYTES; k++) {
      const byte = foldByte(bytes[at + k] ?? 0);
      gram |= byte << (8 * k);
      rarity += byteRarity(byte);
    }
    grams.set(rowOf(gram), rarity);
  }
  const rows = [...grams].sort(([, a], [, b]) => b - a).map(([row]) => row);
  return rows.slice(0, MAX_GRAMS);
}

/** As in kernel/scan/text-grams.ts. */
function rowOf(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> 17;
}

function foldByte(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

/** The checksum of each group of rows. */
export function groupSums(rows: Uint8Array, width: number): Uint32Array<ArrayBuffer> {
  const bytes = groupBytes(width);
  return Uint32Array.from({ length: GRAM_ROWS / ROWS_PER_GROUP }, (_, group) =>
    crc32(rows.subarray(group * bytes, (group + 1) * bytes)),
  );
}

/** Reads a group of rows; `false` if it cannot be read, or is damaged. */
export function readRowGroup(
  fd: number,
  { at, width, sums }: Pick<KeptSegment, 'at' | 'width' | 'sums'>,
  group: number,
  target: Uint8Array,
): boolean {
  const bytes = groupBytes(width);
  const rows = target.subarray(0, bytes);
  try {
    if (readSync(fd, rows, 0, bytes, at + group * bytes) < bytes) return false;
  } catch (error) {
    // An index that cannot be read is as good as none.
    if (systemCode(error) === undefined) throw error;
    return false;
  }
  return crc32(rows) === sums[group];
}

export function groupBytes(width: number): number {
  return (ROWS_PER_GROUP * width) / 8;
}
