import type { FormatOptions } from '../format.ts';
import { parseTimestamp } from '../timestamp.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { startsWith } from './tokens/byte-scan.ts';
import { findLevel } from './tokens/find-level.ts';
import { readIsoTime } from './tokens/iso-time.ts';

/** Ranks of critical, error, warning, notice, info, debug and trace. */
const RANKS_BY_LETTER = new Map(
  [...'CEWNIDT'].map((letter, index) => [letter.charCodeAt(0), [6, 5, 4, 3, 3, 2, 1][index] ?? 0]),
);

const BODY = /^ [CEWNIDT] \| (?:([\w./-]+): )?(.*)$/s;

/** etcd's raft uses a different format among the other lines: `raft2021/01/01 10:00:00 INFO: message`. */
const RAFT = 'raft';
const RAFT_BODY = /^ [A-Z]+: (.*)$/s;

/** Old etcd: `2021-01-01 10:00:00.000000 I | etcdserver: message`. */
export function createCapnslogFormat({ zone }: FormatOptions): ShapedFormat {
  const raftTime = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'capnslog',
    readStart(bytes, start, end, found) {
      if (startsWith(bytes, start, end, RAFT)) {
        if (!readIsoTime(bytes, start + RAFT.length, end, zone, raftTime)) return false;
        found.timeMs = raftTime.timeMs;
        found.bodyAt = raftTime.end;
        found.rank = findLevel(bytes, raftTime.end, end, { maxTokens: 1 });
        return true;
      }
      const time = parseTimestamp(bytes, start, end);
      if (!time) return false;
      found.timeMs = zone.toEpochMs(time.localMs);
      found.bodyAt = time.end;
      if (startsWith(bytes, time.end + 2, end, ' | ')) found.rank = RANKS_BY_LETTER.get(bytes[time.end + 1] ?? 0) ?? 0;
      return true;
    },
    readColumns(body, lead) {
      if (lead.startsWith(RAFT)) return columns(RAFT_BODY.exec(body)?.[1] ?? body.trimStart(), { tag: RAFT });
      const [whole, tag, message] = BODY.exec(body) ?? [];
      return whole === undefined ? undefined : columns(message ?? '', { ...(tag && { tag }) });
    },
  });
}
