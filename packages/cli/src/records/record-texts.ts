/** Records as they are printed, one after the other. */
export interface RecordTexts {
  text: Uint8Array;
  /** End of each record in `text`. */
  ends: ArrayLike<number>;
  /** Time of each record; `NaN` if it has none. */
  times: ArrayLike<number>;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const RECORD_START = Buffer.from('{"type":"record","file":"');
const END_START = Buffer.from('{"type":"end"');
const CURSOR_KEY = Buffer.from('"cursor":"');
const TIME_KEY = Buffer.from(',"timeMs":');

/** The lines of a chunk of JSON lines; the last one may be the end of the search. */
export interface JsonLines extends RecordTexts {
  /** As JSON; `undefined` if the chunk has none. */
  end: string | undefined;
}

export interface JsonLinesOptions {
  /** Whether several sources are merged; otherwise times stay unknown. */
  hasTimes: boolean;
  /** See `LogSource`. */
  place?: string | undefined;
}

/**
 * Splits JSON lines of the search engine, which are already what is printed: parsing and formatting them again would
 * return the same bytes.
 */
export function splitJsonLines(chunk: Buffer, { hasTimes, place }: JsonLinesOptions): JsonLines {
  const lastStart = chunk.length < 2 ? 0 : chunk.lastIndexOf(NEWLINE, chunk.length - 2) + 1;
  const isEnd = startsWith(chunk, END_START, lastStart);
  const text = isEnd ? chunk.subarray(0, lastStart) : chunk;
  const end = isEnd ? chunk.toString('utf8', lastStart) : undefined;
  const ends: number[] = [];
  for (let at = text.indexOf(NEWLINE); at >= 0; at = text.indexOf(NEWLINE, at + 1)) ends.push(at + 1);
  const times = hasTimes ? ends.map((to, index) => lineTime(text, ends[index - 1] ?? 0, to)) : [];
  return { ...(place ? withTargets(text, ends, place) : { text, ends }), times, end };
}

/** Adds the name of the file with its place to every line, as the last member. */
function withTargets(text: Buffer, ends: readonly number[], place: string): Pick<RecordTexts, 'text' | 'ends'> {
  const targetStart = `,"target":${JSON.stringify(place).slice(0, -1)}`;
  const newEnds: number[] = [];
  let length = 0;
  const parts = ends.flatMap((end, index) => {
    const start = ends[index - 1] ?? 0;
    const target = Buffer.from(`${targetStart}${fileJson(text, start, end)}"}\n`);
    const line = text.subarray(start, end - 2);
    length += line.length + target.length;
    newEnds.push(length);
    return [line, target];
  });
  return { text: Buffer.concat(parts, length), ends: newEnds };
}

/** The name of the file in a line, as in JSON, without quotes. */
function fileJson(text: Buffer, start: number, end: number): string {
  const from = start + RECORD_START.length;
  const to = stringEnd(text, from);
  if (to < end && startsWith(text, RECORD_START, start)) return text.toString('utf8', from, to);
  const { file } = JSON.parse(text.toString('utf8', start, end)) as { file: string };
  return JSON.stringify(file).slice(1, -1);
}

/** The time is next to the cursor: most lines need not be parsed. */
function lineTime(text: Buffer, start: number, end: number): number {
  const cursor = text.indexOf(CURSOR_KEY, startsWith(text, RECORD_START, start) ? fileEnd(text, start) : start);
  const key = cursor < 0 ? end : stringEnd(text, cursor + CURSOR_KEY.length) + 1;
  if (key < end && startsWith(text, TIME_KEY, key)) {
    const from = key + TIME_KEY.length;
    return Number.parseFloat(text.toString('latin1', from, Math.min(end, from + MAX_NUMBER_CHARACTERS)));
  }
  const { timeMs = Number.NaN } = JSON.parse(text.toString('utf8', start, end)) as { timeMs?: number };
  return timeMs;
}

const MAX_NUMBER_CHARACTERS = 25;

function fileEnd(text: Buffer, start: number): number {
  return stringEnd(text, start + RECORD_START.length);
}

/** Position of the quote that ends a string. */
function stringEnd(text: Buffer, from: number): number {
  let at = text.indexOf(QUOTE, from);
  while (at > from && isEscaped(text, at, from)) at = text.indexOf(QUOTE, at + 1);
  return at < 0 ? text.length : at;
}

function isEscaped(text: Buffer, at: number, from: number): boolean {
  let before = at;
  while (before > from && text[before - 1] === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}

function startsWith(text: Buffer, start: Buffer, at: number): boolean {
  return at + start.length <= text.length && text.compare(start, 0, start.length, at, at + start.length) === 0;
}
