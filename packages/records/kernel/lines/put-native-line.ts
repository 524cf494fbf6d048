/* Writes a merged record in the native format. Part of ../line-text.ts. */
import { COLUMNS } from './layout';
import { firstLineEnd, putByte, putBytes, putText, setOutput, textEnd } from './put-text';
import { CONTEXT, CUT, LEVEL, MESSAGE, SOURCE, TAGS } from './read-record';

const TAB: u8 = 9;
const NEWLINE: u8 = 10;
const SPACE: u8 = 32;
const QUOTE: u8 = 34;
const BACKSLASH: u8 = 92;
const OPEN_BRACKET: u8 = 91;
const CLOSE_BRACKET: u8 = 93;
const UNDERSCORE: u8 = 95;
/** The first byte of the controls beyond ASCII, and of other characters. */
const CONTROLS_BEYOND: u8 = 0xc2;

/** Years with four digits. */
const END_OF_TIME: f64 = 253402300800000;

/**
 * Time, level, source, labels and message, context; what follows the first line of the message comes last. `false` if the
 * host has to do it.
 */
export function putNativeLine(timeMs: f64, node: u32, nodeEnd: u32, file: u32, fileEnd: u32): bool {
  if (timeMs >= END_OF_TIME) return false;
  if (!F64.isNaN(timeMs)) {
    putTime(<u64>timeMs);
    putByte(TAB);
  }
  const level = startOf(LEVEL);
  if (level !== 0) {
    // Behind its quote, and with the quote at its end.
    putBytes(level, endOf(LEVEL) - level - 1);
    putByte(TAB);
  }
  const source = startOf(SOURCE);
  if (source !== 0) {
    if (!putText(source + 1, endOf(SOURCE) - 1)) return false;
    putByte(TAB);
  }
  if (!putLabel(node, nodeEnd)) return false;
  putByte(SPACE);
  if (!putLabel(file, fileEnd) || !putTags()) return false;
  putByte(58);
  putByte(SPACE);
  return putMessage();
}

function putMessage(): bool {
  const start = textEnd();
  if (!putText(startOf(MESSAGE) + 1, endOf(MESSAGE) - 1)) return false;
  const context = startOf(CONTEXT);
  if (context !== 0) {
    const length = endOf(CONTEXT) - context;
    const first = firstLineEnd();
    const end = textEnd();
    if (first !== 0) {
      // Makes room for it in front of the other lines.
      memory.copy(first + 1 + length, first, end - first);
      setOutput(first);
    }
    putByte(TAB);
    if (first === 0) putBytes(context, length);
    else {
      memory.copy(textEnd(), context, length);
      setOutput(end + 1 + length);
    }
  }
  if (startOf(CUT) !== 0) {
    putByte(SPACE);
    for (let dot = 0; dot < 3; dot++) putByte(46);
  }
  putByte(NEWLINE);
  return textEnd() > start;
}

/** Strings in a list that was read. */
function putTags(): bool {
  let at = startOf(TAGS);
  if (at === 0 || load<u8>(at + 1) === CLOSE_BRACKET) return true;
  const end = endOf(TAGS);
  while (at < end - 1) {
    const start = at + 2;
    at = start;
    while (load<u8>(at) !== QUOTE) at += load<u8>(at) === BACKSLASH ? 2 : 1;
    putByte(SPACE);
    if (!putLabel(start, at)) return false;
    at++;
  }
  return true;
}

/** A text in brackets, which has neither brackets nor controls. */
function putLabel(from: u32, to: u32): bool {
  putByte(OPEN_BRACKET);
  const start = textEnd();
  if (!putText(from, to)) return false;
  const end = textEnd();
  for (let at = start; at < end; at++) {
    const byte = load<u8>(at);
    if (byte === CONTROLS_BEYOND) return false;
    if (byte < 32 || byte === 127 || byte === OPEN_BRACKET || byte === CLOSE_BRACKET) store<u8>(at, UNDERSCORE);
  }
  putByte(CLOSE_BRACKET);
  return true;
}

function startOf(kind: u32): u32 {
  return load<u32>(COLUMNS + (kind << 3));
}

function endOf(kind: u32): u32 {
  return load<u32>(COLUMNS + (kind << 3), 4);
}

const DAY_MS: u64 = 86400000;

/** Days of which the date was computed last, and where its text is: most records are of the same day as the one before. */
let dateDays: u32 = 0xffff_ffff;
let year: u32 = 0;
let month: u32 = 0;
let day: u32 = 0;

/** `YYYY-MM-DD hh:mm:ss.mmm` in UTC. */
function putTime(timeMs: u64): void {
  const days = <u32>(timeMs / DAY_MS);
  const ms = <u32>(timeMs - <u64>days * DAY_MS);
  if (days !== dateDays) computeDate(days);
  putDigits(year, 4);
  putByte(45);
  putDigits(month, 2);
  putByte(45);
  putDigits(day, 2);
  putByte(SPACE);
  putDigits(ms / 3600000, 2);
  putByte(58);
  putDigits((ms / 60000) % 60, 2);
  putByte(58);
  putDigits((ms / 1000) % 60, 2);
  putByte(46);
  putDigits(ms % 1000, 3);
}

/** Of the Gregorian calendar, whose years are counted from March on here: the leap day is the last of a year then. */
function computeDate(days: u32): void {
  dateDays = days;
  const sinceEra = days + 719468; // from 0000-03-01 to 1970-01-01
  const era = sinceEra / 146097;
  const dayOfEra = sinceEra % 146097;
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const fromMarch = (5 * dayOfYear + 2) / 153;
  day = dayOfYear - (153 * fromMarch + 2) / 5 + 1;
  month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
}

function putDigits(value: u32, digits: u32): void {
  const start = textEnd();
  let rest = value;
  for (let at = start + digits - 1; at >= start; at--) {
    store<u8>(at, <u8>(48 + (rest % 10)));
    rest /= 10;
  }
  setOutput(start + digits);
}
