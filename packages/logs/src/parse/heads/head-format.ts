import { type FormatName, type FormatOptions, type HeadProgram, MAX_HEAD_BYTES } from '../format.ts';
import {
  type Columns,
  columns as columnsOf,
  headFields,
  type ShapedFormat,
  splitRecord,
  trimLineEnd,
} from '../formats/define-format.ts';
import { isDigit, QUOTE, SPACE, skipDigits, skipWord, startsWith, TAB } from '../formats/tokens/byte-scan.ts';
import { findLevel } from '../formats/tokens/find-level.ts';
import type { Zone } from '../zone.ts';
import { findLevels, type LevelCandidate, packLook } from './find-levels.ts';
import { createTimeCompleter, readSlot, skipLeadingMarks } from './find-times.ts';
import { createHeadProgram, type FoundTime } from './head-program.ts';
import type { HeadSlot, LearnedHead, LevelSlot } from './learn-head.ts';
import {
  findFacilitySeverity,
  findStatusRank,
  REMARK,
  readMarkRank,
  readReport,
  reportsCrash,
} from './message-levels.ts';
import { priorityRank, skipEnvelope, startOfText, syslogTag, tagEnd } from './syslog-envelope.ts';
import {
  createWrittenTime,
  isPartialSpelling,
  readWrittenTime,
  type Spelling,
  spellingRank,
} from './time-spellings.ts';

/** Time and level are within this much of a line, but for the status of a long request. */
const NEAR_BYTES = 4096;

/** A line whose time was found. */
export interface TimedLine {
  bytes: Buffer;
  start: number;
  /** Without CR and LF. */
  end: number;
  timeAt: number;
  timeEnd: number;
  spelling: Spelling;
}

/** Splits what is around the time of a line into columns: source, loggers, message, and fields. */
export interface ColumnSet<Name extends string = string> {
  readonly name: Name;
  /** `undefined` if the line does not have these columns. */
  read(line: TimedLine, zone: Zone): Columns | undefined;
  /** Columns of a line of such a file that `read` does not know; its message, unless given. */
  readOther?(line: TimedLine): Columns | undefined;
}

interface HeadFormatOptions extends FormatOptions {
  name: FormatName;
  spec: FormatName;
  learned: LearnedHead;
  /** What letters mean in this format that mean something else elsewhere. */
  letters: Readonly<Record<string, number>> | undefined;
  columns: ColumnSet | undefined;
  /** Reads lines that are JSON. */
  json: ShapedFormat;
}

/** A format that can also say where the time of a line is, from which columns are chosen. */
export interface HeadFormat extends ShapedFormat {
  findLine(bytes: Buffer, start: number, lineEnd: number): TimedLine | undefined;
}

/** Whether times may lack a year or a date, so that they depend on when the file was written. */
export function hasPartialSlots({ slots }: LearnedHead): boolean {
  return slots.some(({ spelling }) => isPartialSpelling(spelling));
}

const OPEN_BRACE = 123;

/** The level on the line below. */
const LEVEL_BELOW = /^\n[A-Z]+: ?/;

/** What is around the time of a line without columns: the message behind it, and what is in front of it. */
function readRest({ bytes, start, end, timeAt, timeEnd }: TimedLine): Columns {
  const lead = bytes
    .toString('utf8', start, timeAt)
    .replace(/[[("'<\s]+$/, '')
    .trim();
  const message = bytes
    .toString('utf8', timeEnd, end)
    .replace(/^[\])>"':;,|\s]+/, '')
    .trimEnd();
  return columnsOf(message, { context: { lead: lead || undefined } });
}

/** Where the head of a line is. One object is reused. */
interface FoundHead extends FoundTime {
  bodyAt: number;
  /** Whether the line, or what it relays, is JSON. */
  isJson: boolean;
  isRelayed: boolean;
}

const NO_HEAD: FoundHead = {
  ...{ timeMs: Number.NaN, rank: 0, timeAt: 0, timeEnd: 0, bodyAt: 0, isJson: false, isRelayed: false },
  ...{ slot: -1, from: 0, spelling: 'iso', timeRank: 0, envelopeRank: 0 },
};

/** Parses lines by what was learned of the file they are in. A line that does not fit but starts with a full date starts a record, too. */
export function createHeadFormat({
  name,
  spec,
  learned,
  letters,
  columns,
  json,
  zone,
  writtenMs,
}: HeadFormatOptions): HeadFormat {
  const complete = createTimeCompleter({ zone, writtenMs }, learned.order);
  const time = createWrittenTime();
  const found: FoundHead = { ...NO_HEAD };
  const candidate: LevelCandidate = { rank: 0, isAmbiguous: false, look: 0, index: 0, letter: '' };
  const timed = learned.slots.length > 0;
  const { relayed } = learned;
  const isBelow = learned.slots.some(({ other }) => other === 'below');
  // Only databases report crashes below the level of errors; looking for them in other logs would take time.
  const mayCrash =
    learned.slots.some(({ postgres, other }) => postgres || other === 'mark') ||
    /^(?:mysql|mongodb)/.test(columns?.name ?? '');

  /** The slot in which the line has a time; `null` if it has a full date at its start. Leaves it in `time`. */
  const findTime = (bytes: Buffer, from: number, end: number): HeadSlot | null | undefined => {
    const first = bytes[from];
    if ((first === SPACE || first === TAB) && !learned.indented) return undefined;
    for (let index = 0; index < learned.slots.length; index++) {
      const slot = learned.slots[index];
      if (!slot) continue;
      found.timeAt = readSlot(bytes, from, end, slot, time);
      if (found.timeAt < 0) continue;
      found.slot = index;
      const isContinued = index > 0 && relayed !== undefined && relayed.includes(syslogTag(bytes, time.end, end));
      return isContinued ? undefined : slot;
    }
    found.slot = -1;
    found.timeAt = skipLeadingMarks(bytes, from, end);
    if (learned.slots[0]?.other === 'mark') found.timeAt = skipSignalHandler(bytes, from, end) ?? found.timeAt;
    if (!readWrittenTime(bytes, found.timeAt, end, time)) return undefined;
    const isSure = spellingRank(time.spelling) === 2 || time.spelling === 'glog' || time.spelling === 'month-day-clock';
    // A line that is nothing but a date is a part of a banner.
    return isSure && time.end < end ? null : undefined;
  };

  const columnsOfLevels = new Map<HeadSlot, LevelColumns>(
    learned.slots.map((slot) => [slot, compileLevels(slot.levels)]),
  );
  const untimedLevels = compileLevels(learned.untimedLevels);
  let wanted: readonly LevelColumn[] = [];
  let best = 0;
  let bestRank = 0;
  const visitLevel = ({ look, index, rank, letter }: LevelCandidate): boolean => {
    if (rank < 0) return false;
    for (let at = 0; at < wanted.length; at++) {
      const column = wanted[at];
      if (!column || column.place >= best) break;
      if (column.look !== look || index < column.least || index > column.most) continue;
      best = column.place;
      bestRank = letters?.[letter] ?? rank;
    }
    return best === 0;
  };
  /** The rank of the level in the best of the columns, of which the first in the line counts. */
  const readLevels = (bytes: Buffer, from: number, end: number, { before, after, mostWords }: LevelColumns): number => {
    best = Number.POSITIVE_INFINITY;
    bestRank = 0;
    if (before.length > 0) {
      wanted = before;
      findLevels(bytes, from, found.timeAt, 'before', candidate, visitLevel);
    }
    if (after.length > 0 && best > 0) {
      wanted = after;
      findLevels(bytes, time.end, end, 'after', candidate, visitLevel, mostWords);
    }
    return bestRank;
  };

  const readRank = (bytes: Buffer, from: number, end: number, slot: HeadSlot | null): number => {
    if (time.rank > 0) return time.rank;
    if (slot === null) return findLevel(bytes, time.end, end);
    if (slot.other === 'mark') return readMarkRank(bytes, time.end, end);
    let rank = slot.other === 'facility' ? findFacilitySeverity(bytes, time.end, end) : 0;
    const levels = columnsOfLevels.get(slot);
    if (rank === 0 && levels) rank = readLevels(bytes, from, end, levels);
    if (rank === 0 && (slot.other === 'status' || isQuoted(bytes, time.end)))
      rank = findStatusRank(bytes, time.end, end);
    return rank;
  };

  const readHead = (bytes: Buffer, start: number, lineEnd: number): boolean => {
    const from = skipEnvelope(bytes, start, lineEnd);
    if (from >= lineEnd) return false;
    const end = Math.min(lineEnd, start + NEAR_BYTES);
    const headEnd = Math.min(lineEnd, start + MAX_HEAD_BYTES);
    found.isJson = false;
    found.isRelayed = false;
    found.from = from;
    if (bytes[from] === OPEN_BRACE && bytes[from + 1] === QUOTE && json.readHead(bytes, from, headEnd, found)) {
      found.isJson = name === 'json-mixed' || !Number.isNaN(found.timeMs);
      if (found.isJson) return true;
    }
    if (!timed) return readUntimed(bytes, start, from, end);
    // RFC 5424 writes `-` for an unknown time.
    if (from > start && bytes[from - 1] === SPACE && startsWith(bytes, from, end, '- ')) {
      found.timeMs = Number.NaN;
      found.bodyAt = from + 1;
      found.rank = priorityRank(bytes, start, from);
      return true;
    }
    const slot = findTime(bytes, from, end);
    if (slot === undefined) return false;
    const timeMs = complete(time);
    if (Number.isNaN(timeMs)) return false;
    if (time.spelling === 'glog' && isContinuedGlog(bytes, time.end, end)) return false;
    const reported = slot?.postgres ? readReport(bytes, time.end, end) : 0;
    if (reported === REMARK) return false;
    found.timeMs = timeMs;
    found.bodyAt = time.end;
    found.isRelayed = time.spelling === 'month-day-clock' && readRelayed(bytes, time.end, headEnd);
    if (found.isRelayed) return true;
    found.rank = reported || (slot?.other === 'status' ? priorityRank(bytes, start, from) : 0);
    found.rank ||= readRank(bytes, from, slot?.other === 'status' ? headEnd : end, slot);
    if (found.rank === 0) found.rank = messageRank(bytes, time.end, end) || priorityRank(bytes, start, from);
    if (slot?.other === 'below') found.rank ||= rankBelow(bytes, lineEnd);
    if (mayCrash && found.rank <= 3 && reportsCrash(bytes, time.end, end)) found.rank = 5;
    return true;
  };

  /** A line of JSON that a syslog daemon relays says itself what its time and level are. */
  const readRelayed = (bytes: Buffer, timeEnd: number, lineEnd: number): boolean => {
    const at = tagEnd(bytes, timeEnd, lineEnd);
    if (at < 0 || bytes[at + 2] !== OPEN_BRACE) return false;
    const { timeMs } = found;
    if (json.readHead(bytes, at + 2, lineEnd, found) && !Number.isNaN(found.timeMs)) return true;
    found.timeMs = timeMs;
    return false;
  };

  /** Text without times: every line is a record, except for indented and empty ones. */
  const readUntimed = (bytes: Buffer, start: number, from: number, end: number): boolean => {
    if (bytes[from] === SPACE || bytes[from] === TAB) return false;
    found.timeMs = Number.NaN;
    found.timeAt = from;
    found.bodyAt = from;
    time.end = from;
    found.rank =
      (untimedLevels.after.length > 0 ? readLevels(bytes, from, end, untimedLevels) : 0) ||
      readFirstLevel(bytes, from, end, candidate) ||
      priorityRank(bytes, start, from);
    return true;
  };

  let program: HeadProgram | undefined;
  const find = (bytes: Buffer, start: number, lineEnd: number): FoundTime | undefined => {
    const isFound = readHead(bytes, start, lineEnd);
    if (!isFound || found.isJson || found.isRelayed || Number.isNaN(found.timeMs)) return undefined;
    found.timeEnd = time.end;
    found.spelling = time.spelling;
    found.timeRank = time.rank;
    found.envelopeRank = priorityRank(bytes, start, found.from);
    return found;
  };

  return {
    get program() {
      program ??= createHeadProgram({ ...learned, letters, mayCrash, find });
      return program;
    },
    name,
    spec,
    timed,
    ...(isBelow && { readsBelow: true }),
    readHead(bytes, start, end, head) {
      if (!readHead(bytes, start, trimLineEnd(bytes, start, end))) return false;
      head.timeMs = found.timeMs;
      head.rank = found.rank;
      return true;
    },
    decode(bytes, start, end) {
      const { lineEnd, more } = splitRecord(bytes, start, end);
      if (!readHead(bytes, start, lineEnd)) return { message: bytes.toString('utf8', start, lineEnd) + more };
      const known = headFields(found);
      if (found.isJson) {
        const { timeMs: _timeMs, level: _level, ...fields } = json.decode(bytes, start, end);
        return { ...known, ...fields };
      }
      if (!timed) return { ...known, message: bytes.toString('utf8', found.bodyAt, lineEnd) + more };
      const { timeAt, bodyAt: timeEnd } = found;
      const line = { bytes, start: startOfText(bytes, start), end: lineEnd, timeAt, timeEnd, spelling: time.spelling };
      const fields = columns?.read(line, zone) ?? columns?.readOther?.(line) ?? readRest(line);
      const below = isBelow ? more.replace(LEVEL_BELOW, '') : more;
      return {
        ...known,
        ...fields,
        message: fields.message === '' ? below.replace(/^\n/, '') : fields.message + below,
      };
    },
    isTypical: (bytes, start, end) => readHead(bytes, start, trimLineEnd(bytes, start, end)),
    findLine(bytes, start, lineEnd) {
      if (!readHead(bytes, start, lineEnd) || found.isJson || Number.isNaN(found.timeMs)) return undefined;
      const { timeAt, bodyAt: timeEnd } = found;
      return { bytes, start: startOfText(bytes, start), end: lineEnd, timeAt, timeEnd, spelling: time.spelling };
    },
  };
}

/** A column of levels, and how good it is: the best has place 0. */
interface LevelColumn {
  look: number;
  least: number;
  most: number;
  place: number;
}

interface LevelColumns {
  before: LevelColumn[];
  after: LevelColumn[];
  /** Further words behind the time need not be read. */
  mostWords: number;
}

function compileLevels(slots: readonly LevelSlot[]): LevelColumns {
  const columns = slots.map(({ look, least, most }, place) => ({ look: packLook(look), least, most, place }));
  const [before, after] = ['<', '>'].map((side) => columns.filter(({ place }) => slots[place]?.look.startsWith(side)));
  return {
    before: before ?? [],
    after: after ?? [],
    mostWords: 1 + Math.max(0, ...(after ?? []).map(({ most }) => most)),
  };
}

/** The level at the start of a line without a time: between marks or before a colon, `[warn] ` or `ERROR: `. */
function readFirstLevel(bytes: Buffer, from: number, end: number, candidate: LevelCandidate): number {
  let rank = 0;
  findLevels(bytes, from, end, 'after', candidate, ({ look, index, rank: own, isAmbiguous }) => {
    if (index === 0 && own > 0 && !isAmbiguous && FIRST_LOOKS.has(look)) rank = own;
    return true;
  });
  return rank;
}

const FIRST_LOOKS: ReadonlySet<number> = new Set(
  ['[]', '()', '<>', ' A:', ' a:', ' Aa:', 'key'].map((look) => packLook(`>${look}`)),
);

/** Whether what follows the time is quoted, as requests are. */
function isQuoted(bytes: Buffer, timeEnd: number): boolean {
  const at = bytes[timeEnd] === 93 ? timeEnd + 1 : timeEnd;
  return bytes[at] === SPACE && bytes[at + 1] === QUOTE;
}

/** A message of syslog may start with its level: `sshd[1]: error: ...`. */
function messageRank(bytes: Buffer, timeEnd: number, end: number): number {
  let at = timeEnd;
  for (let words = 0; words < 4 && at < end; words++) {
    while (at < end && bytes[at] === SPACE) at++;
    const wordEnd = skipWord(bytes, at, end);
    // Without a host the tag is the first word: `dnsmasq[1]: `.
    if (wordEnd > at && bytes[wordEnd - 1] === 58 && (words > 0 || bytes[wordEnd - 2] === 93))
      return findLevel(bytes, wordEnd, end, { maxTokens: 1, mayBeProse: true });
    at = wordEnd;
  }
  return 0;
}

/** Redis cannot determine the local time in a signal handler: `1:signal-handler (1723801703) message`. */
function skipSignalHandler(bytes: Buffer, from: number, end: number): number | undefined {
  const at = skipDigits(bytes, from, Math.min(end, from + 10));
  return startsWith(bytes, at, end, SIGNAL) ? at + SIGNAL.length : undefined;
}

const SIGNAL = ':signal-handler (';
const LONGEST_LEVEL = 16;

/** The level at the start of the next line, as java.util.logging writes it: `SEVERE: message`. */
function rankBelow(bytes: Buffer, lineEnd: number): number {
  const next = bytes.indexOf(10, lineEnd) + 1;
  return next === 0 ? 0 : findLevel(bytes, next, Math.min(bytes.length, next + LONGEST_LEVEL), { maxTokens: 1 });
}

const CLOSING_BRACKET = 93;
const PLUS = 43;
const BAR = 124;

/** How far the tags of CockroachDB are followed for the counter behind them. */
const MAX_TAGS_BYTES = 1024;

/**
 * CockroachDB writes the whole head again on each further line of a record, with a `+` or `|` after its counter:
 * `I261115 00:21:26.600123 14 file.go:1 ⋮ [n1] 40 +more`.
 */
function isContinuedGlog(bytes: Buffer, start: number, end: number): boolean {
  const limit = Math.min(end, start + MAX_TAGS_BYTES);
  for (let at = start; at < limit - 4; at++) {
    if (bytes[at] !== CLOSING_BRACKET || bytes[at + 1] !== SPACE || !isDigit(bytes[at + 2])) continue;
    const after = skipDigits(bytes, at + 2, limit);
    const mark = bytes[after] === SPACE ? bytes[after + 1] : undefined;
    return mark === PLUS || mark === BAR;
  }
  return false;
}
