import { isDigit, readStatus, SPACE, skipSpaces, skipWord, startsWith } from '../formats/tokens/byte-scan.ts';
import { findLevelWord, severityRank, statusRank } from '../level.ts';

/* Levels that are not words: severities, statuses, and messages that report a crash. */

const SEARCHED_BYTES = 256;
const PERCENT = 37;
const PLUS = 43;
const COMMA = 44;
const DASH = 45;
const DOT = 46;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;

/**
 * The rank of a severity that is a number: `%FACILITY-3-NAME:` and `%%01IFNET/4/LINK` of network devices, `pri=6` of
 * firewalls, `type="2"` of Windows' configuration manager, `<4.6>` of BSD; 0 if there is none.
 */
export function findFacilitySeverity(bytes: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + SEARCHED_BYTES);
  for (let at = start; at < limit; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === EQUALS) {
      const rank = keyedSeverity(bytes, start, at, limit);
      if (rank > 0) return rank;
      continue;
    }
    if (byte === LESS && bytes[at + 2] === DOT && bytes[at + 4] === 62 && isSeverityDigit(bytes[at + 3]))
      return severityRank((bytes[at + 3] ?? 48) - 48);
    const isStart = byte === PERCENT || (byte >= 65 && byte <= 90 && bytes[at - 1] === SPACE);
    if (!isStart) continue;
    const mark = byte === PERCENT && bytes[at + 1] !== PERCENT ? DASH : SLASH;
    let to = at + (byte === PERCENT ? 1 : 0);
    if (bytes[to] === PERCENT) to++;
    const from = to;
    while (to < limit && (isNameByte(bytes[to] ?? 0) || bytes[to] === mark)) {
      const isSeverity = bytes[to] === mark && bytes[to + 2] === mark && to > from && isSeverityDigit(bytes[to + 1]);
      if (isSeverity) return severityRank((bytes[to + 1] ?? 48) - 48);
      to++;
    }
    at = Math.max(at, to - 1);
  }
  return 0;
}

/** Severities behind their keys, and what separates the value from what follows. */
const KEYED_SEVERITIES = [' pri=', ' severity=', ' sev='].map((key) => Buffer.from(key));
const CMTRACE_KEY = Buffer.from(' type="');
const CMTRACE_RANKS = [0, 3, 4, 5];

function keyedSeverity(bytes: Buffer, start: number, at: number, limit: number): number {
  const digit = (bytes[at + 1] ?? 0) - 48;
  const isAlone = at + 2 >= limit || bytes[at + 2] === SPACE || bytes[at + 2] === COMMA;
  if (digit >= 0 && digit <= 7 && isAlone && KEYED_SEVERITIES.some((key) => endsAt(bytes, start, at + 1, key)))
    return severityRank(digit);
  const isType =
    isDigit(bytes[at + 2]) &&
    endsAt(bytes, start, at + 2, CMTRACE_KEY) &&
    startsWith(bytes, at + 3, limit, '" thread="');
  return isType ? (CMTRACE_RANKS[(bytes[at + 2] ?? 48) - 48] ?? 0) : 0;
}

function endsAt(bytes: Buffer, start: number, end: number, text: Buffer): boolean {
  return end - text.length >= start && bytes.compare(text, 0, text.length, end - text.length, end) === 0;
}

function isSeverityDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 55;
}

function isNameByte(byte: number): boolean {
  return isDigit(byte) || (byte >= 65 && byte <= 90) || byte === DASH || byte === 95 || (byte >= 97 && byte <= 122);
}

export const METHODS =
  'GET POST PUT HEAD DELETE OPTIONS PATCH CONNECT TRACE PROPFIND PROPPATCH REPORT MKCOL COPY MOVE LOCK'
    .concat(' UNLOCK SEARCH PURGE')
    .split(' ');
const METHOD_STARTS = new Uint8Array(256);
for (const method of METHODS) METHOD_STARTS[method.charCodeAt(0)] = 1;

/** Room for a long URI before the status. */
const REQUEST_BYTES = 16 * 1024;

/**
 * The rank of the HTTP status of a line about a request: `"GET / HTTP/1.1" 200`, `GET /path 200`, `| 200 | ... | GET`,
 * `TCP_MISS/200 ... GET`; 0 if there is none.
 */
export function findStatusRank(bytes: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + REQUEST_BYTES);
  let before = 0;
  // Clients can send anything, so that what is quoted right behind the time need not be a request.
  let quoteAt = start;
  while (quoteAt < limit && (bytes[quoteAt] === 93 || bytes[quoteAt] === 32)) quoteAt++;
  if (bytes[quoteAt] === 34) {
    const status = readStatus(bytes, quoteAt, limit);
    if (status > 0) return toRank(status);
  }
  for (let at = start; at < limit; at++) {
    const byte = bytes[at] ?? 0;
    if (isDigit(byte)) {
      const status = statusAt(bytes, at, limit);
      if (
        before === 0 &&
        status > 0 &&
        (bytes[at - 1] === 47 || isBarred(bytes, at) || isBehindTimers(bytes, at, start))
      )
        before = status;
      while (isDigit(bytes[at + 1])) at++;
      continue;
    }
    if (METHOD_STARTS[byte] !== 1 || !isMethodAt(bytes, at, limit, start)) continue;
    if (before > 0) return statusRank(before);
    const status = bytes[at - 1] === 34 ? readStatus(bytes, at - 1, limit) : statusBehind(bytes, at, limit);
    return toRank(status || statusInFront(bytes, at, start));
  }
  return 0;
}

function toRank(status: number): number {
  return status >= 100 && status <= 599 ? statusRank(status) : 0;
}

function isMethodAt(bytes: Buffer, at: number, end: number, start: number): boolean {
  const before = at > start ? bytes[at - 1] : 32;
  if (before !== 32 && before !== 34 && before !== 9 && before !== 91 && before !== 124 && before !== 39) return false;
  for (const method of METHODS) {
    const after = bytes[at + method.length];
    if ((after === 32 || after === 9) && startsWith(bytes, at, end, method)) return true;
  }
  return false;
}

/** Three digits from 100 to 599 that are a word; 0 if there are none. */
function statusAt(bytes: Buffer, at: number, end: number): number {
  if (at + 3 > end || isDigit(bytes[at + 3]) || !isDigit(bytes[at + 1]) || !isDigit(bytes[at + 2])) return 0;
  const status = ((bytes[at] ?? 48) - 48) * 100 + ((bytes[at + 1] ?? 48) - 48) * 10 + (bytes[at + 2] ?? 48) - 48;
  const after = bytes[at + 3];
  const isEnd = at + 3 >= end || after === 32 || after === 9 || after === 124 || after === 44 || after === 34;
  return isEnd && status >= 100 && status <= 599 ? status : 0;
}

/** Whether the number is between bars, as Gin writes it: `| 200 |`. */
function isBarred(bytes: Buffer, at: number): boolean {
  let left = at - 1;
  while (bytes[left] === 32) left--;
  return bytes[left] === 124;
}

/** Whether the number follows timers: 0/0/0/1/1, as HAProxy writes them, or 0.000 0.012 -1 of Amazon's load balancers. */
function isBehindTimers(bytes: Buffer, at: number, start: number): boolean {
  if (bytes[at - 1] !== SPACE) return false;
  let slashes = 0;
  let timers = 0;
  let isTimer = false;
  for (let left = at - 2; left >= start; left--) {
    const byte = bytes[left];
    if (byte === SLASH) slashes++;
    else if (byte === DASH || byte === DOT) isTimer = true;
    else if (byte === SPACE) {
      if (slashes > 0 || !isTimer) break;
      if (++timers === AMAZON_TIMERS) return true;
      isTimer = false;
    } else if (!isDigit(byte) && byte !== PLUS) return false;
  }
  return slashes >= 3;
}

/** Until a load balancer sent the request on, until there was an answer, and until that was sent on. */
const AMAZON_TIMERS = 3;

/** The first of the statuses and dashes in front of a method, as Nginx Proxy Manager writes them: `- 404 404 - GET`. */
function statusInFront(bytes: Buffer, methodAt: number, start: number): number {
  let status = 0;
  let end = methodAt - 1;
  while (end > start && bytes[end] === SPACE) {
    let at = end;
    while (at > start && bytes[at - 1] !== SPACE) at--;
    const isDash = end - at === 1 && bytes[at] === DASH;
    const found = statusAt(bytes, at, end);
    if (!isDash && found === 0) break;
    status = found || status;
    end = at - 1;
  }
  return status;
}

/** The first status behind the path of a request that is not quoted. */
function statusBehind(bytes: Buffer, methodAt: number, end: number): number {
  let at = nextWord(bytes, nextWord(bytes, methodAt, end), end);
  for (let words = 0; words < 4 && at < end; words++) {
    const status = statusAt(bytes, at, end);
    if (status > 0) return status;
    at = nextWord(bytes, at, end);
  }
  return 0;
}

function nextWord(bytes: Buffer, start: number, end: number): number {
  return skipSpaces(bytes, skipWord(bytes, start, end), end);
}

/** The level of Redis is a mark behind the time: `.` debug, `-` verbose, `*` notice, `#` warning; 0 if there is none. */
export function readMarkRank(bytes: Buffer, timeEnd: number, end: number): number {
  if (timeEnd + 3 > end || bytes[timeEnd] !== 32 || bytes[timeEnd + 2] !== 32) return 0;
  const mark = bytes[timeEnd + 1];
  if (mark === 46 || mark === 45) return 2;
  return mark === 42 ? 3 : mark === 35 ? 4 : 0;
}

/** Each of these lines of PostgreSQL has its own time, but always belongs to the report before it. */
export const REMARKS = ['DETAIL', 'HINT', 'QUERY', 'CONTEXT', 'STATEMENT', 'LOCATION'];
export const REMARK = -1;

/** How far the severity of PostgreSQL may be from the time: the line prefix is a setting. */
const PREFIX_BYTES = 200;

/**
 * The rank of PostgreSQL's severity, a word in capitals before a colon and two spaces: `LOG:  `. `REMARK` for a line that
 * continues the report before it, 0 if there is none.
 */
export function readReport(bytes: Buffer, timeEnd: number, end: number): number {
  const limit = Math.min(end - 2, timeEnd + PREFIX_BYTES);
  for (let at = timeEnd; at < limit; at++) {
    if (bytes[at] !== 58 || bytes[at + 1] !== 32 || bytes[at + 2] !== 32) continue;
    let from = at;
    while (from > timeEnd && isNameByte(bytes[from - 1] ?? 0)) from--;
    const word = bytes.toString('latin1', from, at);
    if (!/^[A-Z]+[1-5]?$/.test(word)) return 0;
    if (REMARKS.includes(word)) return REMARK;
    const letters = word.replace(/\d$/, '').length;
    return findLevelWord(bytes, from, from + letters)?.rank ?? 0;
  }
  return 0;
}

/** Messages with which databases report that they, or one of their processes, crashed, whatever level they give it. */
const CRASHES = [
  'was terminated by signal', // PostgreSQL
  'was terminated by exception', // PostgreSQL on Windows
  'got signal ', // MySQL, MariaDB: mysqld got signal 11
  'crashed by signal', // Redis
  'Got signal: ', // MongoDB
];
const CRASH_BYTES = CRASHES.map((text) => Buffer.from(text));

export function reportsCrash(bytes: Buffer, start: number, end: number): boolean {
  const line = bytes.subarray(start, Math.min(end, start + 512));
  return CRASH_BYTES.some((text) => line.includes(text));
}
