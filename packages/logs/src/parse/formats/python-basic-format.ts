import type { FormatOptions } from '../format.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { isLetter } from './tokens/byte-scan.ts';
import { readLevelWord } from './tokens/level-word.ts';

/** Python's own level names; the name of a logger has no spaces. */
const LINE = /^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):([^\s:]+):(.*)$/s;
const LONGEST_WORD = 8;
const COLON = 58;

/**
 * Python's `logging.basicConfig()`: `WARNING:shop.orders:slow`, without times. Lines of a traceback do not start
 * records.
 */
export function createPythonBasicFormat(_options: FormatOptions): ShapedFormat {
  return defineFormat({
    name: 'python-basic',
    timed: false,
    readStart(bytes, start, end, found) {
      let at = start;
      while (at < end && at - start <= LONGEST_WORD && isLetter(bytes[at])) at++;
      if (at === start || at >= end || bytes[at] !== COLON) return false;
      const rank = readLevelWord(bytes, start, at);
      if (rank === 0 || !hasLogger(bytes, at + 1, end)) return false;
      found.rank = rank;
      found.bodyAt = start;
      return true;
    },
    readColumns(body) {
      const [, logger, message] = LINE.exec(body) ?? [];
      return logger === undefined ? undefined : columns(message ?? '', { tag: logger });
    },
  });
}

function hasLogger(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== COLON && (bytes[at] ?? 0) > 32) at++;
  return at > start && at < end && bytes[at] === COLON;
}
