import { decodeRecord } from '../decode-record.ts';
import { exactNumber } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { type Columns, columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { readLogfmtColumns, readLogfmtStart } from './lines/logfmt.ts';
import { REMARK, readPostgresColumns, readPostgresRank } from './lines/postgres-line.ts';
import { readRedisStart } from './lines/redis-line.ts';
import { isDigit, isLetter, OPEN_BRACKET } from './tokens/byte-scan.ts';
import { findLevel } from './tokens/find-level.ts';
import { readLeadingTime } from './tokens/iso-time.ts';
import { readLevelWord } from './tokens/level-word.ts';

/** `[info] `, `<Error> `, `Error: ` or `INFO `. */
const LEVEL_IN_FRONT = /^(?:(?=\W|\w+[:|])[[<(]? ?([A-Za-z]{3,11}) ?[\])>:|]{1,2}|([A-Z]{3,11}))(?:\s+|$)/;

/** A process and its role: `1:M `, `1:signal-handler `. */
const REDIS_LEAD = /^(\d+):(\S+)/;

/** Lines that start with a date and a time in any of the usual spellings, including PostgreSQL, Redis and logfmt. */
export function createIsoFormat({ zone }: FormatOptions): ShapedFormat {
  const time = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'iso',
    readStart(bytes, start, end, found) {
      if (start >= end) return false;
      if (isLetter(bytes[start])) return readLogfmtStart(bytes, start, end, zone, found);
      if (bytes[start] !== OPEN_BRACKET && !isDigit(bytes[start])) return false;
      if (!readLeadingTime(bytes, start, end, zone, time)) return readRedisStart(bytes, start, end, zone, found);
      const rank = readPostgresRank(bytes, time.end, end);
      if (rank === REMARK) return false;
      found.timeMs = time.timeMs;
      found.bodyAt = time.end;
      found.rank = rank || findLevel(bytes, time.end, end);
      return true;
    },
    readColumns(body, lead) {
      if (lead === '') return readLogfmtColumns(body, zone);
      return readPostgresColumns(body) ?? readPlainColumns(body, lead);
    },
  });
}

function readPlainColumns(body: string, lead: string): Columns {
  // Columns separated by tabs, as zap's console encoder writes them after an ISO time.
  if (body.startsWith('\t')) {
    const { localMs: _time, level: _level, ...rest } = decodeRecord(Buffer.from(body.slice(1)));
    return rest;
  }
  const [, redisPid, role] = REDIS_LEAD.exec(lead) ?? [];
  if (redisPid) return columns(body.replace(/^ (?:[.*#-] )?/, ''), { context: { pid: exactNumber(redisPid), role } });
  const [, goSource, goMessage = ''] = /^ ([\w./-]+\.go:\d+): (.*)$/s.exec(body) ?? [];
  if (goSource) return columns(goMessage, { source: goSource });
  return columns(withoutLevel(body), {});
}

/** The body without a leading level, which has its own column. `error opening x` is a sentence and stays. */
function withoutLevel(body: string): string {
  const text = body.trimStart();
  const [whole = '', marked, bare] = LEVEL_IN_FRONT.exec(text) ?? [];
  const word = Buffer.from(marked ?? bare ?? '');
  return readLevelWord(word, 0, word.length) > 0 ? text.slice(whole.length) : text;
}
