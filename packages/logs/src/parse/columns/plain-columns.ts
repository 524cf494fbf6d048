import { decodeRecord } from '../decode-record.ts';
import { exactNumber } from '../exact-context.ts';
import { type Columns, columns } from '../formats/define-format.ts';
import { readLogfmtColumns } from '../formats/lines/logfmt.ts';
import { findLevelWord } from '../heads/level-words.ts';
import type { Zone } from '../zone.ts';

/** `[info] `, `<Error> `, `Error: ` or `INFO `. */
const LEVEL_IN_FRONT = /^(?:(?=\W|\w+[:|])[[<(]? ?([A-Za-z]{3,11}) ?[\])>:|]{1,2}|([A-Z]{3,11}))(?:\s+|$)/;

/** A process and its role: `1:M `, `1:signal-handler `. */
const REDIS_LEAD = /^(\d+):(\S+)/;

const POSTGRES = /^ (?:[A-Z]{2,5} )?\[(\d+)(?:-\d+)?\] (?:([^\s@]+)@(\S+) )?([A-Z]+\d?): {2}(.*)$/s;

/** Lines with a date and a time and no columns but a level: also those of PostgreSQL and Redis, and logfmt. */
export function readPlainColumns(body: string, lead: string, zone: Zone): Columns | undefined {
  if (/^\w+=/.test(lead)) return readLogfmtColumns(lead + body, zone);
  return readPostgresColumns(body) ?? readOtherColumns(body, lead);
}

function readPostgresColumns(body: string): Columns | undefined {
  const [, pid, user, database, , message = ''] = POSTGRES.exec(body) ?? [];
  return pid ? columns(message, { context: { pid: exactNumber(pid), user, database } }) : undefined;
}

function readOtherColumns(body: string, lead: string): Columns {
  // Columns separated by tabs, as zap's console encoder writes them after an ISO time.
  if (body.startsWith('\t')) {
    const { localMs: _time, level: _level, ...rest } = decodeRecord(Buffer.from(body.slice(1)));
    return rest;
  }
  const [, redisPid, role] = REDIS_LEAD.exec(lead) ?? [];
  if (redisPid)
    return columns(body.replace(/^\)? (?:[.*#-] )?/, ''), { context: { pid: exactNumber(redisPid), role } });
  const [, goSource, goMessage = ''] = /^ ([\w./-]+\.go:\d+): (.*)$/s.exec(body) ?? [];
  if (goSource) return columns(goMessage, { source: goSource });
  return columns(withoutLevel(body), {});
}

/** The body without a leading level, which has its own column. `error opening x` is a sentence and stays. */
function withoutLevel(body: string): string {
  const text = body.trimStart();
  const [whole = '', marked, bare] = LEVEL_IN_FRONT.exec(text) ?? [];
  const word = Buffer.from(marked ?? bare ?? '');
  return findLevelWord(word, 0, word.length)?.isAmbiguous === false ? text.slice(whole.length) : text;
}
