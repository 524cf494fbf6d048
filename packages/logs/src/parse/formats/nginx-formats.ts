import { exactNumber } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { parseFraction, readMsOfDay, twoDigits, wallClockMs } from '../timestamp.ts';
import type { Zone } from '../zone.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { CLOSE_BRACKET, COLON, OPEN_BRACKET, SPACE, skipLetters, startsWith } from './tokens/byte-scan.ts';
import { readStatus } from './tokens/http-status.ts';
import { offsetMs, offsetWidth, type ReadTime, readIsoTime, readMonthName } from './tokens/iso-time.ts';
import { readLevelWord, statusRank } from './tokens/level-word.ts';

/** Room for a long URI before the status. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Host, address and user precede the time; a bracket further away is part of something else. */
const MAX_LEAD_BYTES = 1024;

/**
 * Address, identity and user, which may contain spaces; preceded by the virtual host if what follows can be an address.
 */
const LEAD = /^(?:(\S+) (?=[^\s.:]*[.:]))?(\S+) (\S+) (.+?) \[/;
const QUOTED = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"';
const ACCESS_BODY = new RegExp(`^${QUOTED} (\\d{3}) (\\d+|-)(?: ${QUOTED} ${QUOTED})?`, 's');

/** The common and the combined log format of nginx and Apache. */
export function createNginxAccessFormat({ zone }: FormatOptions): ShapedFormat {
  const time = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'nginx-access',
    maxHeadBytes: MAX_HEAD_BYTES,
    readStart(bytes, start, end, found) {
      const limit = Math.min(end, start + MAX_LEAD_BYTES);
      let open = start + 1;
      while (open < limit && (bytes[open] !== OPEN_BRACKET || !readClfTime(bytes, open + 1, end, zone, time))) open++;
      if (open >= limit) return false;
      found.timeMs = time.timeMs;
      found.bodyAt = startsWith(bytes, time.end, end, '] ') ? time.end + 2 : time.end;
      const status = readStatus(bytes, found.bodyAt, end);
      if (status > 0) found.rank = statusRank(status);
      return true;
    },
    readColumns(body, lead) {
      const [, request, status, bytes, referer, userAgent] = ACCESS_BODY.exec(body) ?? [];
      if (request === undefined) return undefined;
      const [, method, uri] = /^([A-Z]+) (\S+)/.exec(request) ?? [];
      return columns(body, {
        context: {
          ...readLead(lead),
          ...{ method, uri, status: exactNumber(status ?? '') },
          ...{
            bytes: bytes === '-' ? 0 : exactNumber(bytes ?? ''),
            referer: present(referer),
            userAgent: present(userAgent),
          },
        },
      });
    },
    readOther: (body, lead) => columns(body, { context: readLead(lead) }),
  });
}

function readLead(lead: string): Record<string, string | undefined> {
  const [, host, remoteAddr = lead.split(' ', 1)[0], ident, user] = LEAD.exec(lead) ?? [];
  return { host, remoteAddr, ident: present(ident), user: present(user) };
}

/** `15/Nov/2026:00:21:26 +0000`, up to the bracket. */
function readClfTime(bytes: Buffer, start: number, end: number, zone: Zone, time: ReadTime): boolean {
  if (end - start < 20 || bytes[start + 2] !== 47 || bytes[start + 6] !== 47 || bytes[start + 11] !== COLON)
    return false;
  const century = twoDigits(bytes, start + 7);
  const yearOfCentury = twoDigits(bytes, start + 9);
  if ((century | yearOfCentury) < 0) return false;
  const year = century * 100 + yearOfCentury;
  const date = { year, month: readMonthName(bytes, start + 3, end), day: twoDigits(bytes, start) };
  const localMs = wallClockMs(date, readMsOfDay(bytes, start + 12));
  if (Number.isNaN(localMs)) return false;
  const { ms, end: clockEnd } = parseFraction(bytes, start + 20, end);
  const zoneAt = clockEnd < end && bytes[clockEnd] === SPACE ? clockEnd + 1 : clockEnd;
  const width = offsetWidth(bytes, zoneAt, end);
  time.end = zoneAt + width;
  time.timeMs = width > 0 ? localMs + ms - offsetMs(bytes, zoneAt, time.end) : zone.toEpochMs(localMs + ms);
  return time.end < end && bytes[time.end] === CLOSE_BRACKET;
}

function present(value: string | undefined): string | undefined {
  return value === '-' ? undefined : value;
}

const ERROR_BODY = /^ \[[a-z]+\] (\d+)#(\d+): (?:\*(\d+) )?(.*)$/s;

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
      const [, pid, tid, connection, message] = ERROR_BODY.exec(body) ?? [];
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
