import { EMPTY_BATCH, OriginList, originAt, type RecordBatch, startOf } from '@porthole/records';
import { isTime } from '../to-cluster-record.ts';
import type { MemberRun } from './member-lane.ts';

/** More than `,"atMs":-8640000000000000,"isUnsure":true,` has. */
const MOST_ADDED_BYTES = 64;

const ZERO = 0x30;

/** What follows the time. Most records of members that take turns are closer than their clocks are known. */
const [SURE, UNSURE] = [Buffer.from(','), Buffer.from(',"isUnsure":true,')];

/** What is written of a run. */
type WrittenRun = Pick<MemberRun, 'lane' | 'node' | 'batch' | 'from' | 'to' | 'isUnsure'>;

/** What the line of a record of a member starts with. */
interface LineStart {
  /** Up to its node. */
  node: Buffer;
  /** Up to its time. */
  time: Buffer;
}

/** Makes batches of a cluster from runs of its members: each line gets its node and its time by the clock of this node. */
export class ClusterBatchWriter {
  readonly #starts = new Map<string, LineStart>();
  readonly #reusesMemory: boolean;
  #room = Buffer.alloc(0);

  /** With `reusesMemory`, a batch is no longer used when the next one is written. */
  constructor({ reusesMemory = false }: { reusesMemory?: boolean | undefined } = {}) {
    this.#reusesMemory = reusesMemory;
  }

  /** All records of one node, whose times are those of its own clock. */
  writeAll(batch: RecordBatch, node: string): RecordBatch {
    return this.write([{ lane: 0, node, batch, from: 0, to: batch.ends.length, isUnsure: false }]);
  }

  write(runs: readonly WrittenRun[]): RecordBatch {
    if (runs.length === 0) return EMPTY_BATCH;
    let [count, most] = [0, 0];
    for (const { node, batch, from, to } of runs) {
      const added = this.#startFor(node).time.length + MOST_ADDED_BYTES;
      most += (to - from) * added + startOf(batch, to) - startOf(batch, from);
      count += to - from;
    }
    const target = this.#take(most);
    const origins = new OriginList();
    const written = {
      type: 'batch' as const,
      bytes: target,
      ends: new Uint32Array(count),
      times: new Float64Array(count),
      offsets: new Float64Array(count),
      originOf: new Uint16Array(count),
      origins: origins.list,
    };
    // By lane: most batches are of one file.
    const files = new Map<number, { batch: RecordBatch; origin: number }>();
    let [at, index] = [0, 0];
    for (const run of runs) {
      const { lane, node, batch, from, to, isUnsure } = run;
      const lineStart = this.#startFor(node);
      let known = files.get(lane);
      if (known?.batch !== batch) {
        known = { batch, origin: origins.indexOf(originAt(batch, from).file, node) };
        files.set(lane, known);
      }
      // Most runs of members that take turns are single records, for which even a view of an array is dear.
      for (let row = from; row < to; row++, index++) {
        at = writeLine(target, at, { lineStart, batch, row, isUnsure: isUnsure && row === from });
        written.ends[index] = at;
        written.times[index] = batch.times[row] as number;
        written.offsets[index] = batch.offsets[row] as number;
        written.originOf[index] =
          batch.originOf === undefined ? known.origin : origins.indexOf(originAt(batch, row).file, node);
      }
    }
    written.bytes = target.subarray(0, at);
    return written;
  }

  #take(bytes: number): Buffer {
    if (!this.#reusesMemory) return Buffer.allocUnsafe(bytes);
    if (this.#room.length < bytes) this.#room = Buffer.allocUnsafeSlow(Math.ceil(bytes * 1.25));
    return this.#room;
  }

  #startFor(name: string): LineStart {
    const known = this.#starts.get(name);
    if (known) return known;
    const node = Buffer.from(`{"node":${JSON.stringify(name)}`);
    const start = { node, time: Buffer.concat([node, Buffer.from(',"atMs":')]) };
    this.#starts.set(name, start);
    return start;
  }
}

/** Times that are written digit by digit, which is much faster than making a text of them. */
function isPlain(atMs: number): boolean {
  return atMs > 0 && Number.isSafeInteger(atMs);
}

/** Between the node and the rest of a line, if its time is not plain. */
function addedText(atMs: number, isUnsure: boolean): string {
  return `${isTime(atMs) ? `,"atMs":${atMs}` : ''}${isUnsure ? ',"isUnsure":true' : ''},`;
}

interface WrittenLine {
  lineStart: LineStart;
  batch: RecordBatch;
  row: number;
  isUnsure: boolean;
}

/** Writes the line of a record; returns the position after it. */
function writeLine(target: Buffer, at: number, { lineStart, batch, row, isUnsure }: WrittenLine): number {
  const restAt = startOf(batch, row) + 1;
  // A view of a Buffer would be a Buffer, which takes longer to make.
  const { buffer, byteOffset } = batch.bytes;
  const rest = new Uint8Array(buffer, byteOffset + restAt, (batch.ends[row] as number) - restAt);
  const written = writeStart(target, at, lineStart, batch.times[row] as number, isUnsure);
  target.set(rest, written);
  return written + rest.length;
}

/** Writes what comes before the fields of the record, in the order of `toClusterRecord`; returns the position after it. */
function writeStart(target: Buffer, at: number, start: LineStart, atMs: number, isUnsure: boolean): number {
  if (!isPlain(atMs)) {
    target.set(start.node, at);
    return at + start.node.length + target.write(addedText(atMs, isUnsure), at + start.node.length, 'latin1');
  }
  target.set(start.time, at);
  const end = at + start.time.length + countDigits(atMs);
  let digits = atMs;
  for (let index = end - 1; index >= at + start.time.length; index--) {
    const next = Math.floor(digits / 10);
    target[index] = ZERO + digits - next * 10;
    digits = next;
  }
  const rest = isUnsure ? UNSURE : SURE;
  target.set(rest, end);
  return end + rest.length;
}

function countDigits(value: number): number {
  // Most are epoch milliseconds of these centuries.
  if (value >= 1e12 && value < 1e13) return 13;
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits++;
  return digits;
}
