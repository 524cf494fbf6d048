import { parseJson } from '@porthole/records';

/** The first fields of a line: what the engine searches for in every record is found without reading all of it. */
const FIRST_FIELDS = ['__REALTIME_TIMESTAMP', 'PRIORITY', 'SYSLOG_IDENTIFIER', '_SYSTEMD_UNIT', 'MESSAGE'];

/** Longer messages and fields are cut: a record that fits into one block is found and returned whole. */
const MAX_MESSAGE_CHARS = 64 * 1024;
const MAX_FIELD_CHARS = 4 * 1024;
const MAX_ENTRY_CHARS = 96 * 1024;

/** Fields of an entry, and values of a field. */
const MAX_FIELDS = 256;

/** Longer lines are parsed: a regex keeps a way back for every character. */
const MAX_SPLIT_CHARS = 256 * 1024;

/** A member of an entry with its comma: names have no escapes, values are text, a list, or null. */
const MEMBER = /"(\w+)":("(?:[^"\\]|\\.)*"|\[[^\]]*\]|null)(,?)/y;

/** One entry of the journal as a line of its log. */
export interface EntryLine {
  /** The cursor that journald gives it; `undefined` for what has none. */
  cursor: string | undefined;
  /** Microseconds since 1970, as journald writes them. */
  time: string | undefined;
  /** With its line feed. */
  line: string;
}

/**
 * A line of `journalctl -o json` as it is kept: text instead of lists of bytes, time, level and message first. What is
 * not an entry is kept as it is.
 */
function toEntryLine(text: string): EntryLine {
  const fields = splitFields(text) ?? parseFields(text);
  if (!fields) return { cursor: undefined, time: undefined, line: `${text}\n` };
  const first = FIRST_FIELDS.filter((name) => fields.has(name));
  const others = [...fields.keys()].filter((name) => !FIRST_FIELDS.includes(name));
  const clip = new Clip();
  const members = [...first, ...others]
    .slice(0, MAX_FIELDS)
    .map((name) => `"${name}":${clip.field(name, fields.get(name) ?? 'null')}`);
  const [cursor, time] = [toText(fields.get('__CURSOR')), toText(fields.get('__REALTIME_TIMESTAMP'))];
  return { cursor, time, line: `{${members.join(',')}}\n` };
}

/** A record of ours among the entries: something is missing here. */
export function noticeLine(message: string, time: string): string {
  const fields = { __REALTIME_TIMESTAMP: time, PRIORITY: '4', SYSLOG_IDENTIFIER: 'porthole', MESSAGE: message };
  return `${JSON.stringify(fields)}\n`;
}

/**
 * The fields with their values as JSON; `undefined` for what journalctl does not usually write. Not parsed as a whole:
 * journalctl has the fields in another order in each line, which takes `JSON.parse` five times as long.
 */
function splitFields(text: string): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  if (!text.startsWith('{') || text.length > MAX_SPLIT_CHARS) return undefined;
  MEMBER.lastIndex = 1;
  for (let found = MEMBER.exec(text); found; found = MEMBER.exec(text)) {
    const [, name = '', value = '', comma] = found;
    fields.set(name, value);
    if (comma === '') return text.slice(MEMBER.lastIndex) === '}' ? fields : undefined;
  }
  return undefined;
}

function parseFields(text: string): Map<string, string> | undefined {
  const parsed = parseJson(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const named = Object.entries(parsed).filter(([name]) => /^\w+$/.test(name));
  return new Map(named.map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Reads the values of one entry and bounds their length. Addresses of the entry itself are short and never cut. */
class Clip {
  #leftChars = MAX_ENTRY_CHARS;

  /** The value as JSON. */
  field(name: string, json: string): string {
    const maxChars = name === 'MESSAGE' ? MAX_MESSAGE_CHARS : MAX_FIELD_CHARS;
    const isShort = json.length <= Math.min(maxChars, this.#leftChars) && !json.startsWith('[');
    if (isShort) this.#leftChars -= json.length;
    return isShort || name.startsWith('__') ? json : JSON.stringify(this.#read(JSON.parse(json), maxChars));
  }

  /** journalctl writes bytes that are not printable UTF-8 as a list of numbers, and several values as a list of them. */
  #read(value: unknown, maxChars: number): unknown {
    if (typeof value === 'string') return this.#cut(value, maxChars);
    if (!Array.isArray(value)) return value;
    if (value.every((item) => typeof item === 'number')) return this.#cut(Buffer.from(value).toString(), maxChars);
    return value.slice(0, MAX_FIELDS).map((item) => this.#read(item, maxChars));
  }

  #cut(text: string, maxChars: number): string {
    const keptChars = Math.min(text.length, maxChars, this.#leftChars);
    this.#leftChars -= keptChars;
    return keptChars === text.length ? text : `${text.slice(0, keptChars)}… (cut; ${text.length} characters)`;
  }
}

function toText(json: string | undefined): string | undefined {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  return typeof value === 'string' ? value : undefined;
}

/** The limit of one entry in memory: an entry can have any size, and a byte takes four characters if it is not text. */
const MAX_ENTRY_BYTES = 16 * 1024 ** 2;

const LINE_FEED = 0x0a;

/** Splits the output of `journalctl -o json` into entries. An entry that is too long is replaced by a notice. */
export class EntrySplitter {
  #parts: Buffer[] = [];
  #bytes = 0;
  #lastTime = '0';

  /** The entries that end in this chunk. */
  push(chunk: Buffer): EntryLine[] {
    const entries: EntryLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end));
      const entry = this.#take();
      if (entry) entries.push(entry);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return entries;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= MAX_ENTRY_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  #take(): EntryLine | undefined {
    const [parts, bytes] = [this.#parts, this.#bytes];
    this.#parts = [];
    this.#bytes = 0;
    if (bytes === 0) return undefined;
    if (bytes > MAX_ENTRY_BYTES) {
      const message = `an entry of ${bytes} bytes was left out here: it is longer than ${MAX_ENTRY_BYTES} bytes`;
      return { cursor: undefined, time: undefined, line: noticeLine(message, this.#lastTime) };
    }
    const [only = Buffer.alloc(0), ...others] = parts;
    const entry = toEntryLine((others.length === 0 ? only : Buffer.concat(parts)).toString());
    this.#lastTime = entry.time ?? this.#lastTime;
    return entry;
  }
}
