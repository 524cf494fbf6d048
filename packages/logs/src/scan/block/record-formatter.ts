import { CHECK_BYTES, fnv1a, markEncoder } from '../../cursor/cursor.ts';
import type { Format, LineHead, RecordFields } from '../../parse/format.ts';
import { headFields } from '../../parse/formats/define-format.ts';
import { fieldJson } from '../../query/record-fields.ts';
import type { FoundRecord } from '../../types.ts';
import type { RecordsJob } from './found-lines.ts';
import { trimHole } from './nul-holes.ts';

const NEWLINE = 10;

/** Only the start of a longer record is shown: a response of many records must not become gigabytes. */
export const SHOWN_BYTES = 64 * 1024;

/** What the records of one response may show together. */
const SHARED_BYTES = 2 * 1024 ** 2;

/** Shown of each of `count` records, so that clients with a limit on the whole response can read it. */
export function shownBytesEach(count: number): number {
  return Math.max(1024, Math.min(SHOWN_BYTES, Math.floor(SHARED_BYTES / Math.max(1, count))));
}

/** A record in loaded text. */
export interface RecordSpan {
  bytes: Buffer;
  start: number;
  end: number;
  /** Offset of its start in the file. */
  offset: number;
}

export interface ShownAs {
  /** A later part of a record that was split because of its length. */
  continued: boolean;
  /** It has no columns: all of it is message. */
  headless: boolean;
}

/** A record as a line of JSON. */
export interface FormattedRecord {
  line: string;
  /** Where what is shown of it starts. */
  offset: number;
  /** `NaN` if it has no time. */
  timeMs: number;
}

/** Formats the records of one file as JSON lines of a response, from what they are decoded to. */
export class RecordFormatter {
  /** What all lines begin with. */
  readonly lineStart: string;
  readonly #format: Format;
  readonly #raw: boolean;
  readonly #fields: readonly string[];
  readonly #shownBytes: number | undefined;
  readonly #restFrom: number;
  readonly #encode: ReturnType<typeof markEncoder>;

  constructor({ file, mark, raw, fields = [], shownBytes, restFrom = 0 }: RecordsJob, format: Format) {
    this.#fields = fields;
    this.#shownBytes = shownBytes;
    this.#restFrom = restFrom;
    this.#format = format;
    this.lineStart = `{"type":"record","file":${JSON.stringify(file.name)},`;
    this.#raw = raw;
    this.#encode = markEncoder({ ...mark, file: file.name });
  }

  cursorFor({ bytes, start, end, offset }: RecordSpan): string {
    const checkBytes = Math.min(CHECK_BYTES, end - start);
    return this.#encode({ offset, check: fnv1a(bytes, start, start + checkBytes), checkBytes });
  }

  format(record: RecordSpan, shownAsRecord: ShownAs): FormattedRecord {
    const isRest = record.offset < this.#restFrom;
    const span = isRest ? spanFrom(record, this.#restFrom) : record;
    const { continued, headless } = isRest ? { continued: true, headless: true } : shownAsRecord;
    const shownAs = { continued, headless, raw: this.#raw, shownBytes: this.#shownBytes };
    const fields = shownFields(span, this.#format, shownAs);
    if (this.#fields.length > 0) fields.fields = fieldJson(fields, this.#fields);
    const { offset, start, end } = span;
    const location = `"offset":${offset},"bytes":${end - start},"cursor":"${this.cursorFor(span)}"`;
    // A `FoundRecord`. Concatenating text takes half as long as serializing an object.
    const line = `${this.lineStart}${location},${fieldsJson(fields).slice(1)}`;
    return { line, offset, timeMs: fields.timeMs ?? Number.NaN };
  }
}

/** What remains of a record from an offset on. */
export function spanFrom({ bytes, start, end, offset }: RecordSpan, from: number): RecordSpan {
  return { bytes, start: Math.min(end, start + from - offset), end, offset: from };
}

export type ShownFields = RecordFields & Pick<FoundRecord, 'cut' | 'continued' | 'raw' | 'fields'>;

/** The fields shown of a record, wherever it was read. */
export function shownFields(
  { bytes, start, end: spanEnd }: Omit<RecordSpan, 'offset'>,
  format: Format,
  { raw, continued, headless, shownBytes = SHOWN_BYTES }: ShownAs & { raw: boolean; shownBytes?: number | undefined },
): ShownFields {
  const end = trimHole(bytes, start, spanEnd);
  const shownEnd = end - start > shownBytes ? characterEnd(bytes, start, start + shownBytes) : end;
  const fields: ShownFields = headless
    ? { message: spanText(bytes, start, shownEnd) }
    : format.decode(bytes, start, shownEnd);
  if (shownEnd < end) {
    fields.cut = true;
    // They may be in the part that is not shown.
    if (!headless && !continued) Object.assign(fields, headOf(bytes.subarray(0, end), start, format));
  }
  if (continued) fields.continued = true;
  if (raw) fields.raw = spanText(bytes, start, shownEnd);
  return fields;
}

/** Time and level of a record. */
function headOf(bytes: Buffer, start: number, format: Format): Pick<ShownFields, 'timeMs' | 'level'> {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  const lineEnd = bytes.indexOf(NEWLINE, start) + 1 || bytes.length;
  return format.readHead(bytes, start, lineEnd, head) ? headFields(head) : {};
}

/** The fields as JSON, the context as written in the log. */
function fieldsJson(fields: ShownFields): string {
  if (fields.contextText === undefined) return JSON.stringify(fields);
  return `${JSON.stringify({ ...fields, context: undefined }).slice(0, -1)},"context":${fields.contextText}}`;
}

export function spanText(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end).replace(/\r?\n$/, '');
}

/** At most three bytes before `end`, if a character would be cut in two. */
export function characterEnd(bytes: Buffer, start: number, end: number): number {
  let cut = end;
  while (cut > start && cut > end - 4 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return cut;
}
