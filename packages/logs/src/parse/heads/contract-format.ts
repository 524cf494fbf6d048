import { decodeRecord } from '../decode-record.ts';
import type { FormatOptions, HeadProgram, RecordFields } from '../format.ts';
import { type ShapedFormat, trimLineEnd } from '../formats/define-format.ts';
import { SPACE, skipLetters, TAB } from '../formats/tokens/byte-scan.ts';
import { findLevelWord, LONGEST_LEVEL, levelRank, parseLevel } from '../level.ts';
import { parseTimestamp } from '../timestamp.ts';
import { createHeadProgram, type FoundTime, NO_TIME, START_SLOT } from './head-program.ts';

/** The line format of the contract, as parsed by `findColumns`: time⇥LEVEL⇥file:line⇥[tags]: message⇥{json}. */
export function createContractFormat({ zone }: FormatOptions): ShapedFormat {
  let program: HeadProgram | undefined;
  const found: FoundTime = { ...NO_TIME };
  const find = (bytes: Buffer, start: number, lineEnd: number) => {
    const time = parseTimestamp(bytes, start, lineEnd);
    if (!time) return undefined;
    found.from = start;
    found.timeAt = start;
    found.timeEnd = time.end;
    found.timeMs = zone.toEpochMs(time.localMs);
    return found;
  };
  return {
    get program() {
      program ??= createHeadProgram({
        slots: [START_SLOT],
        indented: false,
        letters: undefined,
        mayCrash: false,
        isColumn: true,
        find,
      });
      return program;
    },
    name: 'contract',
    spec: 'contract',
    timed: true,
    hasLevelColumn: true,
    readHead(bytes, start, end, head) {
      const lineEnd = trimLineEnd(bytes, start, end);
      const time = parseTimestamp(bytes, start, lineEnd);
      if (!time) return false;
      head.timeMs = zone.toEpochMs(time.localMs);
      head.rank = rankBehind(bytes, time.end, lineEnd);
      return true;
    },
    decode(bytes, start, end) {
      const { localMs, level, source, tags, message, context, contextText } = decodeRecord(bytes, start, end);
      const fields = {} as RecordFields;
      if (localMs !== undefined) fields.timeMs = zone.toEpochMs(localMs);
      if (level) fields.level = level;
      if (source !== undefined) fields.source = source;
      if (tags) fields.tags = tags;
      fields.message = message;
      if (context) fields.context = context;
      if (contextText !== undefined) fields.contextText = contextText;
      return fields;
    },
    isTypical(bytes, start, end) {
      const lineEnd = trimLineEnd(bytes, start, end);
      const time = parseTimestamp(bytes, start, lineEnd);
      if (time === undefined || bytes[time.end] !== TAB) return false;
      // Other programs have their level in a further column.
      const next = bytes.indexOf(TAB, time.end + 1);
      return rankBehind(bytes, time.end, lineEnd) > 0 || next < 0 || !isLevelBehind(bytes, next, lineEnd);
    },
  };
}

function isLevelBehind(bytes: Buffer, tab: number, lineEnd: number): boolean {
  const to = skipLetters(bytes, tab + 1, lineEnd);
  return bytes[to] === TAB && findLevelWord(bytes, tab + 1, to) !== undefined;
}

/** The level is the column after the time: up to the next tab, no further. */
function rankBehind(bytes: Buffer, timeEnd: number, lineEnd: number): number {
  if (timeEnd >= lineEnd || (bytes[timeEnd] !== TAB && bytes[timeEnd] !== SPACE)) return 0;
  const start = timeEnd + 1;
  const limit = Math.min(start + LONGEST_LEVEL + 1, lineEnd);
  let at = start;
  while (at < limit && bytes[at] !== TAB) at++;
  return levelRank(parseLevel(bytes, start, at));
}
