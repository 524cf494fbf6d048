import type { HeadProgram, LineHead } from '../format.ts';
import { isDigit, isLetter } from '../formats/tokens/byte-scan.ts';
import { packLook } from './find-levels.ts';
import type { HeadSlot, LevelSlot } from './learn-head.ts';
import type { Spelling } from './time-spellings.ts';

/*
 * What was learned of a file's lines as the scan kernel reads it (kernel/scan/heads.ts). The kernel knows no spelling of
 * times: it compares them with entries, times that a format has read before, and reads the clock alone. A day in a file
 * is one entry, in whatever spelling, language and zone. Lines of which the kernel is not sure are read by the format.
 */

/** Where the time of a line was found, and when it is. One object may be reused. */
export interface FoundTime extends LineHead {
  /** Index of the slot; negative if the time is in none of them. */
  slot: number;
  /** Where the line starts behind an envelope like `<34>`. */
  from: number;
  timeAt: number;
  timeEnd: number;
  spelling: Spelling;
  /** The rank of the level that is a part of the spelling. */
  timeRank: number;
  /** The rank of the envelope, which counts if the line has no other level. */
  envelopeRank: number;
}

export interface ProgramOptions {
  slots: readonly HeadSlot[];
  indented: boolean;
  /** What letters mean in this format that mean something else elsewhere. */
  letters: Readonly<Record<string, number>> | undefined;
  /** Whether messages may report crashes, whatever their level is. */
  mayCrash: boolean;
  /** The level is a column between tabs, and nothing but a fraction is looked for behind the time. */
  isColumn?: boolean;
  /** The time of a line that starts a record, and is not JSON. The line is given without CR and LF. */
  find(bytes: Buffer, start: number, lineEnd: number): FoundTime | undefined;
}

/** Lines that start with their time, and levels which something else knows of. */
export const START_SLOT: HeadSlot = {
  ...{ spelling: 'iso', place: 'start', before: 0, mostWords: 0, levels: [], other: '', postgres: false },
};

/** One is made of it for each format, and then reused. */
export const NO_TIME: FoundTime = {
  ...{ timeMs: Number.NaN, rank: 0, slot: 0, from: 0, timeAt: 0, timeEnd: 0 },
  ...{ spelling: 'iso', timeRank: 0, envelopeRank: 0 },
};

const SLOTS_AT = 64;
const SLOT_BYTES = 256;
const MOST_SLOTS = 4;
const COLUMN_BYTES = 24;
const MOST_COLUMNS = 10;
const LETTERS_AT = SLOTS_AT + MOST_SLOTS * SLOT_BYTES;
const ENTRIES_AT = LETTERS_AT + 256;
const ENTRY_BYTES = 208;
const MOST_ENTRIES = 32;
const PREFIX_AT = 48;
const MOST_PREFIX_BYTES = 48;
const TAIL_AT = 144;
const MOST_TAIL_BYTES = 32;

/** Instead of the rank of a letter: the usual one. */
const NO_RANK = 255;

const HOUR_MS = 3_600_000;

/** If the clock does not change between these, it does not on that day. */
const WHOLE_DAY = ['00:00:00', '12:00:00', '23:59:59'];

/** An entry takes as long as reading this many lines, and is worth it only if as many lines have that time. */
const ENTRY_COST = 64;
const FIRST_CREDIT = 32 * ENTRY_COST;
const MOST_CREDIT = 2 * FIRST_CREDIT;

/** Lines behind the time are read this far to find its end. */
const BEHIND_BYTES = 64;

class LearnedProgram implements HeadProgram {
  readonly image = new Uint8Array(ENTRIES_AT + MOST_ENTRIES * ENTRY_BYTES);
  readonly #view = new DataView(this.image.buffer);
  readonly #options: ProgramOptions;
  readonly #scratch = Buffer.alloc(1024);
  #entries = 0;
  #credit = FIRST_CREDIT;

  constructor(options: ProgramOptions) {
    this.#options = options;
    const { slots, indented, letters, mayCrash } = options;
    const [first] = slots;
    const isAtStart = first?.place === 'start';
    // Redis writes other heads, too.
    const mayReject =
      first?.other !== 'mark' && (isAtStart ? slots.every(({ place }) => place === 'start') : slots.length === 1);
    const header = [
      isAtStart ? 1 : 2,
      first?.before ?? 0,
      first?.mostWords ?? 0,
      Number(indented) + 2 * Number(mayReject),
    ];
    for (const [index, value] of [...header, 0, Number(mayCrash)].entries())
      this.#view.setUint32(index * 4, value, true);
    for (const [index, slot] of slots.entries()) this.#writeSlot(SLOTS_AT + index * SLOT_BYTES, slot);
    this.image.fill(NO_RANK, LETTERS_AT, ENTRIES_AT);
    for (const [letter, rank] of Object.entries(letters ?? {})) this.image[LETTERS_AT + letter.charCodeAt(0)] = rank;
  }

  addCredit(lines: number): void {
    this.#credit = Math.min(MOST_CREDIT, this.#credit + lines);
  }

  learn(bytes: Buffer, line: number, lineEnd: number): boolean {
    if (this.#credit < ENTRY_COST) return false;
    const { slots, find } = this.#options;
    const read = find(bytes, line, lineEnd);
    const slot = slots[read?.slot ?? -1];
    if (!read || !slot || !this.#canRead(slot, read, line)) return false;
    // The object is reused.
    const found = { ...read };
    const { timeAt, timeEnd } = found;
    const prefixAt = slot.place === 'start' ? line : timeAt;
    const clockAt = findClock(bytes, timeAt, timeEnd);
    if (clockAt < 0 || clockAt - prefixAt > MOST_PREFIX_BYTES) return false;
    const fraction = readFraction(bytes, clockAt + 8, timeEnd);
    const tail = bytes.subarray(fraction.end, timeEnd);
    // `-03` may also be a number, depending on what follows.
    if (tail.length > MOST_TAIL_BYTES || /^ ?[+-]\d\d$/.test(tail.toString('latin1'))) return false;
    const range = this.#clockRange(found, bytes, line, lineEnd, clockAt, fraction.ms);
    if (!range) return false;
    this.#credit -= ENTRY_COST;
    this.#writeEntry(found, {
      prefix: bytes.subarray(prefixAt, clockAt),
      tail,
      fractionMark: fraction.mark,
      ...range,
      timeAt: timeAt - line,
      from: found.from - line,
    });
    return true;
  }

  #canRead(slot: HeadSlot, { slot: index, from }: FoundTime, line: number): boolean {
    const { slots } = this.#options;
    if (!isReadable(slot) || (from > line && (slot.other === 'status' || slot.place === 'behind'))) return false;
    return slot.place === 'start' ? slots.slice(0, index).every(({ place }) => place === 'start') : index === 0;
  }

  /**
   * The times of day for which the time is as far from the clock as in this line: all, but for days on which clocks change,
   * and for clocks without a date. Found by reading the line with other clocks.
   */
  #clockRange(
    { slot, timeAt, timeEnd }: FoundTime,
    bytes: Buffer,
    line: number,
    lineEnd: number,
    clockAt: number,
    fractionMs: number,
  ): { baseMs: number; fromMs: number; toMs: number } | undefined {
    const size = Math.min(lineEnd, timeEnd + BEHIND_BYTES) - line;
    if (size > this.#scratch.length) return undefined;
    const scratch = this.#scratch.subarray(0, bytes.copy(this.#scratch, 0, line, line + size));
    const baseMs = (clock: string) => {
      scratch.write(clock, clockAt - line, 'latin1');
      const read = this.#options.find(scratch, 0, size);
      const isSame = read?.slot === slot && read.timeAt === timeAt - line && read.timeEnd === timeEnd - line;
      return isSame ? read.timeMs - fractionMs - msOfDay(clock) : Number.NaN;
    };
    const own = bytes.toString('latin1', clockAt, clockAt + 8);
    const ownMs = baseMs(own);
    const isLike = (clock: string) => baseMs(clock) === ownMs;
    if (Number.isNaN(ownMs)) return undefined;
    if (WHOLE_DAY.every(isLike)) return { baseMs: ownMs, fromMs: 0, toMs: 24 * HOUR_MS };
    const hour = Number(own.slice(0, 2));
    const isHourLike = (each: number) => {
      const digits = String(each).padStart(2, '0');
      return each >= 0 && each < 24 && isLike(`${digits}:00:00`) && isLike(`${digits}:59:59`);
    };
    if (!isHourLike(hour)) return undefined;
    let [first, last] = [hour, hour];
    while (isHourLike(first - 1)) first--;
    while (isHourLike(last + 1)) last++;
    return { baseMs: ownMs, fromMs: first * HOUR_MS, toMs: (last + 1) * HOUR_MS };
  }

  #writeSlot(at: number, slot: HeadSlot): void {
    const { levels, other, postgres } = slot;
    if (!isReadable(slot)) return;
    const sides = ['<', '>'].map((side) => levels.filter(({ look }) => look.startsWith(side)));
    const [before = [], after = []] = sides;
    const isColumn = this.#options.isColumn ?? false;
    const kind =
      Number(other === 'status') + 2 * Number(other === 'mark') + 4 * Number(postgres) + 8 * Number(isColumn);
    const mostWords = 1 + Math.max(0, ...after.map(({ most }) => most));
    for (const [index, value] of [kind, mostWords, before.length, after.length].entries())
      this.#view.setUint32(at + index * 4, value, true);
    for (const [index, column] of [...before, ...after].entries())
      this.#writeColumn(at + 16 + index * COLUMN_BYTES, column, levels.indexOf(column));
  }

  #writeColumn(at: number, { look, least, most }: LevelSlot, place: number): void {
    this.#view.setBigUint64(at, BigInt(packLook(look)), true);
    for (const [index, value] of [least, most, place].entries()) this.#view.setUint32(at + 8 + index * 4, value, true);
  }

  #writeEntry({ slot, spelling, timeRank, envelopeRank }: FoundTime, entry: Entry): void {
    const view = this.#view;
    const at = ENTRIES_AT + (this.#entries++ % MOST_ENTRIES) * ENTRY_BYTES;
    view.setUint32(16, Math.min(this.#entries, MOST_ENTRIES), true);
    this.image.fill(0, at, at + ENTRY_BYTES);
    const { prefix, tail, fractionMark, baseMs, fromMs, toMs, timeAt, from } = entry;
    const follows =
      Number(YEAR_MAY_FOLLOW.has(spelling)) +
      2 * Number(spelling === 'month-day-clock') +
      4 * Number(spelling === 'glog') +
      8 * Number(this.#options.isColumn ?? false);
    const first = [prefix.length, tail.length, fractionMark, slot + envelopeRank * 256];
    for (const [index, value] of first.entries()) view.setUint32(at + index * 4, value, true);
    view.setFloat64(at + 16, baseMs, true);
    for (const [index, value] of [fromMs, toMs, timeRank, timeAt, follows, from].entries())
      view.setUint32(at + 24 + index * 4, value, true);
    this.image.set(prefix, at + PREFIX_AT);
    this.image.fill(255, at + PREFIX_AT + MOST_PREFIX_BYTES, at + PREFIX_AT + MOST_PREFIX_BYTES + prefix.length);
    this.image.set(tail, at + TAIL_AT);
    this.image.fill(255, at + TAIL_AT + MOST_TAIL_BYTES, at + TAIL_AT + MOST_TAIL_BYTES + tail.length);
  }
}

interface Entry {
  prefix: Uint8Array;
  tail: Uint8Array;
  fractionMark: number;
  baseMs: number;
  fromMs: number;
  toMs: number;
  timeAt: number;
  from: number;
}

const YEAR_MAY_FOLLOW: ReadonlySet<Spelling> = new Set<Spelling>([
  'month-day-clock',
  'day-month-clock',
  'month-day',
  'day-month',
]);

/** The program for what was learned of a file; `undefined` if the kernel cannot read its lines. */
export function createHeadProgram(options: ProgramOptions): HeadProgram | undefined {
  const { slots } = options;
  const [first] = slots;
  if (!first || !isReadable(first) || slots.length > MOST_SLOTS) return undefined;
  // Whether a line that is relayed starts a record depends on which program wrote it.
  if (slots.some(({ relayed }) => relayed)) return undefined;
  if (first.place === 'behind' && (first.spelling === 'clock' || !isPlainMark(first.before))) return undefined;
  return new LearnedProgram(options);
}

/** Whether the kernel reads levels where lines of the slot have them. */
function isReadable({ levels, other }: HeadSlot): boolean {
  return levels.length <= MOST_COLUMNS && other !== 'facility' && other !== 'below';
}

/** Behind other bytes it depends on those before them whether a time may start. */
function isPlainMark(byte: number): boolean {
  return byte < 128 && !isLetter(byte) && !isDigit(byte) && !'_.:/-,'.includes(String.fromCharCode(byte));
}

/** The position of `hh:mm:ss`; negative if there is none, or one that is not clear. */
function findClock(bytes: Buffer, start: number, end: number): number {
  const match = /(?<!\d)\d\d:\d\d:\d\d(?![\d:])/.exec(bytes.toString('latin1', start, end));
  return match ? start + match.index : -1;
}

function readFraction(bytes: Buffer, at: number, end: number): { mark: number; ms: number; end: number } {
  const digits = /^[.,](\d+)/.exec(bytes.toString('latin1', at, end))?.[1];
  if (digits === undefined) return { mark: 0, ms: 0, end: at };
  return { mark: bytes[at] ?? 0, ms: Number(digits.slice(0, 3).padEnd(3, '0')), end: at + 1 + digits.length };
}

function msOfDay(clock: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}
