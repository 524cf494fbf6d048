import type {
  LearnedDateOrder,
  LearnedFormat,
  LearnedLevel,
  LearnedTime,
  Level,
  LinePart,
  RecordFields,
} from '../types.ts';
import { checkSamples } from './check-samples.ts';
import { splitSpec } from './detect-format.ts';
import type { Format, FormatOptions, LineHead } from './format.ts';
import type { FormatSet } from './format-set.ts';
import { trimLineEnd } from './formats/define-format.ts';
import { completeLines } from './formats/sample-lines.ts';
import { createWrapper, unwrapText } from './formats/wrapped/wrapped-format.ts';
import { createTimeCompleter } from './heads/complete-time.ts';
import { findTimes, skipLeadingMarks } from './heads/find-times.ts';
import type { LearnedHead } from './heads/learn-head.ts';
import { findLevelWord, letterRank } from './heads/level-words.ts';
import { priorityRank, skipEnvelope } from './heads/syslog-envelope.ts';
import { applyOrder, createWrittenTime, type DateOrder, ORDERS, type WrittenTime } from './heads/time-spellings.ts';
import { levelRank } from './level.ts';
import { timePattern } from './time-pattern.ts';
import { parseUserFormats } from './user-format.ts';

const MOST_SAMPLES = 4;
const MOST_UNFIT = 5;

const OPEN_BRACE = 123;

/** Longer lines are shown and searched up to here. */
const MOST_BYTES = 400;
const SEARCHED_BYTES = 4096;

/** Times are searched for in steps: JSON may have them anywhere. */
const STEP_BYTES = 200;

interface Range {
  start: number;
  end: number;
}

/** A record of the sample, and where its parts are in its first line. */
interface SampleRecord {
  line: Buffer;
  fields: RecordFields;
  time: (Range & { written: WrittenTime; learned: Omit<LearnedTime, 'records'> }) | undefined;
  level: (Range & Pick<LearnedLevel, 'place' | 'marks'>) | undefined;
}

export interface DescribeOptions extends FormatOptions {
  formats: FormatSet;
  /** The name of the file, from which the example has its name. */
  file: string;
}

/**
 * Describes what a format reads in a sample of a file: what was learned, and what can be seen in records that it
 * decodes. That holds for any format, also for one that is read by code of its own.
 */
export function describeFormat(format: Format, sample: Buffer, options: DescribeOptions): LearnedFormat {
  const { zone, formats } = options;
  const { wrappers, plain, learned } = splitSpec(format.spec);
  const head = learned && 'slots' in learned ? learned : undefined;
  const inside = wrappers.reduce((text, name) => unwrapText(createWrapper(name, options), text), sample);
  const inner = formats.create(format.spec.slice(wrappers.map((name) => `${name}+`).join('').length), options);
  const records = readRecords(inner, inside, head, options);
  const timed = records.filter(({ time }) => time !== undefined);
  const isAssumed = ({ time }: SampleRecord) =>
    time && Number.isNaN(time.written.offsetMs) && Number.isNaN(time.written.epochMs);
  const isKnown = format.timed || learned !== undefined || !['text', 'python-basic'].includes(plain);
  const basis = learned ? 'learned' : isKnown ? 'built-in' : 'unknown';
  return {
    basis: formats.forThread(format.spec) ? 'settings' : basis,
    envelopes: wrappers,
    times: countTimes(records, head?.order),
    level: describeLevel(records, plain, head),
    zone: { name: zone.name, assumed: timed.filter(isAssumed).length },
    dateOrder: head ? describeOrder(timed, head) : null,
    ...countLines(format, sample, inside),
    samples: pickSamples(records).map(toParts),
    example: makeExample(records, inside, { ...options, order: head?.order }),
  };
}

function* linesOf(bytes: Buffer): Generator<Range & { next: number }> {
  for (const { start, end } of completeLines(bytes, Number.POSITIVE_INFINITY))
    if (bytes.toString('latin1', start, end).trim() !== '')
      yield { start, end: trimLineEnd(bytes, start, end), next: end };
}

function countLines(format: Format, sample: Buffer, inside: Buffer): Pick<LearnedFormat, 'lines' | 'unfit'> {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  const lines = { sampled: 0, records: 0, timed: 0, unfit: 0 };
  const unfit: string[] = [];
  const innerLines = [...linesOf(inside)];
  for (const { start, end } of linesOf(sample)) {
    const inner = innerLines[lines.sampled++];
    if (format.readHead(sample, start, end, head)) {
      lines.records++;
      if (!Number.isNaN(head.timeMs)) lines.timed++;
    } else if (inner && !/^\s/.test(inside.toString('latin1', inner.start, inner.start + 1))) {
      lines.unfit++;
      if (unfit.length < MOST_UNFIT) unfit.push(cut(inside.subarray(inner.start, inner.end)));
    }
  }
  return { lines, unfit };
}

function readRecords(
  format: Format,
  text: Buffer,
  learned: LearnedHead | undefined,
  options: FormatOptions,
): SampleRecord[] {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  const orders = learned ? [learned.order] : ORDERS;
  const completers = orders.map((order) => createTimeCompleter(options, order));
  const records: SampleRecord[] = [];
  for (const { start, end, next } of linesOf(text)) {
    if (!format.readHead(text, start, next, head)) continue;
    const { timeMs, rank } = head;
    const line = text.subarray(start, end);
    const fields = format.decode(text, start, next);
    const time = findTime(line, (written) => completers.some((complete) => complete(written) === timeMs));
    const level = rank > 0 ? findLevel(line, rank, { time, learned, message: messageRange(line, fields) }) : undefined;
    records.push({ line, fields, time, level });
  }
  return records;
}

/** The time in the line that is the record's. */
function findTime(line: Buffer, isTime: (written: WrittenTime) => boolean): SampleRecord['time'] {
  const written = createWrittenTime();
  let start = -1;
  const visit = (at: number) => {
    if (isTime(written)) start = at;
    return start >= 0;
  };
  const from = skipEnvelope(line, 0, line.length);
  for (let at = from; at < Math.min(line.length, SEARCHED_BYTES) && start < 0; at += STEP_BYTES)
    findTimes(line, at, line.length, written, visit);
  if (start < 0) return undefined;
  const { spelling, end } = written;
  // Its first letter is the level.
  const isStart = start <= skipLeadingMarks(line, from, line.length);
  if (spelling === 'glog') start++;
  const example = line.toString('utf8', start, end);
  const lead = spelling === 'glog' ? '' : line.toString('utf8', from, start);
  const key = keyBefore(lead);
  const place = key !== undefined ? 'key' : isStart ? 'start' : 'behind';
  const learned = { spelling, pattern: '', example, place, lead: key ?? shapeOf(lead) } as const;
  return { start, end, written: { ...written, numbers: [...written.numbers] }, learned };
}

/** The key of the JSON value that follows. */
function keyBefore(text: string): string | undefined {
  return /"([^"]{1,64})"\s*:\s*"?$/.exec(text)?.[1];
}

/** Words differ from line to line; marks and keys do not. */
const VARYING = /[^\s[\](){}<>|:;,="'*#]+(?!=|":)(?=[\s[\](){}<>|:;,="'*#]|$)/g;

function shapeOf(lead: string): string {
  return lead.replace(VARYING, '…');
}

function countTimes(records: readonly SampleRecord[], order: DateOrder = 'mdy'): LearnedTime[] {
  const kinds = new Map<string, LearnedTime>();
  for (const { time } of records) {
    if (!time) continue;
    const { learned, written } = time;
    const key = `${learned.spelling} ${learned.place} ${learned.place === 'behind' ? '' : learned.lead}`;
    const known = kinds.get(key) ?? {
      ...learned,
      pattern: timePattern(learned.example, written.spelling, order),
      records: 0,
    };
    known.records++;
    kinds.set(key, known);
  }
  return [...kinds.values()].sort((one, other) => other.records - one.records);
}

/** Formats of requests, whose level is that of their status. */
const REQUESTS = /access|w3c|cloudfront|squid|haproxy/;

const WORD = /[A-Za-z]+/g;

/** A level as it is written on the side of the time where levels of this file are; the first that means the same. */
function findLevel(
  line: Buffer,
  rank: number,
  {
    time,
    learned,
    message,
  }: Pick<SampleRecord, 'time'> & { learned: LearnedHead | undefined; message: Range | undefined },
): SampleRecord['level'] {
  if (time?.learned.spelling === 'glog') return { start: time.start - 1, end: time.start, place: 'before', marks: '' };
  const slots = learned?.slots.flatMap(({ levels }) => levels) ?? [];
  const looks = new Set([...slots, ...(learned?.untimedLevels ?? [])].map(({ look }) => look.slice(0, 2)));
  // Words of messages are no levels.
  if (learned && looks.size === 0) return undefined;
  const isText = (at: number) => !learned && message !== undefined && at >= message.start && at < message.end;
  // One byte is one character.
  const text = line.toString('latin1', 0, SEARCHED_BYTES);
  for (const { index: start, 0: word } of text.matchAll(WORD)) {
    const end = start + word.length;
    const isBefore = time !== undefined && end <= time.start;
    if ((time && end > time.start && start < time.end) || isText(start)) continue;
    const own = word.length === 1 ? letterRank(line[start]) : findLevelWord(line, start, end)?.rank;
    if (own !== rank) continue;
    const key = keyBefore(text.slice(0, start)) ?? KEY.exec(text.slice(0, start))?.[1];
    if (key !== undefined) return { start, end, place: 'key', marks: key };
    const [near = ' '] = /\S\s*$/.exec(text.slice(0, start)) ?? [];
    const open = text[start - 1] === ' ' && !MARKS.includes(near[0] ?? '') ? ' ' : (near[0] ?? ' ');
    const side = isBefore ? '<' : '>';
    if (looks.size > 0 && !looks.has(side + open) && !looks.has(`${side} `)) continue;
    const close = /^\s*(\S)/.exec(text.slice(end))?.[1] ?? '';
    const marks = MARKS.includes(open) ? `${open}${close}` : close === ':' || close === '|' ? close : '';
    return { start, end, place: isBefore ? 'before' : 'after', marks };
  }
  const number = /"([^"]*(?:level|severity|lvl|sev|pri)[^"]*)"\s*:\s*"?(\d+)/i.exec(text);
  if (!number?.[1] || !number[2]) return undefined;
  const end = number.index + number[0].length;
  return { start: end - number[2].length, end, place: 'key', marks: number[1] };
}

const MARKS = '[(<{|*';

/** `level=`, `LEVEL: `. */
const KEY = /(\w+=|\w*(?:lev|sev|pri)\w*: )["']?$/i;

function describeLevel(
  records: readonly SampleRecord[],
  format: string,
  learned: LearnedHead | undefined,
): LearnedLevel {
  const levelled = records.filter(({ fields }) => fields.level !== undefined);
  const none = { records: levelled.length, marks: '', example: '' };
  if (levelled.length === 0) return { ...none, place: 'none' };
  const other = learned?.slots.find((slot) => slot.other !== '')?.other;
  if (other) return { ...none, place: other };
  const counts = new Map<string, { count: number; record: SampleRecord }>();
  for (const record of levelled) {
    const key = record.level ? `${record.level.place} ${record.level.marks}` : '';
    counts.set(key, { record, ...counts.get(key), count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const [best] = [...counts.values()].sort((one, two) => two.count - one.count);
  if (!best?.record.level) {
    const isPriority = levelled.every(({ line }) => priorityRank(line, 0, line.length) > 0);
    return { ...none, place: isPriority ? 'priority' : REQUESTS.test(format) ? 'status' : 'elsewhere' };
  }
  const { line, level } = best.record;
  return { ...none, place: level.place, marks: level.marks, example: line.toString('utf8', level.start, level.end) };
}

/** What settled the order of day and month, by the dates of the sample. */
function describeOrder(records: readonly SampleRecord[], learned: LearnedHead): LearnedDateOrder | null {
  const dates = records.flatMap(({ time }) => (time && /^numeric/.test(time.learned.spelling) ? [time] : []));
  if (dates.length === 0) return null;
  const { order, isOrderGuessed } = learned;
  const isOnly = ORDERS.every(
    (other) => other === order || dates.some(({ written }) => !applyOrder({ ...written }, other)),
  );
  const hasDots = dates.some(({ learned: { example } }) => /^\d+\./.test(example));
  const settled = isOnly ? 'number over 12' : hasDots && order === 'dmy' ? 'dots' : 'modification time';
  return { order, settledBy: isOrderGuessed ? 'guess' : settled };
}

/** Records that show different times and levels, in the order of the file. */
function pickSamples(records: readonly SampleRecord[]): SampleRecord[] {
  const seen = new Set<string>();
  const different = records.filter(({ time, level, fields }) => {
    const key = `${time?.learned.spelling} ${time?.learned.place} ${level?.place} ${fields.level}`;
    return !seen.has(key) && seen.add(key);
  });
  const picked = new Set([...different, ...records].slice(0, different.length < 2 ? MOST_SAMPLES : undefined));
  return records.filter((record) => picked.has(record)).slice(0, MOST_SAMPLES);
}

/** The line as its parts. What is in no part is `other`. */
function toParts({ line, fields, time, level }: SampleRecord): LinePart[] {
  const found: (Range & { kind: LinePart['kind'] })[] = [];
  const add = (kind: LinePart['kind'], range: Range | undefined) => {
    const isFree = range && !found.some(({ start, end }) => range.start < end && start < range.end);
    if (isFree && range.end > range.start) found.push({ kind, start: range.start, end: range.end });
  };
  add('time', time);
  add('level', level);
  const message = messageRange(line, fields);
  const headEnd = Math.max(time?.end ?? 0, level?.end ?? 0);
  if (message && message.end > headEnd) {
    const rest = line.toString('latin1', headEnd, message.end);
    const textAt = headEnd + (/^[\])>}|:;,"'\s-]*/.exec(rest)?.[0].length ?? 0);
    add('message', message.start >= headEnd ? message : { start: textAt, end: message.end });
  } else add('message', message);
  const messageAt = found.find(({ kind }) => kind === 'message')?.start ?? line.length;
  for (const origin of [fields.source, ...(fields.tags ?? [])]) {
    const range = origin ? rangeOf(line, origin, 'first') : undefined;
    if (range && (range.start < messageAt || line[0] === OPEN_BRACE)) add('origin', range);
  }
  found.sort((one, other) => one.start - other.start);
  const parts: LinePart[] = [];
  let at = 0;
  for (const { kind, start, end } of [...found, { kind: 'other' as const, start: line.length, end: line.length }]) {
    if (start > at) parts.push({ kind: 'other', text: cut(line.subarray(at, start)) });
    if (end > start) parts.push({ kind, text: cut(line.subarray(start, end)) });
    at = end;
  }
  return parts;
}

/** Where the message is in the line, also as a text of JSON. */
function messageRange(line: Buffer, { message }: RecordFields): Range | undefined {
  const [first = ''] = message.split('\n');
  return rangeOf(line, first, 'last') ?? rangeOf(line, JSON.stringify(first).slice(1, -1), 'last');
}

function rangeOf(line: Buffer, text: string, which: 'first' | 'last'): Range | undefined {
  if (text === '') return undefined;
  const start = which === 'first' ? line.indexOf(text) : line.lastIndexOf(text);
  return start < 0 ? undefined : { start, end: start + Buffer.byteLength(text) };
}

function cut(bytes: Buffer): string {
  return bytes.length > MOST_BYTES ? `${bytes.toString('utf8', 0, MOST_BYTES)}…` : bytes.toString('utf8');
}

/** A definition that reads the samples as they are read now, if layouts can express that; else one to be adapted. */
function makeExample(
  records: readonly SampleRecord[],
  text: Buffer,
  { zone, writtenMs, file, order }: DescribeOptions & { order: DateOrder | undefined },
): LearnedFormat['example'] {
  const slug = file
    .replace(/.*\//, '')
    .toLowerCase()
    .replace(/\.log.*$/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-$/g, '');
  const name = `${slug.slice(0, 30) || 'own'}-lines`;
  const picked = pickSamples(records).filter(({ time, line }) => time && line.length <= MOST_BYTES);
  const [time] = countTimes(picked, order);
  const samples = picked.map(({ line, fields: { timeMs, level } }) => ({ line: line.toString('utf8'), timeMs, level }));
  const times = time?.pattern || 'yyyy-MM-dd HH:mm:ss[.S]';
  let closest: string | undefined;
  for (const lines of time?.pattern ? layoutsOf(picked) : []) {
    const { formats } = parseUserFormats([{ name, lines, times, samples: samples.map(toSample) }]);
    if (formats.length === 0) continue;
    closest ??= lines;
    const problems = checkSamples(formats, { zone, nowMs: writtenMs }).get(name);
    if (problems?.length === 0) return { toml: toToml({ name, lines, times, samples }), isChecked: true };
  }
  const [{ start, end } = { start: 0, end: 0 }] = linesOf(text);
  const first = samples[0] ?? { line: cut(text.subarray(start, end)), timeMs: undefined, level: undefined };
  const lines = closest ?? '{time} {level} {message}';
  return { toml: toToml({ name, lines, times, samples: [first] }), isChecked: false };
}

/** Line layouts, the most exact first: words that are in no part vary, marks stay. */
function layoutsOf([first]: readonly SampleRecord[]): string[] {
  if (!first) return [];
  const literal = (text: string) => text.replaceAll('{', '{{').replace(VARYING, '{_}').replace(/\s+/g, ' ');
  const parts = toParts(first);
  const fields = { time: '{time}', level: '{level}', message: '{message?}' };
  const toField = ({ kind, text }: LinePart) => {
    if (kind === 'other') return literal(text);
    if (kind !== 'origin') return fields[kind];
    return text === first.fields.source ? '{source}' : text === first.fields.tags?.[0] ? '{logger}' : '{_}';
  };
  const exact = parts.map(toField).join('');
  const to = parts.findIndex(({ kind }) => kind === 'time');
  const lead = parts
    .slice(0, to)
    .map(({ text }) => literal(text))
    .join('');
  const [mark = ''] = /^\S?/.exec(parts[to + 1]?.text ?? '') ?? [];
  const head = `${lead}{time}${literal(mark)}`;
  return [exact, `${head} {level} {message?}`, `${head} {message?}`];
}

type ExampleSample = { line: string; timeMs: number | undefined; level: Level | undefined };

function toSample({ line, timeMs, level }: ExampleSample) {
  const time = timeMs === undefined ? undefined : new Date(timeMs).toISOString();
  return { line, ...(time && { time }), ...(level && levelRank(level) > 0 && { level: level.toLowerCase() }) };
}

function toToml(format: { name: string; lines: string; times: string; samples: readonly ExampleSample[] }): string {
  const { name, lines, times, samples } = format;
  const texts = { name, lines, times };
  const rows = Object.entries(texts).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const listed = samples.map((sample) => {
    const pairs = Object.entries(toSample(sample)).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    return `  { ${pairs.join(', ')} },`;
  });
  return ['[[log.formats]]', ...rows, 'samples = [', ...listed, ']', ''].join('\n');
}
