import type { FileMark } from '../../cursor/cursor.ts';
import type { LineHead } from '../../parse/format.ts';
import type { RecordFilter } from '../../types.ts';
import type { RecordSpan, ShownAs } from './record-formatter.ts';
import type { ScanPart } from './scan-file.ts';

export interface RecordsJob extends ScanPart {
  kind: 'records';
  filter: RecordFilter;
  newestFirst: boolean;
  limit: number;
  /** Text as in the file instead of JSON; what follows about how records are shown does not apply then. */
  asText?: boolean | undefined;
  raw: boolean;
  /** Only position, time and `raw` of records are used: the others may be left out, and the message be empty. */
  onlyRaw?: boolean | undefined;
  /** Names of the fields that each record carries. */
  fields?: readonly string[] | undefined;
  /** Limit for each record; default `SHOWN_BYTES`. */
  shownBytes?: number | undefined;
  /** Mark of the file, for cursors. */
  mark: FileMark;
  /** A record that starts before this offset is shown from there on. */
  restFrom?: number | undefined;
  /** Memory of an earlier result, for the text of this one. */
  room?: readonly [ArrayBuffer] | undefined;
}

/**
 * Records as found by a scan: each a `FoundRecord` as a line of JSON, or its text as in the file, all in one buffer that
 * is transferred between threads, not copied, and can be sent on without parsing it.
 */
export interface FoundLines {
  text: Uint8Array<ArrayBuffer>;
  /** End of each record in the text, after its newline. */
  ends: Uint32Array<ArrayBuffer>;
  offsets: Float64Array<ArrayBuffer>;
  /** `NaN` if a record has no time. */
  times: Float64Array<ArrayBuffer>;
  /** Only of text: the bytes of each record in the file, of which a hole behind it is not part of the text. */
  lengths?: Uint32Array<ArrayBuffer>;
}

/** Text of the result of one job, at most one record more: bounds the memory in transit between threads. */
export const MAX_RESULT_BYTES = 1024 ** 2;

/** Collects the records that a scan finds. */
export interface FoundCollector {
  readonly count: number;
  /** How much text there is so far. */
  readonly resultBytes: number;
  cursorFor(record: RecordSpan): string;
  /** Its bytes must stay as they are until `endBlock`. */
  add(record: RecordSpan, shownAs: ShownAs & LineHead): void;
  endBlock(): void;
  found(): FoundLines;
}

export const NOTHING_FOUND: FoundLines = {
  text: new Uint8Array(),
  ends: new Uint32Array(),
  offsets: new Float64Array(),
  times: new Float64Array(),
};

/** Where a record starts in the text. */
export function startAt({ ends }: Pick<FoundLines, 'ends'>, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] ?? 0);
}

/** Some of the records, as they are in memory. */
export function textOf(found: FoundLines, from: number, to: number): Buffer<ArrayBuffer> {
  const [start, end] = [startAt(found, from), startAt(found, to)];
  return Buffer.from(found.text.buffer, found.text.byteOffset + start, end - start);
}
