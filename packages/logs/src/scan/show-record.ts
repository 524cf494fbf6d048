import { CHECK_BYTES, checkOf } from '../cursor/cursor.ts';
import type { Format } from '../parse/format.ts';
import type { ScannedRecord, ShownFields } from './jobs.ts';

/** Of a longer record only the start is shown: an answer of many records must not become gigabytes. */
export const SHOWN_BYTES = 64 * 1024;

export interface ShownPart {
  start: number;
  end: number;
  /** Of the record's start in the file. */
  offset: number;
  raw: boolean;
  continued: boolean;
  /** It has no columns: all of it is message. */
  headless: boolean;
}

/** A record of the loaded text as an answer tells it. */
export function showRecord(bytes: Buffer, format: Format, part: ShownPart): ScannedRecord {
  const { start, end, offset, raw, continued, headless } = part;
  const shownEnd = end - start > SHOWN_BYTES ? characterEnd(bytes, start, start + SHOWN_BYTES) : end;
  const checkBytes = Math.min(CHECK_BYTES, end - start);
  const fields: ShownFields = headless
    ? { message: textOf(bytes, start, shownEnd) }
    : format.decode(bytes, start, shownEnd);
  if (shownEnd < end) fields.cut = true;
  if (continued) fields.continued = true;
  if (raw) fields.raw = textOf(bytes, start, shownEnd);
  return { offset, bytes: end - start, check: checkOf(bytes, start, start + checkBytes), checkBytes, fields };
}

function textOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end).replace(/\r?\n$/, '');
}

/** At most three bytes before `end`: where a character would be cut in two. */
function characterEnd(bytes: Buffer, start: number, end: number): number {
  let cut = end;
  while (cut > start && cut > end - 4 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return cut;
}
