import { type ClusterItem, type ClusterRecord, exactJson } from '@porthole/contract';
import type { LineKernel, LineTables } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs/types';
import type { ClusterRecordFacts } from '../to-cluster-record.ts';

/*
 * Records of members as lines of JSON, merged without being parsed. The lines come from a `NodeState`, which has checked
 * them: each is valid JSON on one line, a record or the end. Lines that the kernel does not recognize are parsed.
 */

const NEWLINE = 0x0a;

/** Lines of one chunk in a row, and what the merge needs of them. */
interface LineTable extends LineTables {
  chunk: Buffer;
  /** Of all of them. */
  file: string;
}

/** A record as its line. What the merge needs of it is read when it is needed. */
export class LineRecord {
  readonly type = 'record';
  readonly #table: LineTable;
  readonly #index: number;

  constructor(table: LineTable, index: number) {
    this.#table = table;
    this.#index = index;
  }

  get file(): string {
    return this.#table.file;
  }

  /** `undefined` without a timestamp. */
  get timeMs(): number | undefined {
    const timeMs = this.#table.times[this.#index] as number;
    return Number.isNaN(timeMs) ? undefined : timeMs;
  }

  get offset(): number {
    const { chunk, from, fileEnds, cursors } = this.#table;
    const at = from + (fileEnds[this.#index] as number) + OFFSET_KEY.length;
    return Number.parseInt(chunk.toString('latin1', at, from + (cursors[this.#index] as number)), 10);
  }

  get cursor(): string {
    const { chunk, from, cursors, cursorEnds } = this.#table;
    return chunk.toString(
      'latin1',
      from + (cursors[this.#index] as number),
      from + (cursorEnds[this.#index] as number),
    );
  }

  /** Of its line, with the newline. */
  get bytes(): number {
    const { ends } = this.#table;
    return (ends[this.#index] as number) - this.#start;
  }

  /** Copies its line without the brace it starts with; returns the position after it. */
  copyRest(target: Buffer, at: number): number {
    const { chunk, from, ends } = this.#table;
    return at + chunk.copy(target, at, from + this.#start + 1, from + (ends[this.#index] as number));
  }

  /** Its line, with the newline. */
  get line(): Buffer {
    const { chunk, from, ends } = this.#table;
    return chunk.subarray(from + this.#start, from + (ends[this.#index] as number));
  }

  get #start(): number {
    return this.#index === 0 ? 0 : (this.#table.ends[this.#index - 1] as number);
  }
}

/** A merged record, not parsed. */
export interface ClusterLine {
  type: 'record';
  node: string;
  atMs: number | undefined;
  isUnsure: boolean;
  record: LineRecord;
}

export type MergedRecord = ClusterRecord | ClusterLine;

/** Each field by name: a spread takes as long as the rest of the merge. */
export function toClusterLine(record: LineRecord, { node, atMs, isUnsure }: ClusterRecordFacts): ClusterLine {
  return { type: 'record', node, atMs, isUnsure, record };
}

/** The items of NDJSON chunks; each chunk has whole lines. */
export async function* lineItems(
  chunks: AsyncIterable<Uint8Array>,
  kernel: LineKernel,
): AsyncGenerator<(SearchItem | LineRecord)[], void, undefined> {
  const reader = new LineReader(kernel);
  for await (const chunk of chunks) yield reader.read(chunk);
}

const FILE_KEY = '{"type":"record","file":"';
const OFFSET_KEY = '","offset":';

/** Lines are parsed in rows of so many, where none is recognized: each attempt takes as long as parsing some. */
const MAX_PARSED = 1023;

/** Remembers the name of the file: most records have the same one as the record before. */
export class LineReader {
  readonly #kernel: LineKernel;
  #file = '';
  #fileBytes = Buffer.alloc(0);

  constructor(kernel: LineKernel) {
    this.#kernel = kernel;
  }

  /** If the client has recognized the lines by the same kernel, they are not read again. */
  read(piece: Uint8Array): (SearchItem | LineRecord)[] {
    const chunk = Buffer.from(piece.buffer as ArrayBuffer, piece.byteOffset, piece.length);
    const items: (SearchItem | LineRecord)[] = [];
    const known = this.#kernel.known(piece);
    if (known) {
      for (const tables of known) this.#add(chunk, tables, items);
      return items;
    }
    let pause = 0;
    for (let at = 0; at < chunk.length; ) {
      const tables = this.#kernel.read(chunk, at);
      if (tables) at += this.#add(chunk, tables, items);
      pause = tables ? 1 : Math.min(2 * pause + 1, MAX_PARSED);
      for (let parsed = 0; parsed < pause && at < chunk.length; parsed++) {
        const end = chunk.indexOf(NEWLINE, at);
        const lineEnd = end < 0 ? chunk.length : end;
        items.push(parseItem(chunk.toString('utf8', at, lineEnd)));
        at = lineEnd + 1;
      }
    }
    return items;
  }

  /** Adds lines that were recognized; returns their length. */
  #add(chunk: Buffer, tables: LineTables, items: (SearchItem | LineRecord)[]): number {
    const { from, count, fileEnds, ends } = tables;
    let ofFile: LineTable | undefined;
    for (let index = 0, start = from; index < count; index++) {
      const file = this.#fileName(chunk, start + FILE_KEY.length, from + (fileEnds[index] as number));
      if (ofFile?.file !== file) ofFile = { ...tables, chunk, file };
      items.push(new LineRecord(ofFile, index));
      start = from + (ends[index] as number);
    }
    return ends[count - 1] as number;
  }

  /** Names that the kernel recognizes have no escapes. */
  #fileName(chunk: Buffer, start: number, end: number): string {
    const known = this.#fileBytes;
    if (end - start === known.length && hasAt(chunk, known, start)) return this.#file;
    this.#fileBytes = Buffer.from(chunk.subarray(start, end));
    this.#file = this.#fileBytes.toString();
    return this.#file;
  }
}

function hasAt(chunk: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < bytes.length; index++) if (chunk[at + index] !== bytes[index]) return false;
  return true;
}

function parseItem(text: string): FoundRecord | SearchEnd {
  return JSON.parse(text) as FoundRecord | SearchEnd;
}

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

/** Merged items as NDJSON. */
export class ClusterLineWriter {
  readonly #starts = new Map<string, LineStart>();
  readonly #reusesMemory: boolean;
  #room = Buffer.alloc(0);

  /** With `reusesMemory`, what was written is no longer used when the next items are. */
  constructor({ reusesMemory = false }: { reusesMemory?: boolean | undefined } = {}) {
    this.#reusesMemory = reusesMemory;
  }

  write(items: readonly (ClusterItem | ClusterLine)[]): Buffer {
    const texts: Buffer[] = [];
    let most = 0;
    for (const item of items) {
      if ('record' in item) most += this.#startFor(item.node).time.length + MOST_ADDED_BYTES + item.record.bytes;
      else {
        const text = Buffer.from(`${exactJson(item)}\n`);
        texts.push(text);
        most += text.length;
      }
    }
    const target = this.#take(most);
    let at = 0;
    let nextText = 0;
    for (const item of items) {
      if ('record' in item) at = this.#writeLine(target, at, item);
      else at += texts[nextText++]?.copy(target, at) ?? 0;
    }
    return target.subarray(0, at);
  }

  #take(bytes: number): Buffer {
    if (!this.#reusesMemory) return Buffer.allocUnsafe(bytes);
    if (this.#room.length < bytes) this.#room = Buffer.allocUnsafeSlow(Math.ceil(bytes * 1.25));
    return this.#room;
  }

  /** As `toClusterRecord` orders the fields. */
  #writeLine(target: Buffer, from: number, { node, atMs, isUnsure, record }: ClusterLine): number {
    const start = this.#startFor(node);
    let at = from;
    if (atMs !== undefined && atMs > 0 && Number.isSafeInteger(atMs) && !isUnsure) {
      target.set(start.time, at);
      at = putDigits(target, at + start.time.length, atMs);
      target[at++] = COMMA;
      return record.copyRest(target, at);
    }
    target.set(start.node, at);
    const added = `${atMs === undefined ? '' : `,"atMs":${atMs}`}${isUnsure ? ',"isUnsure":true' : ''},`;
    at += start.node.length;
    at += target.write(added, at, 'latin1');
    return record.copyRest(target, at);
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
