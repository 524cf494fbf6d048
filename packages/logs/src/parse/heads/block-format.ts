import type { FormatOptions } from '../format.ts';
import { headFields, type ShapedFormat, splitRecord, trimLineEnd } from '../formats/define-format.ts';
import { isDigit, skipLetters, startsWith } from '../formats/tokens/byte-scan.ts';
import { findLevelWord, severityRank } from '../level.ts';
import { createTimeCompleter, skipLeadingMarks } from './find-times.ts';
import { createWrittenTime, readWrittenTime, spellingRank } from './time-spellings.ts';

export const BLOCK_NAMES = [
  'journal-export',
  'windows-event-xml',
  'log4j-xml',
  'log4j2-xml',
  'jul-xml',
  'enterprise-library',
  'ossec-alerts',
  'snort-full',
] as const;

export type BlockName = (typeof BLOCK_NAMES)[number];

export function isBlockName(name: string): name is BlockName {
  return BLOCK_NAMES.includes(name as BlockName);
}

/** Records of several lines of which the first shows that one starts, and further ones have its time and level. */
interface BlockKind {
  /** How the first line of a record starts. */
  lead: string;
  /** What precedes the time; nothing if it starts the first line that starts with one. */
  time: string;
  /** What precedes the level, a word or a number, which is a severity of syslog unless there are ranks for it. */
  level?: string;
  ranks?: readonly number[];
  /** What the message is between, if it is not all lines below the first. */
  message?: readonly [open: string, close: string];
}

const CDATA = ['<![CDATA[', ']]>'] as const;

const KINDS: Readonly<Record<BlockName, BlockKind>> = {
  'journal-export': { lead: '__CURSOR=', time: '__REALTIME_TIMESTAMP=', level: 'PRIORITY=' },
  'windows-event-xml': {
    lead: '<Event xmlns=',
    time: 'SystemTime=',
    level: '<Level>',
    ranks: [3, 6, 5, 4, 3, 1],
    message: ['<EventData>', '</EventData>'],
  },
  'log4j-xml': { lead: '<log4j:event ', time: 'timestamp="', level: 'level="', message: CDATA },
  'log4j2-xml': { lead: '<Event ', time: 'timeMillis="', level: 'level="', message: ['<Message>', '</Message>'] },
  'jul-xml': { lead: '<record>', time: '<millis>', level: '<level>', message: ['<message>', '</message>'] },
  'enterprise-library': {
    lead: 'Timestamp: ',
    time: 'Timestamp: ',
    level: '\nSeverity: ',
    message: ['\nMessage: ', '\n'],
  },
  'ossec-alerts': { lead: '** Alert ', time: '' },
  'snort-full': { lead: '[**] [', time: '' },
};

/** How far below its first line the time and the level of a record are searched for: whoever scans has loaded this much. */
const MAX_BYTES = 2048;

/** Lines in front of the first record, like the declaration of XML. */
const MOST_LINES_BEFORE = 8;

/** The format of blocks that a text starts with. */
export function detectBlocks(bytes: Buffer, options: FormatOptions): ShapedFormat | undefined {
  let start = 0;
  for (let line = 0; line < MOST_LINES_BEFORE && start < bytes.length; line++) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    const name = BLOCK_NAMES.find((known) => startsWith(bytes, start, end, KINDS[known].lead));
    if (name) {
      const format = createBlockFormat(name, options);
      const head = { timeMs: Number.NaN, rank: 0 };
      format.readHead(bytes, start, end, head);
      return Number.isNaN(head.timeMs) ? undefined : format;
    }
    start = end + 1;
  }
  return undefined;
}

export function createBlockFormat(name: BlockName, options: FormatOptions): ShapedFormat {
  const { lead, time: timeKey, level, ranks, message } = KINDS[name];
  const complete = createTimeCompleter(options, 'mdy');
  const time = createWrittenTime();
  const found = { timeMs: Number.NaN, rank: 0 };
  const next = `\n${lead}`;
  const readBlock = (bytes: Buffer, start: number): void => {
    const limit = Math.min(bytes.length, start + MAX_BYTES);
    const block = bytes.subarray(0, limit);
    const nextAt = block.indexOf(next, start);
    const end = nextAt < 0 ? limit : nextAt;
    const timeAt = timeKey === '' ? findDatedLine(block, start, end) : valueAt(block, start, end, timeKey);
    const textAt = timeAt < 0 ? end : skipLeadingMarks(block, timeAt, end);
    found.timeMs = readWrittenTime(block, textAt, end, time) ? complete(time) : Number.NaN;
    const levelAt = level === undefined ? -1 : valueAt(block, start, end, level);
    found.rank = levelAt < 0 ? 0 : readLevel(block, levelAt, end, ranks);
  };
  /** The position of the first line that starts with a date. */
  const findDatedLine = (bytes: Buffer, start: number, end: number): number => {
    for (let line = bytes.indexOf(10, start) + 1; line > 0 && line < end; line = bytes.indexOf(10, line) + 1)
      if (readWrittenTime(bytes, line, end, time) && spellingRank(time.spelling) > 0) return line;
    return -1;
  };
  return {
    name,
    spec: name,
    timed: true,
    readsBelow: true,
    readHead(bytes, start, end, head) {
      if (!startsWith(bytes, start, end, lead)) return false;
      readBlock(bytes, start);
      head.timeMs = found.timeMs;
      head.rank = found.rank;
      return true;
    },
    decode(bytes, start, end) {
      const { lineEnd, more } = splitRecord(bytes, start, end);
      if (!startsWith(bytes, start, lineEnd, lead)) return { message: bytes.toString('utf8', start, lineEnd) + more };
      readBlock(bytes.subarray(0, end), start);
      const known = headFields(found);
      if (message) return { ...known, message: between(bytes.toString('utf8', start, end), message) };
      const first = bytes.toString('utf8', start + lead.length, trimLineEnd(bytes, start, lineEnd));
      if (timeKey === '') return { ...known, message: first + more };
      return { ...known, message: more.replace(/^\n/, '').replace(new RegExp(`^${timeKey}.*\n?`, 'm'), '') };
    },
    isTypical: (bytes, start, end) => startsWith(bytes, start, end, lead),
  };
}

function valueAt(bytes: Buffer, start: number, end: number, key: string): number {
  const at = bytes.indexOf(key, start);
  return at < 0 || at >= end ? -1 : at + key.length;
}

function readLevel(bytes: Buffer, at: number, end: number, ranks: readonly number[] | undefined): number {
  const digit = (bytes[at] ?? 0) - 48;
  if (isDigit(bytes[at])) return ranks ? (ranks[digit] ?? 0) : severityRank(digit);
  return findLevelWord(bytes, at, skipLetters(bytes, at, end))?.rank ?? 0;
}

function between(text: string, [open, close]: readonly [string, string]): string {
  const from = text.indexOf(open);
  const to = text.indexOf(close, from + open.length);
  return from < 0 || to < 0 ? text.trimEnd() : text.slice(from + open.length, to);
}
