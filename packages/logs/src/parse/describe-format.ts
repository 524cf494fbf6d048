import type { FormatFact, LearnedFormat, LinePart, RecordFields } from '../types.ts';
import { checkSamples } from './check-samples.ts';
import { type FormatSet, splitSpec } from './detect-format.ts';
import type { Format, FormatOptions, LineHead } from './format.ts';
import { trimLineEnd } from './formats/define-format.ts';
import { completeLines } from './formats/sample-lines.ts';
import { createWrapper, unwrapText } from './formats/wrapped/wrapped-format.ts';
import { createTimeCompleter, findTimes, skipLeadingMarks } from './heads/find-times.ts';
import type { HeadSlot, LearnedHead } from './heads/learn-head.ts';
import { skipEnvelope } from './heads/syslog-envelope.ts';
import { applyOrder, createWrittenTime, isPartialSpelling, ORDERS, type WrittenTime } from './heads/time-spellings.ts';
import { findLevelWord, letterRank } from './level.ts';
import { timePattern } from './time-pattern.ts';
import { parseUserFormats } from './user-format.ts';

const MOST_SAMPLES = 4;
const MOST_UNFIT = 5;

/** Longer lines are shown, and searched, up to here. */
const SHOWN_BYTES = 400;
const SEARCHED_BYTES = 4096;

/** Times are searched for in steps: JSON may have them anywhere. */
const STEP_BYTES = 200;

const ENVELOPES: Readonly<Record<string, string>> = {
  docker: "Docker's JSON",
  cri: 'CRI lines of Kubernetes',
  compose: 'lines of docker compose',
  ansi: 'terminal colours',
};

const SPELLINGS: Readonly<Record<string, string>> = {
  iso: 'year, month, day and clock',
  compact: 'date and clock in digits only',
  short: 'date in six digits, and clock',
  numeric: 'numeric date, and clock',
  'day-month': 'day, name of the month, year and clock',
  'month-day': 'name of the month, day, year and clock',
  'year-month': 'year, name of the month, day and clock',
  epoch: 'time since 1970 as a number',
  hexadecimal: 'time since 1970 in hexadecimal digits',
  tai64n: 'TAI64N label',
  glog: 'month, day and clock behind the letter of the level',
  'month-day-clock': 'name of the month, day and clock',
  'day-month-clock': 'day, name of the month and clock',
  'numeric-clock': 'month and day in numbers, and clock',
  'month-digits': 'month, day and clock in digits',
  clock: 'clock alone',
};

const ORDER_NAMES = { mdy: 'month before day', dmy: 'day before month', ymd: 'year, month, day' } as const;

/** Where the level is if it is not a word of its own. */
const OTHER_LEVELS: Readonly<Record<Exclude<HeadSlot['other'], ''>, string>> = {
  status: 'from the status of the request',
  facility: 'the severity in %FACILITY-SEVERITY-NAME',
  below: 'at the start of the line below',
  mark: 'a mark behind the time: . - * #',
};

interface Range {
  start: number;
  end: number;
}

interface FoundTime extends Range {
  written: WrittenTime;
  text: string;
  where: string;
}

/** A record of the sample, and where its parts are in its first line. */
interface SampleRecord {
  line: Buffer;
  fields: RecordFields;
  time: FoundTime | undefined;
  level: (Range & { where: string }) | undefined;
}

interface DescribeOptions extends FormatOptions {
  formats: FormatSet;
  /** The name of the file, from which the example has its name. */
  file: string;
}

/**
 * Describes what a format reads in a sample of a file: what was learned, and what can be seen in the records it decodes,
 * also if it is read by code of its own.
 */
export function describeFormat(format: Format, sample: Buffer, options: DescribeOptions): LearnedFormat {
  const { wrappers, plain, learned } = splitSpec(format.spec);
  const head = learned && 'slots' in learned ? learned : undefined;
  const text = wrappers.reduce((outer, name) => unwrapText(createWrapper(name, options), outer), sample);
  const inner = options.formats.create(format.spec.slice(wrappers.join('+').length).replace(/^\+/, ''), options);
  const insides = [...linesOf(text)];
  const orders = head ? [head.order] : ORDERS;
  const completers = orders.map((order) => createTimeCompleter(options, order));
  const found: LineHead = { timeMs: Number.NaN, rank: 0 };
  const records: SampleRecord[] = [];
  const unfit: string[] = [];
  let [sampled, timed] = [0, 0];
  for (const { start, end } of linesOf(sample)) {
    const inside = insides[sampled++];
    if (!inside) break;
    const line = text.subarray(inside.start, trimLineEnd(text, inside.start, inside.end));
    if (!format.readHead(sample, start, end, found)) {
      if (line[0] !== 32 && line[0] !== 9) unfit.push(shown(line));
      continue;
    }
    if (!Number.isNaN(found.timeMs)) timed++;
    if (!inner.readHead(text, inside.start, inside.end, found)) continue;
    const { timeMs, rank } = found;
    const fields = inner.decode(text, inside.start, inside.end);
    const time = findTime(line, (written) => completers.some((complete) => complete(written) === timeMs));
    records.push({ line, fields, time, level: rank > 0 ? findLevel(line, rank, { time, fields, head }) : undefined });
  }
  const basis = options.formats.forThread(format.spec)
    ? 'defined in log.formats'
    : learned
      ? 'learned from its lines'
      : '';
  const kind = basis || (timed > 0 ? 'a built-in format' : 'no timestamps and no known layout');
  const inEnvelope = wrappers.map((name) => `, inside ${ENVELOPES[name] ?? name}`).join('');
  const fit = unfit.length === 0 ? 'all fit' : `${unfit.length} ${unfit.length === 1 ? 'does' : 'do'} not fit`;
  return {
    facts: [
      { label: 'Format', text: `${format.name}: ${kind}${inEnvelope}` },
      ...timeFacts(records, { timed, isWrapped: wrappers.length > 0, learned }),
      levelFact(records, head, plain),
      ...zoneFacts(records, options.zone.name),
      ...orderFacts(records, head),
      { label: 'Lines', text: `${sampled} sampled · ${count(records.length, 'record')} · ${fit}` },
    ],
    samples: pickSamples(records).map(toParts),
    unfit: unfit.slice(0, MOST_UNFIT),
    example: makeExample(records, text, { ...options, head }),
  };
}

/** Lines that are not blank. */
function* linesOf(bytes: Buffer): Generator<Range> {
  for (const { start, end } of completeLines(bytes, Number.POSITIVE_INFINITY))
    if (bytes.toString('latin1', start, end).trim() !== '') yield { start, end };
}

function shown(bytes: Buffer): string {
  return bytes.length > SHOWN_BYTES ? `${bytes.toString('utf8', 0, SHOWN_BYTES)}…` : bytes.toString('utf8');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The time in the line that is the record's. */
function findTime(line: Buffer, isTime: (written: WrittenTime) => boolean): FoundTime | undefined {
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
  const lead = line.toString('utf8', from, start);
  const key = keyBefore(lead);
  const isStart = start <= skipLeadingMarks(line, from, line.length);
  const behind = isStart ? 'at the start of the line' : `behind "${lead.replace(VARYING, toPlaceholder('…'))}"`;
  // The first letter of glog is the level.
  if (written.spelling === 'glog') start++;
  const { end } = written;
  const where = key === undefined ? behind : `in the key "${key}"`;
  return { start, end, written, text: line.toString('utf8', start, end), where };
}

/** The key of the JSON value that follows. */
function keyBefore(text: string): string | undefined {
  return /"([^"]{1,64})"\s*:\s*"?$/.exec(text)?.[1];
}

/** Words differ from line to line; marks and keys do not. */
const VARYING = /[^\s[\](){}<>|:;,="'*#]+(?!=|":)(?=[\s[\](){}<>|:;,="'*#]|$)/g;

function toPlaceholder(placeholder: string): (word: string) => string {
  return (word) => (/[\p{L}\d]/u.test(word) ? placeholder : word);
}

const MARKS = '[(<{|*';

/** `level=`, `LEVEL: `. */
const KEY = /(\w+=|\w*(?:lev|sev|pri)\w*: )["']?$/i;

/** The level as it is written: the first word, where levels of this file are, that means it. */
function findLevel(
  line: Buffer,
  rank: number,
  { time, fields, head }: Pick<SampleRecord, 'time' | 'fields'> & { head: LearnedHead | undefined },
): SampleRecord['level'] {
  if (time?.written.spelling === 'glog') return { start: time.start - 1, end: time.start, where: 'before the time' };
  const slots = head ? [...head.slots.flatMap(({ levels }) => levels), ...head.untimedLevels] : [];
  const looks = new Set(slots.map(({ look }) => look.slice(0, 2)));
  // Words of messages are no levels.
  if (head && looks.size === 0) return undefined;
  const message = head ? undefined : messageRange(line, fields);
  // One byte is one character.
  const text = line.toString('latin1', 0, SEARCHED_BYTES);
  for (const { index: start, 0: word } of text.matchAll(/[A-Za-z]+/g)) {
    const end = start + word.length;
    if ([time, message].some((other) => other && end > other.start && start < other.end)) continue;
    if ((word.length === 1 ? letterRank(line[start]) : findLevelWord(line, start, end)?.rank) !== rank) continue;
    const before = text.slice(0, start);
    const key = keyBefore(before);
    if (key !== undefined) return { start, end, where: `in the key "${key}"` };
    const written = KEY.exec(before)?.[1];
    if (written !== undefined) return { start, end, where: `behind ${written.trim()}` };
    const near = before.trimEnd().at(-1) ?? ' ';
    const open = MARKS.includes(near) || before === before.trimEnd() ? near : ' ';
    const side = time && end <= time.start ? '<' : '>';
    if (looks.size > 0 && !looks.has(side + open) && !looks.has(`${side} `)) continue;
    const marks = MARKS.includes(near) ? `, between ${near} and ${text.slice(end).trimStart()[0] ?? ''}` : '';
    const where = !time ? 'near the start of the line' : side === '<' ? 'before the time' : 'after the time';
    return { start, end, where: where + marks };
  }
  const [all, key, digits = ''] = /"([^"]*(?:level|severity|lvl|sev|pri)[^"]*)"\s*:\s*"?(\d+)/i.exec(text) ?? [];
  if (all === undefined) return undefined;
  const end = text.indexOf(all) + all.length;
  return { start: end - digits.length, end, where: `in the key "${key}"` };
}

/** How often each text occurs, the most frequent first, with the first record that has it. */
function countBy(records: readonly SampleRecord[], toText: (record: SampleRecord) => string | undefined) {
  const counts = new Map<string, { text: string; record: SampleRecord; records: number }>();
  for (const record of records) {
    const text = toText(record);
    if (text === undefined) continue;
    const counted = counts.get(text) ?? { text, record, records: 0 };
    counted.records++;
    counts.set(text, counted);
  }
  return [...counts.values()].sort((one, other) => other.records - one.records);
}

type Learned = ReturnType<typeof splitSpec>['learned'];

function timeFacts(
  records: readonly SampleRecord[],
  { timed, isWrapped, learned }: { timed: number; isWrapped: boolean; learned: Learned },
): FormatFact[] {
  const label = 'Time';
  if (timed === 0)
    return [{ label, text: 'none found: each line that is not indented is a record without a timestamp', doubt: true }];
  const kinds = countBy(
    records,
    ({ time }) => time && `${SPELLINGS[time.written.spelling] ?? time.written.spelling} · ${time.where}`,
  );
  const key = learned && 'paths' in learned ? learned.paths.time?.join('.') : undefined;
  const unseen = key ? `in the key "${key}"` : isWrapped ? 'that of the envelope' : 'read by this format';
  if (kinds.length === 0) return [{ label, text: unseen }];
  const order = learned && 'order' in learned ? learned.order : 'mdy';
  return kinds.slice(0, MOST_SAMPLES).flatMap(({ text, record: { time }, records: number }) => {
    if (!time) return [];
    const { spelling } = time.written;
    const missing = spelling === 'clock' ? 'date' : 'year';
    const from =
      isPartialSpelling(spelling) && time.written.year === 0
        ? ` · the ${missing} comes from when the file was written`
        : '';
    const pattern = timePattern(time.text, spelling, order);
    const parts = [time.text, ...(pattern ? [pattern] : []), text, count(number, 'record')];
    return [{ label, text: parts.join(' · ') + from }];
  });
}

function levelFact(records: readonly SampleRecord[], head: LearnedHead | undefined, format: string): FormatFact {
  const label = 'Level';
  const levelled = records.filter(({ fields }) => fields.level !== undefined);
  if (levelled.length === 0) return { label, text: 'none: no level is in the same place in most lines' };
  const share = `in ${levelled.length} of ${count(records.length, 'record')}`;
  const [best] = countBy(levelled, ({ level }) => level?.where);
  const other = head?.slots.find((slot) => slot.other !== '')?.other;
  if (other) return { label, text: `${OTHER_LEVELS[other]} · ${share}` };
  if (best?.record.level) {
    const { line, level } = best.record;
    return { label, text: `${line.toString('utf8', level.start, level.end)} · ${best.text} · ${share}` };
  }
  const isRequest = /access|w3c|cloudfront|squid|haproxy/.test(format);
  return { label, text: `${isRequest ? OTHER_LEVELS.status : 'read by this format'} · ${share}` };
}

function zoneFacts(records: readonly SampleRecord[], zone: string): FormatFact[] {
  const times = records.flatMap(({ time }) => time?.written ?? []);
  const assumed = times.filter(({ offsetMs, epochMs }) => Number.isNaN(offsetMs) && Number.isNaN(epochMs)).length;
  if (times.length === 0) return [];
  if (assumed === 0) return [{ label: 'Zone', text: 'given by every timestamp' }];
  const which = assumed < times.length ? `${assumed} of ${times.length} timestamps` : 'the timestamps';
  return [{ label: 'Zone', text: `${zone}, assumed: ${which} have none`, doubt: true }];
}

/** The order of day and month, and what settled it. */
function orderFacts(records: readonly SampleRecord[], head: LearnedHead | undefined): FormatFact[] {
  const dates = records.flatMap(({ time }) => (time && /^numeric/.test(time.written.spelling) ? [time] : []));
  if (!head || dates.length === 0) return [];
  const { order, isOrderGuessed } = head;
  if (isOrderGuessed)
    return [{ label: 'Date', text: `${ORDER_NAMES[order]}: a guess, nothing in the file settles it`, doubt: true }];
  const isOnly = ORDERS.every(
    (other) => other === order || dates.some(({ written }) => !applyOrder({ ...written }, other)),
  );
  const hasDots = order === 'dmy' && dates.some(({ text }) => /^\d+\./.test(text));
  const by = isOnly ? 'a number over 12' : hasDots ? 'the dots' : 'when the file was written';
  return [{ label: 'Date', text: `${ORDER_NAMES[order]}: settled by ${by}` }];
}

/** Records with different times and levels, in the order of the file. */
function pickSamples(records: readonly SampleRecord[]): SampleRecord[] {
  const different = countBy(records, ({ time, fields }) => `${time?.written.spelling} ${time?.where} ${fields.level}`);
  const picked = new Set([...different.map(({ record }) => record), ...records].slice(0, MOST_SAMPLES));
  return records.filter((record) => picked.has(record));
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
  // A message without columns contains the level.
  const isAround = message && message.start < headEnd && message.end > headEnd;
  const marks = /^[\])>}|:;,"'\s-]*/.exec(line.toString('latin1', headEnd)) ?? [''];
  add('message', isAround ? { start: headEnd + marks[0].length, end: message.end } : message);
  const messageAt = found.find(({ kind }) => kind === 'message')?.start ?? line.length;
  for (const origin of [fields.source, ...(fields.tags ?? [])]) {
    const range = rangeOf(origin ?? '', line.indexOf(origin ?? ''));
    if (range && (range.start < messageAt || keyBefore(line.toString('latin1', 0, range.start)))) add('origin', range);
  }
  found.sort((one, other) => one.start - other.start);
  const parts: LinePart[] = [];
  let at = 0;
  for (const { kind, start, end } of [...found, { kind: 'other' as const, start: line.length, end: line.length }]) {
    if (start > at) parts.push({ kind: 'other', text: shown(line.subarray(at, start)) });
    if (end > start) parts.push({ kind, text: shown(line.subarray(start, end)) });
    at = end;
  }
  return parts;
}

/** Where the first line of the message is, also as a text of JSON. */
function messageRange(line: Buffer, { message }: RecordFields): Range | undefined {
  const [first = ''] = message.split('\n');
  const quoted = JSON.stringify(first).slice(1, -1);
  return rangeOf(first, line.lastIndexOf(first)) ?? rangeOf(quoted, line.lastIndexOf(quoted));
}

function rangeOf(text: string, start: number): Range | undefined {
  return text === '' || start < 0 ? undefined : { start, end: start + Buffer.byteLength(text) };
}

/** A definition that reads the samples as they are read now, if layouts can express that; else one to be adapted. */
function makeExample(
  records: readonly SampleRecord[],
  text: Buffer,
  { zone, writtenMs, file, head }: DescribeOptions & { head: LearnedHead | undefined },
): string {
  const words = file.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = `own-${words.join('-').slice(0, 30)}`;
  const picked = pickSamples(records).filter(({ time, line }) => time && line.length <= SHOWN_BYTES);
  const [first] = picked;
  const pattern = first?.time ? timePattern(first.time.text, first.time.written.spelling, head?.order ?? 'mdy') : '';
  const times = pattern || 'yyyy-MM-dd HH:mm:ss[.S]';
  const samples = picked.map(({ line, fields: { timeMs, level } }) => ({
    line: line.toString('utf8'),
    ...(timeMs !== undefined && { time: new Date(timeMs).toISOString() }),
    ...(level && { level: level.toLowerCase() }),
  }));
  const layouts = first && pattern ? layoutsOf(first) : [];
  const checked = layouts.map((lines) => {
    const { formats } = parseUserFormats([{ name, lines, times, samples }]);
    return { lines, problems: formats[0] && checkSamples(formats, { zone, nowMs: writtenMs }).get(name) };
  });
  const right = checked.find(({ problems }) => problems?.length === 0);
  const lines = (right ?? checked.find(({ problems }) => problems))?.lines ?? '{time} {level} {message}';
  const [{ start, end } = { start: 0, end: 0 }] = linesOf(text);
  const [sample = { line: shown(text.subarray(start, trimLineEnd(text, start, end))) }] = samples;
  const toPairs = (values: object) => Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return [
    right ? '# Reads the samples as they are read now.' : '# Adapt lines and times to the sample.',
    '[[log.formats]]',
    ...toPairs({ name, lines, times }),
    'samples = [',
    ...(right ? samples : [sample]).map((values) => `  { ${toPairs(values).join(', ')} },`),
    ']\n',
  ].join('\n');
}

/** Line layouts, the most exact first. */
function layoutsOf(record: SampleRecord): string[] {
  const parts = toParts(record);
  const literal = (text: string) =>
    text.replaceAll('{', '{{').replace(VARYING, toPlaceholder('{_}')).replace(/\s+/g, ' ');
  const fields = { time: '{time}', level: '{level}', message: '{message?}' };
  const toField = ({ kind, text }: LinePart) => {
    if (kind === 'other') return literal(text);
    return kind === 'origin' ? (text === record.fields.source ? '{source}' : '{logger}') : fields[kind];
  };
  const timeAt = parts.findIndex(({ kind }) => kind === 'time');
  const lead = parts.slice(0, timeAt).map(({ text }) => literal(text));
  const head = `${lead.join('')}{time}${literal(/^\S?/.exec(parts[timeAt + 1]?.text ?? '')?.[0] ?? '')}`;
  return [parts.map(toField).join(''), `${head} {level} {message?}`, `${head} {message?}`];
}
