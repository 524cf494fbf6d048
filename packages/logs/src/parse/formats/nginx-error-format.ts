import { exactNumber } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { CLOSE_BRACKET, OPEN_BRACKET, SPACE, skipLetters } from './tokens/byte-scan.ts';
import { readIsoTime } from './tokens/iso-time.ts';
import { readLevelWord } from './tokens/level-word.ts';

const BODY = /^ \[[a-z]+\] (\d+)#(\d+): (?:\*(\d+) )?(.*)$/s;

/** nginx's error log: `2026/11/15 00:21:26 [error] 123#0: *1 message`. */
export function createNginxErrorFormat({ zone }: FormatOptions): ShapedFormat {
  const time = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'nginx-error',
    readStart(bytes, start, end, found) {
      if (!readIsoTime(bytes, start, end, zone, time)) return false;
      found.timeMs = time.timeMs;
      found.bodyAt = time.end;
      const wordAt = time.end + 2;
      if (wordAt >= end || bytes[time.end] !== SPACE || bytes[wordAt - 1] !== OPEN_BRACKET) return true;
      const wordEnd = skipLetters(bytes, wordAt, end);
      if (wordEnd < end && bytes[wordEnd] === CLOSE_BRACKET) found.rank = readLevelWord(bytes, wordAt, wordEnd);
      return true;
    },
    readColumns(body) {
      const [, pid, tid, connection, message] = BODY.exec(body) ?? [];
      if (!pid) return undefined;
      const context = {
        pid: exactNumber(pid),
        tid: exactNumber(tid ?? ''),
        connection: connection && exactNumber(connection),
      };
      return columns(message ?? '', { context });
    },
  });
}
