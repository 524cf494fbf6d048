import { readContext } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { parseFraction, readMsOfDay, twoDigits } from '../timestamp.ts';
import { type Columns, columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { COLON, isDigit, SPACE, skipWord, startsWith } from './tokens/byte-scan.ts';
import { findLevel } from './tokens/find-level.ts';
import { type ReadTime, readIsoTime, readMonthName } from './tokens/iso-time.ts';
import { priorityRank } from './tokens/level-word.ts';
import { createYearlessClock } from './tokens/yearless-time.ts';

const LETTER_T = 84;

/** What is in the host's position in lines that only look like syslog. */
const LEVEL_WORD = /^\W?(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\W?$/i;

/** Sent over UDP, a line may have no host: ` haproxy[12]: message`. */
const BODY_WITHOUT_HOST = /^ ([^\s:[\]]+)\[(\d+)\]: ?(.*)$/s;

const BODY = /^ ([^\s:]\S*[^\s:]|[^\s:]) ([^\s:[\]]+)(?:\[([^\]\s]*)\])?: ?(.*)$/s;

/** RFC 3164: `<34>Oct 11 22:14:15 host app[123]: message`, as written to files without `<34>`, or with rsyslog's ISO time. */
export function createSyslogFormat(options: FormatOptions): ShapedFormat {
  const yearless = createYearlessClock(options);
  const priority = { value: 0, end: 0 };
  const time = { timeMs: 0, end: 0 };

  /** `Oct 11 22:14:15`, the day padded with a space or a zero. */
  const readMonthTime = (bytes: Buffer, start: number, end: number, filled: ReadTime): boolean => {
    if (end - start < 15 || bytes[start + 3] !== SPACE || bytes[start + 6] !== SPACE) return false;
    const month = readMonthName(bytes, start, end);
    if (month === 0) return false;
    const padded = bytes[start + 4] === SPACE && isDigit(bytes[start + 5]);
    const day = padded ? (bytes[start + 5] ?? 48) - 48 : twoDigits(bytes, start + 4);
    const timeMs = yearless(month, day, readMsOfDay(bytes, start + 7));
    if (Number.isNaN(timeMs)) return false;
    const fraction = parseFraction(bytes, start + 15, end);
    filled.timeMs = timeMs + fraction.ms;
    filled.end = fraction.end;
    return true;
  };

  const readRsyslogTime = (bytes: Buffer, start: number, end: number, filled: ReadTime): boolean =>
    readIsoTime(bytes, start, end, options.zone, filled) && bytes[start + 10] === LETTER_T;

  return defineFormat({
    name: 'syslog',
    readStart(bytes, start, end, found) {
      if (readPriority(bytes, start, end, priority)) found.rank = priorityRank(priority.value);
      const at = priority.end;
      if (!readMonthTime(bytes, at, end, time) && !readRsyslogTime(bytes, at, end, time)) return false;
      found.timeMs = time.timeMs;
      found.bodyAt = time.end;
      // Files usually have no priority. Many programs then start their message with its level: `sshd[1]: error: ...`
      if (found.rank === 0) found.rank = levelBehindTag(bytes, time.end + 1, end);
      return true;
    },
    readColumns(body) {
      const [, soleTag, solePid, soleMessage] = BODY_WITHOUT_HOST.exec(body) ?? [];
      if (soleTag) return columns(soleMessage ?? '', { tag: soleTag, context: { pid: solePid } });
      const [, host, tag, pid, message] = BODY.exec(body) ?? [];
      if (!host || !tag || LEVEL_WORD.test(host)) return undefined;
      return columns(message ?? '', { tag, context: { host, pid } });
    },
  });
}

function levelBehindTag(bytes: Buffer, hostAt: number, end: number): number {
  const tagAt = skipWord(bytes, hostAt, end) + 1;
  const tagEnd = skipWord(bytes, tagAt, end);
  return tagEnd > tagAt && bytes[tagEnd - 1] === COLON
    ? findLevel(bytes, tagEnd, end, { maxTokens: 1, mayBeProse: true })
    : 0;
}

const HEADER = /^ (\S+) (\S+) (\S+) (\S+) ?/;
const ELEMENT = /\[([^\s\]="]+)((?: [^\s\]="]+="[^"\\]*(?:\\.[^"\\]*)*")*)\]/sy;
const PARAMETER = / ([^\s\]="]+)="([^"\\]*(?:\\.[^"\\]*)*)"/gs;

/** RFC 5424: `<165>1 2003-10-11T22:14:15.003Z host app procid msgid [id key="value"] message`. */
export function createSyslog5424Format({ zone }: FormatOptions): ShapedFormat {
  const priority = { value: 0, end: 0 };
  const time = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'syslog-5424',
    readStart(bytes, start, end, found) {
      if (!readPriority(bytes, start, end, priority) || !startsWith(bytes, priority.end, end, '1 ')) return false;
      const at = priority.end + 2;
      if (startsWith(bytes, at, end, '- ')) found.bodyAt = at + 1;
      else if (readIsoTime(bytes, at, end, zone, time) && time.end < end && bytes[time.end] === SPACE) {
        found.timeMs = time.timeMs;
        found.bodyAt = time.end;
      } else return false;
      found.rank = priorityRank(priority.value);
      return true;
    },
    readColumns: readHeader,
  });
}

function readHeader(body: string): Columns | undefined {
  const [whole, host, app, procId, msgId] = HEADER.exec(body) ?? [];
  if (whole === undefined) return undefined;
  const { elements, end } = readElements(body, whole.length);
  const message = body.slice(end).replace(/^ ?\ufeff?/, '');
  const tag = present(app);
  const known = Object.entries({ host: present(host), pid: present(procId), msgId: present(msgId) })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const members = [...known, ...elements];
  return {
    ...columns(message, { ...(tag && { tag }) }),
    ...(members.length > 0 && readContext(`{${members.join(',')}}`)),
  };
}

/**
 * The structured data as members of a JSON object, each element by its id, and where it ends. As text, because an
 * element may have several parameters with the same name.
 */
function readElements(body: string, start: number): { elements: string[]; end: number } {
  if (body[start] === '-') return { elements: [], end: start + 1 };
  const element = new RegExp(ELEMENT);
  element.lastIndex = start;
  const elements: string[] = [];
  let end = start;
  for (let match = element.exec(body); match; match = element.exec(body)) {
    const parameters = [...(match[2] ?? '').matchAll(PARAMETER)].map(([, key = '', value = '']) => {
      return `${JSON.stringify(key)}:${JSON.stringify(value.replace(/\\(["\\\]])/g, '$1'))}`;
    });
    elements.push(`${JSON.stringify(match[1] ?? '')}:{${parameters.join(',')}}`);
    end = element.lastIndex;
  }
  return { elements, end };
}

/** RFC 5424 writes `-` for an unknown value. */
function present(value: string | undefined): string | undefined {
  return value === '-' ? undefined : value;
}

/** A syslog priority and where it ends; `end` is the start if there is none. */
interface ReadPriority {
  value: number;
  end: number;
}

/** Reads `<0>` to `<191>`. */
function readPriority(bytes: Buffer, start: number, end: number, priority: ReadPriority): boolean {
  priority.end = start;
  if (start >= end || bytes[start] !== 60) return false;
  let value = 0;
  let at = start + 1;
  for (; at < end && at < start + 4 && isDigit(bytes[at]); at++) value = value * 10 + (bytes[at] ?? 0) - 48;
  if (at === start + 1 || at >= end || bytes[at] !== 62 || value > 191) return false;
  priority.value = value;
  priority.end = at + 1;
  return true;
}
