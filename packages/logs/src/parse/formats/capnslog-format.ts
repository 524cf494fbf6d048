import type { FormatOptions } from '../format.ts';
import { parseTimestamp } from '../timestamp.ts';
import { startsWith } from './byte-scan.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';

/** Ranks of critical, error, warning, notice, info, debug and trace. */
const RANKS_BY_LETTER = new Map(
  [...'CEWNIDT'].map((letter, index) => [letter.charCodeAt(0), [6, 5, 4, 3, 3, 2, 1][index] ?? 0]),
);

const BODY = /^ [CEWNIDT] \| (?:([\w./-]+): )?(.*)$/s;

/** Old etcd: `2021-01-01 10:00:00.000000 I | etcdserver: message`. */
export function createCapnslogFormat({ zone }: FormatOptions): ShapedFormat {
  return defineFormat({
    name: 'capnslog',
    readStart(bytes, start, end, found) {
      const time = parseTimestamp(bytes, start, end);
      if (!time) return false;
      found.timeMs = zone.toEpochMs(time.localMs);
      found.bodyAt = time.end;
      if (startsWith(bytes, time.end + 2, end, ' | ')) found.rank = RANKS_BY_LETTER.get(bytes[time.end + 1] ?? 0) ?? 0;
      return true;
    },
    readColumns(body) {
      const [whole, tag, message] = BODY.exec(body) ?? [];
      return whole === undefined ? undefined : columns(message ?? '', { ...(tag && { tag }) });
    },
  });
}
