import type { FormatOptions } from '../format.ts';
import { isDigit, isLetter, OPEN_BRACKET, SPACE, TAB } from '../formats/tokens/byte-scan.ts';
import { findLevels, type LevelCandidate, unpackLook } from './find-levels.ts';
import {
  countWords,
  createTimeCompleter,
  findTimes,
  isRelayed,
  readSlot,
  skipLeadingMarks,
  type TimeSlot,
} from './find-times.ts';
import { findFacilitySeverity, findStatusRank, readMarkRank, readReport } from './message-levels.ts';
import { skipEnvelope, syslogTag } from './syslog-envelope.ts';
import {
  applyOrder,
  createWrittenTime,
  type DateOrder,
  type Spelling,
  spellingRank,
  type WrittenTime,
} from './time-spellings.ts';

/** A column with levels: how they look, and how many words from the time. */
export interface LevelSlot {
  look: string;
  least: number;
  most: number;
}

/** A kind of line that starts records, and where its level is. */
export interface HeadSlot extends TimeSlot {
  /** The best first. */
  levels: LevelSlot[];
  /** Where else the level is: in `%FACILITY-3-NAME`, in the status of a request, on the next line, or a mark of Redis. */
  other: '' | 'facility' | 'status' | 'below' | 'mark';
  /** Written by PostgreSQL: lines like `DETAIL:  ` belong to the one before them. */
  postgres: boolean;
}

/** What was learned of the heads of a file's lines. Plain data: it is sent to threads, and kept. */
export interface LearnedHead {
  /** In the order in which they are tried; none if the file has no times. */
  slots: HeadSlot[];
  order: DateOrder;
  /** Whether nothing in the file settled the order of day and month. */
  isOrderGuessed: boolean;
  /** Records may start with white space. */
  indented: boolean;
  /** The levels of lines without a time, if the file has none. */
  untimedLevels: LevelSlot[];
  /** The format whose columns lines have, unless it is that of the file's name. */
  columns?: string;
  /** Programs whose lines a syslog daemon relays with their own heads: a line without one continues a record. */
  relayed?: string[];
}

/** Of text without times. */
export const NOTHING_LEARNED: LearnedHead = {
  slots: [],
  order: 'mdy',
  isOrderGuessed: false,
  indented: false,
  untimedLevels: [],
};

export interface Line {
  start: number;
  end: number;
}

interface Candidate {
  spelling: Spelling;
  place: TimeSlot['place'];
  before: number;
  words: number;
  at: number;
  written: WrittenTime;
  timeMs: number;
  /** Whether it follows `tag: `, as what a syslog daemon relays does. */
  isRelayed: boolean;
  /** The position after it. */
  to: number;
}

interface SampleLine extends Line {
  /** Where the line starts behind an envelope like `<34>`. */
  from: number;
  isIndented: boolean;
  /** Like `#Date: ...` above the records. */
  isComment: boolean;
  times: Candidate[];
}

/** Learns where the lines of a sample have their times and levels. Lines are without CR and LF. */
export function learnHead(bytes: Buffer, lines: readonly Line[], options: FormatOptions): LearnedHead {
  const time = createWrittenTime();
  const sample: SampleLine[] = [];
  for (const { start, end } of lines) {
    const from = skipEnvelope(bytes, start, end);
    const times: Candidate[] = [];
    const textAt = skipLeadingMarks(bytes, from, end);
    findTimes(bytes, from, end, time, (at) => {
      const place = at <= textAt ? 'start' : 'behind';
      times.push({
        spelling: time.spelling,
        place,
        before: place === 'start' ? 0 : (bytes[at - 1] ?? 0),
        words: countWords(bytes, from, at),
        at,
        to: time.end,
        written: { ...time, numbers: [...time.numbers] },
        timeMs: Number.NaN,
        isRelayed: isRelayed(bytes, at),
      });
      return times.length >= MOST_TIMES;
    });
    const first = bytes[from];
    const isComment = first === HASH && isLetter(bytes[from + 1]);
    sample.push({ start, end, from, isIndented: first === SPACE || first === TAB, isComment, times });
  }
  const order = learnOrder(bytes, sample, options);
  completeTimes(sample, order.order, options);
  const slots = learnSlots(sample);
  const indented = learnIndent(sample, slots);
  const head: LearnedHead = { slots: [], ...order, indented, untimedLevels: [] };
  head.slots = slots.map((slot) => learnLevels(bytes, sample, slots, slot, indented));
  const relayed = learnRelayed(bytes, sample, slots);
  if (relayed.length > 0) head.relayed = relayed;
  if (slots.length === 0) head.untimedLevels = learnUntimedLevels(bytes, sample);
  return head;
}

/** Those that are no times are removed. */
function completeTimes(sample: readonly SampleLine[], order: DateOrder, options: FormatOptions): void {
  const complete = createTimeCompleter(options, order);
  for (const line of sample) {
    for (const candidate of line.times) candidate.timeMs = complete(candidate.written);
    // Numbers are times only if these are in the past.
    line.times = line.times.filter(
      ({ spelling, timeMs }) => timeMs <= (spelling === 'epoch' ? options.writtenMs + 2 * DAY_MS : Number.MAX_VALUE),
    );
  }
}

/** The programs of which at least two lines, and a quarter of those that they wrote, have a time of their own. */
function learnRelayed(bytes: Buffer, sample: readonly SampleLine[], [inner, ...others]: readonly TimeSlot[]): string[] {
  const outer = others.find(({ place, spelling }) => place === 'start' && spelling === 'month-day-clock');
  if (!inner || !outer || inner.place === 'start') return [];
  const counts = new Map<string, { own: number; all: number }>();
  for (const { times, end } of sample) {
    const envelope = times.find((candidate) => isIn(candidate, outer));
    if (!envelope) continue;
    const tag = syslogTag(bytes, envelope.to, end);
    const counted = counts.get(tag) ?? { own: 0, all: 0 };
    counts.set(tag, counted);
    counted.all++;
    if (times.some((candidate) => candidate.isRelayed && isIn(candidate, inner))) counted.own++;
  }
  return [...counts].flatMap(([tag, { own, all }]) => (tag !== '' && own >= 2 && own >= all / 4 ? tag : []));
}

const MOST_TIMES = 8;

/** A slot is as good as another one with at most this many times as many lines. */
const NEARLY_AS_MANY = 0.6;

/** A further slot needs this share of the lines that have none of the others. */
const FURTHER_SHARE = 0.1;

const DAY_MS = 86_400_000;

function learnSlots(sample: readonly SampleLine[]): TimeSlot[] {
  const slots: TimeSlot[] = [];
  let rest = sample.filter(({ times }) => times.length > 0);
  const all = sample.length;
  while (rest.length > 0 && slots.length < MOST_SLOTS) {
    const best = pickSlot(rest, slots.length === 0);
    if (!best) break;
    const fits = ({ times }: SampleLine) => times.some((candidate) => isIn(candidate, best));
    const fitting = rest.filter(fits);
    if (slots.length === 0 ? !isFrequent(best, fitting, sample) : !isWorthAdding(best, fitting, all, slots)) break;
    const most = Math.max(...fitting.map(({ times }) => times.find((candidate) => isIn(candidate, best))?.words ?? 0));
    const relayed = best.place === 'behind' && isMostlyRelayed(best, fitting) && hasEnvelope(fitting);
    slots.push({ ...best, mostWords: most + 2, ...(relayed && { relayed }) });
    const mayComment = fitting.some(({ isComment }) => isComment);
    rest = rest.filter((line) => !fits(line) && (mayComment || !line.isComment));
  }
  return slots;
}

function hasEnvelope(sample: readonly SampleLine[]): boolean {
  return sample.every(({ times: [first] }) => first?.place === 'start');
}

const MOST_SLOTS = 4;
const HASH = 35;

function isIn({ spelling, place, before }: Candidate, slot: Pick<TimeSlot, 'spelling' | 'place' | 'before'>): boolean {
  return spelling === slot.spelling && place === slot.place && before === slot.before;
}

/** A time within a line may be a word of a message, and so may a clock: then few lines have one. */
function isFrequent(
  { spelling, place }: TimeSlot,
  fitting: readonly SampleLine[],
  sample: readonly SampleLine[],
): boolean {
  const rank = spellingRank(spelling);
  if (place === 'start' && rank > 0 && spelling !== 'epoch') return true;
  const plain = sample.filter(({ isIndented }) => !isIndented).length;
  if (place === 'start' && spelling === 'epoch') return fitting.length >= Math.min(plain, Math.max(2, plain * 0.3));
  if (place === 'start') return fitting.length >= plain * 0.2;
  return fitting.length >= plain * (spelling === 'epoch' || rank === 0 ? 0.6 : rank === 2 ? 0.25 : 0.4);
}

function isWorthAdding(
  { spelling, place, before }: TimeSlot,
  fitting: readonly SampleLine[],
  all: number,
  slots: readonly TimeSlot[],
): boolean {
  const plain = fitting.filter(({ isIndented }) => !isIndented).length;
  const rank = spellingRank(spelling);
  // A single line that is nothing but a date is a part of a banner.
  if (plain === 1 && fitting.every(({ times: [time], end }) => time?.to === end)) return false;
  // A full date at the start of a line always starts a record.
  if (place === 'start')
    return (
      plain > 0 &&
      (rank === 2 ||
        spelling === 'month-day-clock' ||
        (rank === 1 ? plain >= 2 : plain >= Math.max(2, all * FURTHER_SHARE)))
    );
  // The same time elsewhere, behind one word or in brackets, is another kind of record of the same program.
  const isSame = rank === 2 && slots.some((slot) => slot.spelling === spelling);
  if (isSame && (before === OPEN_BRACKET || fitting.every(({ times }) => (times[0]?.words ?? 0) <= 1)))
    return plain > 0;
  return rank === 2 && plain >= Math.max(3, all * FURTHER_SHARE);
}

interface Counted {
  slot: TimeSlot;
  count: number;
  position: number;
  distinct: Set<number>;
}

/** Where times within lines differ this much less than others, they are of something else: of files, or of a start. */
const RARELY_DIFFERENT = 4;
const MANY_LINES = 8;

function pickSlot(sample: readonly SampleLine[], isFirst: boolean): TimeSlot | undefined {
  const counts = new Map<string, Counted>();
  for (const { times, from } of sample) {
    const seen = new Set<string>();
    for (const { spelling, place, before, at, timeMs } of times) {
      const key = `${spelling} ${place} ${before}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const slot = { spelling, place, before, mostWords: 0 };
      const counted = counts.get(key) ?? { slot, count: 0, position: 0, distinct: new Set() };
      counted.count++;
      counted.position += at - from;
      counted.distinct.add(timeMs);
      counts.set(key, counted);
    }
  }
  const most = Math.max(0, ...[...counts.values()].map(({ count }) => count));
  const good = [...counts.values()].filter(({ count }) => count >= most * NEARLY_AS_MANY);
  const isOdd = ({ distinct, count, slot }: Counted) =>
    slot.place === 'behind' &&
    count >= MANY_LINES &&
    good.some(
      (other) => other.slot.spelling === slot.spelling && distinct.size * RARELY_DIFFERENT <= other.distinct.size,
    );
  good.sort(
    (one, other) =>
      Number(isOdd(one)) - Number(isOdd(other)) ||
      spellingRank(other.slot.spelling) - spellingRank(one.slot.spelling) ||
      Number(other.slot.place === 'start') - Number(one.slot.place === 'start') ||
      Number(one.slot.spelling === 'epoch') - Number(other.slot.spelling === 'epoch') ||
      other.count - one.count ||
      one.position / one.count - other.position / other.count,
  );
  const [best] = good;
  if (!best) return undefined;
  return isFirst ? preferEnvelope(best, good, sample).slot : best.slot;
}

/**
 * A full date within a line counts if it is near the time at its start, which an envelope put there; and one that follows
 * `tag: ` even counts if that has a full date, too.
 */
function preferEnvelope(best: Counted, good: readonly Counted[], sample: readonly SampleLine[]): Counted {
  // A number within a line may be anything.
  const isNumber = best.slot.spelling === 'epoch';
  const outer = good.find(
    ({ slot: { place, spelling } }) =>
      place === 'start' && (spellingRank(spelling) === 1 || (isNumber && spelling === 'clock')),
  );
  if (outer && best.slot.place === 'behind' && !areNear(best.slot, outer.slot, sample)) return outer;
  if (best.slot.place === 'start' && spellingRank(best.slot.spelling) === 2) {
    const relayed = good.find(
      ({ slot }) =>
        slot.place === 'behind' &&
        spellingRank(slot.spelling) === 2 &&
        isMostlyRelayed(slot, sample) &&
        areNear(slot, best.slot, sample),
    );
    if (relayed) return relayed;
  }
  return best;
}

function areNear(slot: TimeSlot, other: TimeSlot, sample: readonly SampleLine[]): boolean {
  const far = sample.filter(({ times }) => {
    const one = times.find((candidate) => isIn(candidate, slot));
    const two = times.find((candidate) => isIn(candidate, other));
    return one && two && Math.abs(one.timeMs - two.timeMs) > 2 * DAY_MS;
  });
  return far.length < sample.length / 4;
}

function isMostlyRelayed(slot: TimeSlot, sample: readonly SampleLine[]): boolean {
  const found = sample.flatMap(({ times }) => times.filter((candidate) => isIn(candidate, slot)).slice(0, 1));
  return found.length > 0 && found.filter((candidate) => candidate.isRelayed).length > found.length / 2;
}

/** Whether records start with white space: then most lines that do are records. */
function learnIndent(sample: readonly SampleLine[], slots: readonly TimeSlot[]): boolean {
  const hasSlot = ({ times }: SampleLine) => times.some((candidate) => slots.some((slot) => isIn(candidate, slot)));
  const records = sample.filter(hasSlot);
  const indented = records.filter(({ isIndented }) => isIndented);
  const allIndented = sample.filter(({ isIndented }) => isIndented);
  return indented.length > 0 && indented.length >= records.length / 10 && indented.length > allIndented.length / 2;
}

/**
 * The order of numbers in dates: one in which all of them are dates; of several, the one whose last time is nearest to
 * when the file was written, and with dots the day comes first.
 */
function learnOrder(
  bytes: Buffer,
  sample: readonly SampleLine[],
  options: FormatOptions,
): Pick<LearnedHead, 'order' | 'isOrderGuessed'> {
  const orders: DateOrder[] = ['mdy', 'dmy', 'ymd'];
  const counts = new Map<DateOrder, { valid: number; newestMs: number }>(
    orders.map((order) => [order, { valid: 0, newestMs: Number.NEGATIVE_INFINITY }]),
  );
  let hasDots = false;
  let found = 0;
  const completers = new Map(orders.map((order) => [order, createTimeCompleter(options, order)]));
  for (const { times } of sample) {
    const date = times.find(({ spelling }) => spelling === 'numeric' || spelling === 'numeric-clock');
    if (!date) continue;
    const { at, written } = date;
    found++;
    const digits = isDigit(bytes[at + 1]) ? 2 : 1;
    if (bytes[at + digits] === 46) hasDots = true;
    for (const order of orders) {
      const counted = counts.get(order);
      if (!counted || !applyOrder(written, order)) continue;
      counted.valid++;
      counted.newestMs = Math.max(counted.newestMs, completers.get(order)?.(written) ?? Number.NaN);
    }
  }
  if (found === 0) return { order: 'mdy', isOrderGuessed: false };
  const most = Math.max(...[...counts.values()].map(({ valid }) => valid));
  const possible = orders.filter((order) => counts.get(order)?.valid === most);
  const [only] = possible;
  if (possible.length === 1 && only) return { order: only, isOrderGuessed: false };
  const farMs = (order: DateOrder) => Math.abs((counts.get(order)?.newestMs ?? 0) - options.writtenMs);
  const nearest = [...possible].sort((one, other) => farMs(one) - farMs(other));
  const [near, next] = nearest;
  // With dots the day comes first wherever they are used.
  if (hasDots && possible.includes('dmy') && most === counts.get('dmy')?.valid && farMs('dmy') < 400 * DAY_MS)
    return { order: 'dmy', isOrderGuessed: near !== 'dmy' };
  if (near && next && farMs(near) < 2 * DAY_MS && farMs(next) >= 2 * DAY_MS)
    return { order: near, isOrderGuessed: false };
  // The future is no date of a log.
  const past = possible.filter((order) => (counts.get(order)?.newestMs ?? 0) <= options.writtenMs + 2 * DAY_MS);
  const [chosen = near ?? 'mdy'] = past.includes('mdy') ? ['mdy' as const] : past;
  return { order: chosen, isOrderGuessed: true };
}

interface CountedLook {
  look: string;
  count: number;
  clear: number;
  /** Words between the time and letters that are no levels. */
  foreign: number[];
  indexes: number[];
  ranks: Set<number>;
  /** Those that are alone. */
  letters: Set<string>;
}

/** Learns where the lines of a slot have their levels. */
function learnLevels(
  bytes: Buffer,
  sample: readonly SampleLine[],
  slots: readonly TimeSlot[],
  slot: TimeSlot,
  indented: boolean,
): HeadSlot {
  const time = createWrittenTime();
  const looks = new Map<string, CountedLook>();
  let records = 0;
  let facilities = 0;
  let statuses = 0;
  let below = 0;
  let levelled = 0;
  let marks = 0;
  const markRanks = new Set<number>();
  let reports = 0;
  for (const [index, { end, from, isIndented }] of sample.entries()) {
    if (isIndented && !indented) continue;
    const own = slots.find((other) => readSlot(bytes, from, end, other, time) >= 0);
    if (own !== slot) continue;
    const at = readSlot(bytes, from, end, slot, time);
    records++;
    if (findFacilitySeverity(bytes, time.end, end) > 0) facilities++;
    if (findStatusRank(bytes, time.end, end) > 0) statuses++;
    const mark = readMarkRank(bytes, time.end, end);
    if (mark > 0 && (at > from ? REDIS_LEAD.test(bytes.toString('latin1', from, at)) : isOldRedis(slot))) marks++;
    if (mark > 0) markRanks.add(mark);
    if (readReport(bytes, time.end, end) !== 0) reports++;
    const next = sample[index + 1];
    if (next && next.start <= end + 2 && isLevelLine(bytes, next)) below++;
    if (
      countLooks(bytes, looks, [
        [from, at, 'before'],
        [time.end, end, 'after'],
      ])
    )
      levelled++;
  }
  const levels = acceptLooks(looks, records);
  const isLevelled = levels.length > 0 && levelled >= records / 2;
  let other: HeadSlot['other'] = '';
  // Dashes alone may be anything between columns.
  if (marks >= records * 0.9 && marks > 0 && (markRanks.size > 1 || !markRanks.has(2))) other = 'mark';
  else if (facilities > records * FURTHER_SHARE) other = 'facility';
  else if (!isLevelled && statuses > 0 && statuses >= records / (levels.length === 0 ? 4 : 2)) other = 'status';
  else if (!isLevelled && below >= records / 2 && below > 0) other = 'below';
  const isElsewhere = other === 'status' || other === 'below' || other === 'mark';
  return { ...slot, levels: isElsewhere ? [] : levels, other, postgres: reports >= records / 2 && reports > 0 };
}

/** A process and its role, or of old versions the process alone: `1:M `, `[1] `. */
const REDIS_LEAD = /^(?:\d+:[A-Z]|\[\d+\]) $/;

/** Redis up to 2.2 wrote no process: `17 Nov 18:33:04 * `. */
function isOldRedis({ spelling }: TimeSlot): boolean {
  return spelling === 'day-month-clock';
}

type Side = readonly [from: number, to: number, side: 'before' | 'after'];

function countLooks(bytes: Buffer, looks: Map<string, CountedLook>, sides: readonly Side[]): boolean {
  const candidate: LevelCandidate = { rank: 0, isAmbiguous: false, look: 0, index: 0, letter: '' };
  const seen = new Set<string>();
  for (const [from, to, side] of sides) {
    findLevels(bytes, from, to, side, candidate, ({ look: packed, index, rank, isAmbiguous, letter }) => {
      const look = unpackLook(packed);
      if (seen.has(look)) return false;
      if (rank > 0) seen.add(look);
      const counted = looks.get(look) ?? {
        look,
        count: 0,
        clear: 0,
        foreign: [],
        indexes: [],
        ranks: new Set(),
        letters: new Set(),
      };
      looks.set(look, counted);
      if (rank < 0) {
        counted.foreign.push(index);
        return false;
      }
      counted.count++;
      if (!isAmbiguous) counted.clear++;
      counted.indexes.push(index);
      counted.ranks.add(rank);
      if (letter) counted.letters.add(letter);
      return false;
    });
  }
  return seen.size > 0;
}

function acceptLooks(looks: ReadonlyMap<string, CountedLook>, records: number): LevelSlot[] {
  const isKey = ({ look }: CountedLook) => Number(look.endsWith('key'));
  const accepted = [...looks.values()].filter((counted) => counted.count > 0 && isLevelColumn(counted, records));
  // Where PHP writes `Warning:` it may also write `Parse error:`.
  const titled = accepted.find(({ look }) => look === '> Aa:');
  const spoken = looks.get('> a:');
  if (titled && spoken && !accepted.includes(spoken) && median(spoken.indexes) <= median(titled.indexes) + 1)
    accepted.push(spoken);
  return accepted
    .sort(
      (one, other) => isKey(other) - isKey(one) || other.count - one.count || least(one.indexes) - least(other.indexes),
    )
    .map(({ look, indexes, count }) =>
      isSpoken(look.slice(1)) && count < records / 2 && look !== '> Aa:' && !titled
        ? { look, least: 0, most: 0 }
        : { look, ...indexRange(indexes, !look.endsWith('key')) },
    );
}

function least(indexes: readonly number[]): number {
  return Math.min(...indexes);
}

/** Whether words of this look are a column of levels, and not words of messages. */
function isLevelColumn(
  { look, count, clear, foreign, indexes, ranks, letters }: CountedLook,
  records: number,
): boolean {
  const share = count / records;
  const text = look.slice(1);
  const first = median(indexes);
  if (text === 'key') return share >= 0.05 || first <= 2;
  const isMarked = text.length === 2;
  const isLetterLook = (text[1] === '1' || text[1] === '2') && !isMarked;
  // Letters elsewhere in the line are of messages; WebSphere also has some in its column that are no levels.
  const others = foreign.filter((index) => index === first).length;
  if (isLetterLook && (others > count / 2 || foreign.length - others > count / 4)) return false;
  if (isMarked && foreign.length > count / 4) return false;
  if (text === ' 2 ') return share >= 0.9 && foreign.length === 0 && ranks.size > 1;
  // A column without any of the usual letters is none of levels: `1 (A)` is a kind of query.
  if (
    (isLetterLook || isMarked) &&
    letters.size > 0 &&
    clear === 0 &&
    count > 1 &&
    !'DIWEdiwe'.split('').some((usual) => letters.has(usual))
  )
    return false;
  if (isMarked && (text[0] === '"' || text[0] === "'")) return share >= 0.5 && first <= 3;
  // Messages have words in parentheses: `fail (error)`.
  if (text === '()') return share >= 0.5;
  if (isMarked) return (share >= 0.1 || first <= 2) && (clear > 0 || share >= 0.5);
  if (isLetterLook && '-./'.includes(text[0] ?? '')) return false;
  if (isLetterLook) return share >= 0.5 && (count >= 3 || first <= 1);
  const [near = '', after = ''] = [text[0], text.at(-1)];
  const isCapitals = text.slice(1, -1) === 'A';
  if (clear === 0) return false;
  if (isCapitals) return share >= 0.2 || (first <= 1 && share >= 0.05) || (after === ':' && first <= 3);
  // If all of them are errors they are words of the same message, but for those right behind the time.
  const isSame = ranks.size === 1 && Math.max(...ranks) > 3 && (count > 3 || first > 0) && after === ' ';
  if (isSame && !(share === 1 && (first === 0 || (first === 1 && near === ',')))) return false;
  if (share >= 0.5 && atMode(indexes) >= records / 2 && (count >= 3 || first === 0)) return true;
  // `Error: ` and `error: ` behind the time.
  return least(indexes) === 0 && isSpoken(text) && (near === ' ' || near === ':');
}

/** `Error:` and `error:`. */
function isSpoken(text: string): boolean {
  return !text.startsWith('A', 1) ? text.endsWith('a:') : text.endsWith('Aa:');
}

/** How many are the same. */
function atMode(indexes: readonly number[]): number {
  return Math.max(...indexes.map((index) => indexes.filter((other) => other === index).length));
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}

/** The words that precede nearly all levels of a column: further ones are words of messages. */
function indexRange(indexes: readonly number[], isPlace: boolean): { least: number; most: number } {
  const middle = median(indexes);
  // If most are at one place, the others are not in the column; a key shows a level wherever it is.
  const isFixed = isPlace && atMode(indexes) >= indexes.length * FIXED_SHARE;
  const sorted = indexes.filter((index) => !isFixed || index === middle).sort((one, other) => one - other);
  const usual = sorted.slice(0, Math.max(1, Math.ceil(sorted.length * 0.9)));
  return { least: Math.max(0, (sorted[0] ?? 0) - 1), most: (usual.at(-1) ?? 0) + 1 };
}

const FIXED_SHARE = 0.8;

const LEVEL_LINE = /^(?:SEVERE|WARNING|INFO|CONFIG|FINE|FINER|FINEST|ERROR|WARN|DEBUG|TRACE|FATAL): /;

function isLevelLine(bytes: Buffer, { start, end }: Line): boolean {
  return LEVEL_LINE.test(bytes.toString('latin1', start, Math.min(end, start + 12)));
}

function learnUntimedLevels(bytes: Buffer, sample: readonly SampleLine[]): LevelSlot[] {
  const looks = new Map<string, CountedLook>();
  let records = 0;
  for (const { end, from, isIndented } of sample) {
    if (isIndented) continue;
    records++;
    countLooks(bytes, looks, [[from, end, 'after']]);
  }
  for (const [look, { count, clear, indexes }] of looks) {
    const isBare = look.endsWith(' ') && look.startsWith('> ');
    const isColumn = count >= records / 2 && clear > 0 && atMode(indexes) >= count / 2 && median(indexes) <= 2;
    if (!isColumn || (isBare && look !== '> A ')) looks.delete(look);
  }
  return acceptLooks(looks, records);
}
