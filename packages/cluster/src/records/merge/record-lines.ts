import { type ClusterItem, type ClusterRecord, exactJson } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs/types';

/*
 * Records of members as lines of JSON, merged without being parsed. The lines come from a `NodeState`, which has checked
 * them: each is valid JSON on one line, a record or the end, without a key twice at its top. Lines that this code does
 * not recognize are parsed.
 */

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSE = 0x7d;

const RECORD_START = Buffer.from('{"type":"record","file":"');
const OFFSET_KEY = Buffer.from('","offset":');
const BYTES_KEY = Buffer.from(',"bytes":');
const CURSOR_KEY = Buffer.from(',"cursor":"');
const TIME_KEY = Buffer.from('","timeMs":');

/** Only the merging node may set them: such a line is parsed. A search of the whole chunk takes a third of other ways. */
const CLUSTER_KEYS = /"(?:node|atMs|isUnsure)":/;

/** The same, and a time where it is not expected. */
const UNEXPECTED_KEYS = /"(?:node|atMs|isUnsure|timeMs)":/;

/** A record as its line. What the merge needs of it is read when it is needed. */
export class LineRecord {
  readonly type = 'record';
  readonly file: string;
  /** `undefined` without a timestamp. */
  readonly timeMs: number | undefined;
  readonly chunk: Buffer;
  /** Of the line, with its newline. */
  readonly start: number;
  readonly end: number;
  readonly #offsetAt: number;
  readonly #cursorAt: number;

  constructor(
    line: { chunk: Buffer; start: number; end: number },
    facts: { file: string; timeMs: number | undefined; offsetAt: number; cursorAt: number },
  ) {
    this.chunk = line.chunk;
    this.start = line.start;
    this.end = line.end;
    this.file = facts.file;
    this.timeMs = facts.timeMs;
    this.#offsetAt = facts.offsetAt;
    this.#cursorAt = facts.cursorAt;
  }

  get offset(): number {
    return Number.parseInt(this.chunk.toString('latin1', this.#offsetAt, this.#cursorAt), 10);
  }

  get cursor(): string {
    return this.chunk.toString('latin1', this.#cursorAt, this.chunk.indexOf(QUOTE, this.#cursorAt));
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

/** The items of NDJSON chunks; each chunk has whole lines. */
export async function* lineItems(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<(SearchItem | LineRecord)[], void, undefined> {
  const reader = new LineReader();
  for await (const { buffer, byteOffset, length } of chunks)
    yield reader.read(Buffer.from(buffer as ArrayBuffer, byteOffset, length));
}

/** Remembers the name of the file: most records have the same one as the record before. */
class LineReader {
  #file = '';
  #fileBytes = Buffer.alloc(0);

  read(chunk: Buffer): (SearchItem | LineRecord)[] {
    const isSuspicious = CLUSTER_KEYS.test(chunk.toString('latin1'));
    const items: (SearchItem | LineRecord)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = { chunk, start, end: end + 1 };
      items.push(this.#readRecord(line, isSuspicious) ?? parseItem(chunk.toString('utf8', start, end)));
      start = end + 1;
    }
    return items;
  }

  /** `undefined` if the line must be parsed. */
  #readRecord(line: { chunk: Buffer; start: number; end: number }, isSuspicious: boolean): LineRecord | undefined {
    const { chunk, start, end } = line;
    if (!hasAt(chunk, RECORD_START, start)) return undefined;
    const fileAt = start + RECORD_START.length;
    const fileEnd = chunk.indexOf(QUOTE, fileAt);
    const offsetAt = fileEnd + OFFSET_KEY.length;
    if (chunk[fileEnd - 1] === BACKSLASH || !hasAt(chunk, OFFSET_KEY, fileEnd)) return undefined;
    const bytesKey = chunk.indexOf(COMMA, offsetAt);
    if (!hasAt(chunk, BYTES_KEY, bytesKey)) return undefined;
    const cursorKey = chunk.indexOf(COMMA, bytesKey + 1);
    if (!hasAt(chunk, CURSOR_KEY, cursorKey)) return undefined;
    const cursorAt = cursorKey + CURSOR_KEY.length;
    const cursorEnd = chunk.indexOf(QUOTE, cursorAt);
    if (cursorEnd < 0 || cursorEnd >= end || chunk[cursorEnd - 1] === BACKSLASH) return undefined;
    const time = readTime(chunk, cursorEnd);
    if (time === undefined) return undefined;
    const mustLook = isSuspicious || Number.isNaN(time.timeMs);
    if (mustLook && UNEXPECTED_KEYS.test(chunk.toString('latin1', time.end, end))) return undefined;
    const timeMs = Number.isNaN(time.timeMs) ? undefined : time.timeMs;
    return new LineRecord(line, { file: this.#fileName(chunk, fileAt, fileEnd), timeMs, offsetAt, cursorAt });
  }

  #fileName(chunk: Buffer, start: number, end: number): string {
    const { length } = this.#fileBytes;
    if (end - start !== length || !hasAt(chunk, this.#fileBytes, start)) {
      this.#file = JSON.parse(chunk.toString('utf8', start - 1, end + 1)) as string;
      this.#fileBytes = Buffer.from(chunk.subarray(start, end));
    }
    return this.#file;
  }
}

/** The time behind the cursor, `NaN` if there is none; `undefined` if it is no plain number. */
function readTime(chunk: Buffer, cursorEnd: number): { timeMs: number; end: number } | undefined {
  if (!hasAt(chunk, TIME_KEY, cursorEnd)) return { timeMs: Number.NaN, end: cursorEnd };
  let at = cursorEnd + TIME_KEY.length;
  let timeMs = 0;
  for (let digit = (chunk[at] ?? 0) - 0x30; digit >= 0 && digit <= 9; digit = (chunk[++at] ?? 0) - 0x30)
    timeMs = timeMs * 10 + digit;
  return chunk[at] === COMMA || chunk[at] === CLOSE ? { timeMs, end: at } : undefined;
}

function hasAt(chunk: Buffer, bytes: Buffer, at: number): boolean {
  if (at < 0) return false;
  for (let index = 0; index < bytes.length; index++) if (chunk[at + index] !== bytes[index]) return false;
  return true;
}

function parseItem(text: string): FoundRecord | SearchEnd {
  return JSON.parse(text) as FoundRecord | SearchEnd;
}

/** More than `,"atMs":-8640000000000000,"isUnsure":true,` has. */
const MOST_ADDED_BYTES = 64;

/** Merged items as NDJSON. */
export class ClusterLineWriter {
  readonly #starts = new Map<string, Buffer>();

  write(items: readonly (ClusterItem | ClusterLine)[]): Buffer {
    const texts = items.map((item) => ('record' in item ? undefined : Buffer.from(`${exactJson(item)}\n`)));
    const size = items.reduce((sum, item, index) => sum + (texts[index]?.length ?? this.#mostBytes(item)), 0);
    const target = Buffer.allocUnsafe(size);
    let at = 0;
    for (const [index, item] of items.entries()) {
      const text = texts[index];
      if (text) at += text.copy(target, at);
      else if ('record' in item) at = this.#writeLine(target, at, item);
    }
    return target.subarray(0, at);
  }

  #mostBytes(item: ClusterItem | ClusterLine): number {
    if (!('record' in item)) return 0;
    return this.#startFor(item.node).length + MOST_ADDED_BYTES + item.record.end - item.record.start;
  }

  /** As `toClusterRecord` orders the fields. */
  #writeLine(target: Buffer, from: number, { node, atMs, isUnsure, record }: ClusterLine): number {
    let at = from + this.#startFor(node).copy(target, from);
    const added = `${atMs === undefined ? '' : `,"atMs":${atMs}`}${isUnsure ? ',"isUnsure":true' : ''},`;
    at += target.write(added, at, 'latin1');
    return at + record.chunk.copy(target, at, record.start + 1, record.end);
  }

  #startFor(node: string): Buffer {
    const known = this.#starts.get(node);
    if (known) return known;
    const start = Buffer.from(`{"node":${JSON.stringify(node)}`);
    this.#starts.set(node, start);
    return start;
  }
}
