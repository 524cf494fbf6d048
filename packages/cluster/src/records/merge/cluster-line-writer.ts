import { type ClusterItem, exactJson } from '@porthole/contract';
import type { LineKernel, LineRange } from '@porthole/logs';
import { isTime } from '../to-cluster-record.ts';
import type { LineRun } from './record-lines.ts';

/** More than `,"atMs":-8640000000000000,"isUnsure":true,` has. */
const MOST_ADDED_BYTES = 64;

const COMMA = 0x2c;
const ZERO = 0x30;

/** What the line of a record of a member starts with. */
interface LineStart {
  /** Up to its node. */
  node: Buffer;
  /** Up to its time. */
  time: Buffer;
}

/** Fewer lines are copied one by one: a call of the kernel takes as long as some of them. */
const MIN_MERGED_LINES = 4;

/** Merged items as NDJSON. */
export class ClusterLineWriter {
  readonly #kernel: LineKernel;
  readonly #starts = new Map<string, LineStart>();
  readonly #reusesMemory: boolean;
  #room = Buffer.alloc(0);

  /** With `reusesMemory`, what was written is no longer used when the next items are. */
  constructor(kernel: LineKernel, { reusesMemory = false }: { reusesMemory?: boolean | undefined } = {}) {
    this.#kernel = kernel;
    this.#reusesMemory = reusesMemory;
  }

  write(items: readonly (ClusterItem | LineRun)[]): Buffer {
    const texts: Buffer[] = [];
    let most = 0;
    for (const item of items) {
      if (item.type === 'lines') {
        const added = this.#startFor(item.node).time.length + MOST_ADDED_BYTES;
        most += item.lines.count * added + bytesOf(item.lines.range);
      } else {
        const text = Buffer.from(`${exactJson(item)}\n`);
        texts.push(text);
        most += text.length;
      }
    }
    const target = this.#take(most);
    let at = 0;
    let nextText = 0;
    for (const item of items) {
      if (item.type === 'lines') at = this.#writeRun(target, at, item);
      else at += texts[nextText++]?.copy(target, at) ?? 0;
    }
    return target.subarray(0, at);
  }

  #take(bytes: number): Buffer {
    if (!this.#reusesMemory) return Buffer.allocUnsafe(bytes);
    if (this.#room.length < bytes) this.#room = Buffer.allocUnsafeSlow(Math.ceil(bytes * 1.25));
    return this.#room;
  }

  #writeRun(target: Buffer, from: number, { node, offsetMs, isUnsure, lines }: LineRun): number {
    const start = this.#startFor(node);
    const { range } = lines;
    let at = isUnsure ? writeLine(target, from, range, { start, offsetMs, isUnsure }) : from;
    let next = range.first + (isUnsure ? 1 : 0);
    while (next < range.end) {
      const rest = { ...range, first: next };
      const merged =
        lines.count < MIN_MERGED_LINES
          ? NOTHING_MERGED
          : this.#kernel.merge(rest, { start: start.time, offsetMs }, target, at);
      at += merged.bytes;
      next += merged.count;
      if (next === range.end) break;
      at = writeLine(target, at, { ...range, first: next }, { start, offsetMs, isUnsure: false });
      next++;
    }
    return at;
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

const NOTHING_MERGED = { count: 0, bytes: 0 };

/** Of the lines, with their newlines. */
function bytesOf({ tables: { ends }, first, end }: LineRange): number {
  return (ends[end - 1] as number) - (first === 0 ? 0 : (ends[first - 1] as number));
}

/** Writes the first line of a range; as `toClusterRecord` orders the fields. Returns the position after it. */
function writeLine(
  target: Buffer,
  from: number,
  { bytes, tables, first }: LineRange,
  { start, offsetMs, isUnsure }: { start: LineStart; offsetMs: number; isUnsure: boolean },
): number {
  const timeMs = tables.times[first] as number;
  const atMs = isTime(timeMs) ? timeMs - offsetMs : undefined;
  const line = tables.from + (first === 0 ? 0 : (tables.ends[first - 1] as number));
  const rest = bytes.subarray(line + 1, tables.from + (tables.ends[first] as number));
  let at = from;
  if (atMs !== undefined && atMs > 0 && Number.isSafeInteger(atMs) && !isUnsure) {
    target.set(start.time, at);
    at = putDigits(target, at + start.time.length, atMs);
    target[at++] = COMMA;
  } else {
    target.set(start.node, at);
    const added = `${atMs === undefined ? '' : `,"atMs":${atMs}`}${isUnsure ? ',"isUnsure":true' : ''},`;
    at += start.node.length;
    at += target.write(added, at, 'latin1');
  }
  target.set(rest, at);
  return at + rest.length;
}

/** Writes a positive integer; returns the position after it. Much faster than making a text of it. */
function putDigits(target: Buffer, at: number, value: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits++;
  let rest = value;
  for (let index = at + digits - 1; index >= at; index--) {
    const next = Math.floor(rest / 10);
    target[index] = ZERO + rest - next * 10;
    rest = next;
  }
  return at + digits;
}
