import { parseJsonObject } from '../exact-context.ts';
import { type FormatOptions, MAX_HEAD_BYTES } from '../format.ts';
import { headFields, type ShapedFormat, splitRecord, trimLineEnd } from '../formats/define-format.ts';
import { readLevelToken } from '../formats/tokens/value-tokens.ts';
import { findLevelWord, severityRank } from '../level.ts';
import { createTimeCompleter, skipLeadingMarks } from './find-times.ts';
import { createWrittenTime, readWrittenTime } from './time-spellings.ts';

/** Where lines of JSON have their time and level: keys from the outermost object inwards. Plain data. */
export interface JsonPaths {
  time?: readonly string[];
  level?: readonly string[];
  /** What numbers of the level mean. */
  scale?: LevelScale;
}

/** Tens as of pino and bunyan, severities of syslog, numbers of OpenTelemetry. */
type LevelScale = 'tens' | 'syslog' | 'otel';

const MOST_DEPTH = 4;
const TIME_KEY =
  /(?:^|[_.@$-])(?:t|ts|time|timestamp|date|datetime|asctime|msec|created|utc|instant|epoch\w*|when|at|published|occurred|logged)(?:$|[_.-])|time|date$|_at$|At$|stamp/i;
const LEVEL_KEY = /(?:^|[_.@-])(?:l|s|lvl|lev|sev|prio)(?:$|[_.-])|level|severity|priority|loglevel/i;
/** Times of other things than the record. */
const OTHER_TIME_KEY =
  /timeout|uptime|runtime|elapsed|duration|expir|response_?time|request_?time|_time_ms|took|latency|interval|timezone|lifetime|birth/i;
const BEST_TIME_KEY = /^(?:@?timestamp|@?time|@?ts|date|datetime|@t)$/i;

interface Leaf {
  path: string[];
  value: unknown;
}

/** Learns where objects have time and level; nothing if they have none. */
export function learnJsonPaths(texts: readonly string[], options: FormatOptions): JsonPaths {
  const readTime = createJsonTimeReader(options);
  const times = new Map<string, { path: string[]; count: number }>();
  const levels = new Map<string, { path: string[]; count: number; numbers: number[] }>();
  let objects = 0;
  for (const text of texts) {
    const object = parseJsonObject(text);
    if (!object) continue;
    objects++;
    for (const { path, value } of leaves(object)) {
      const key = path.at(-1) ?? '';
      const id = path.join('\0');
      const named = path.slice(-2).join('.');
      const isTimeKey = (TIME_KEY.test(named) && !OTHER_TIME_KEY.test(key)) || isAuditId(value);
      if (isTimeKey && !Number.isNaN(readTime(value))) {
        const counted = times.get(id) ?? { path, count: 0 };
        counted.count++;
        times.set(id, counted);
      }
      if (isLevelKey(path) && isLevelValue(value)) {
        const counted = levels.get(id) ?? { path, count: 0, numbers: [] };
        counted.count++;
        if (typeof value === 'number' || /^\d+$/.test(String(value))) counted.numbers.push(Number(value));
        levels.set(id, counted);
      }
    }
  }
  const most = Math.max(0, ...[...times.values()].map(({ count }) => count));
  const time = [...times.values()]
    .filter(({ count }) => count >= most * 0.6)
    .sort(
      (one, other) =>
        one.path.length - other.path.length ||
        Number(BEST_TIME_KEY.test(other.path.at(-1) ?? '')) - Number(BEST_TIME_KEY.test(one.path.at(-1) ?? '')) ||
        other.count - one.count,
    )[0];
  const level = [...levels.values()]
    .filter(({ numbers, path }) => numbers.length === 0 || (path.length <= 2 && scaleOf(numbers, path) !== undefined))
    .sort((one, other) => other.count - one.count || one.path.length - other.path.length)[0];
  const scale = level && scaleOf(level.numbers, level.path);
  return {
    ...(time && { time: time.path }),
    ...(level && level.count >= objects * 0.2 && { level: level.path, ...(scale && { scale }) }),
  };
}

/** The kernel's audit numbers what belongs together with its time: `1794940384.118:33152`. */
function isAuditId(value: unknown): boolean {
  return typeof value === 'string' && /^\d{10}\.\d{3}:\d+$/.test(value);
}

/** `level`, or the name in a level that is an object. */
function isLevelKey(path: readonly string[]): boolean {
  const [parent = '', key = ''] = path.length > 1 ? path.slice(-2) : ['', path[0]];
  return LEVEL_KEY.test(key) || (key === 'name' && LEVEL_KEY.test(parent));
}

function scaleOf(numbers: readonly number[], path: readonly string[]): LevelScale | undefined {
  if (numbers.length === 0) return undefined;
  if (numbers.every((value) => value % 10 === 0 && value >= 10 && value <= 60)) return 'tens';
  const key = path.at(-1) ?? '';
  if (/severity_?number/i.test(key)) return 'otel';
  // Of what is reported, not of the report: Suricata's alerts have 1 to 4.
  if (path.at(-2) === 'alert') return undefined;
  if (/priority|prio|severity|sev|syslog/i.test(key) && numbers.every((value) => value >= 0 && value <= 7))
    return 'syslog';
  return undefined;
}

function isLevelValue(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 && value <= 60;
  return typeof value === 'string' && (textRank(value) > 0 || /^\d{1,2}$/.test(value));
}

function textRank(text: string): number {
  const bytes = Buffer.from(text.trim());
  const letters = /^[A-Za-z]*/.exec(bytes.toString('latin1'))?.[0].length ?? 0;
  return (
    readLevelToken(bytes, 0, bytes.length) ||
    (letters === bytes.length ? (findLevelWord(bytes, 0, letters)?.rank ?? 0) : 0)
  );
}

function* leaves(object: Readonly<Record<string, unknown>>, path: string[] = []): Generator<Leaf> {
  for (const [key, value] of Object.entries(object)) {
    const own = [...path, key];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      yield { path: own, value };
      continue;
    }
    // `{seconds, nanos}` as a whole is a time.
    if ('seconds' in value || 'epochSecond' in value) yield { path: own, value };
    if (own.length < MOST_DEPTH) yield* leaves(value as Record<string, unknown>, own);
  }
}

/** Reads a value as a time: any spelling, numbers since 1970 in any unit, `{seconds, nanos}`; `NaN` if it is none. */
function createJsonTimeReader(options: FormatOptions): (value: unknown) => number {
  const complete = createTimeCompleter(options, 'mdy');
  const time = createWrittenTime();
  return (value) => {
    if (typeof value === 'object' && value !== null) {
      const { seconds, epochSecond = seconds, nanos, nanoOfSecond = nanos } = value as Record<string, unknown>;
      return epochMs(Number(epochSecond)) + Math.floor(Number(nanoOfSecond ?? 0) / 1_000_000);
    }
    if (typeof value !== 'number' && (typeof value !== 'string' || value.length > 64)) return Number.NaN;
    const text = String(value);
    const isCompact = /^20\d{12}(?:\.\d+)?$/.test(text);
    if (!isCompact && (typeof value === 'number' || /^\d{9,20}(?:\.\d+)?$/.test(text))) return epochMs(Number(value));
    const bytes = Buffer.from(text);
    const at = skipLeadingMarks(bytes, 0, bytes.length);
    if (!readWrittenTime(bytes, at, bytes.length, time) || time.spelling === 'clock') return Number.NaN;
    return complete(time);
  };
}

/** The unit is determined by the size, which covers the years 1973 to 5138 for each. */
function epochMs(value: number): number {
  if (!(value >= 1e8)) return Number.NaN;
  // Seconds with a fraction have more digits than a double keeps: to the nearest microsecond they are exact.
  if (value < 1e11) return Math.floor(Math.round(value * 1e6) / 1e3);
  if (value < 1e14) return Math.floor(value);
  return Math.floor(value / (value < 1e17 ? 1e3 : 1e6));
}

/** Reads time and level of a parsed line by its paths; of others, by any key that looks like one. */
function createPathReader(paths: JsonPaths, options: FormatOptions) {
  const readTime = createJsonTimeReader(options);
  const valueAt = (object: unknown, path: readonly string[] | undefined): unknown => {
    let value = object;
    for (const key of path ?? NO_PATH) {
      if (typeof value !== 'object' || value === null) return undefined;
      value = (value as Record<string, unknown>)[key];
    }
    return value;
  };
  return {
    timeMs(object: Readonly<Record<string, unknown>>): number {
      const timeMs = paths.time ? readTime(valueAt(object, paths.time)) : Number.NaN;
      if (!Number.isNaN(timeMs)) return timeMs;
      for (const { path, value } of leaves(object)) {
        if (!TIME_KEY.test(path.slice(-2).join('.')) || OTHER_TIME_KEY.test(path.at(-1) ?? '')) continue;
        const other = readTime(value);
        if (!Number.isNaN(other)) return other;
      }
      return Number.NaN;
    },
    rank(object: Readonly<Record<string, unknown>>): number {
      const value = paths.level ? valueAt(object, paths.level) : undefined;
      if (value === undefined || value === null) return 0;
      if (paths.scale && /^\d+$/.test(String(value))) return scaleRank(Number(value), paths.scale);
      return typeof value === 'string' ? textRank(value) : 0;
    },
  };
}

const NO_PATH: readonly string[] = ['\0'];

function scaleRank(value: number, scale: LevelScale): number {
  if (scale === 'tens') return value >= 10 && value <= 60 ? Math.floor(value / 10) : 0;
  if (scale === 'syslog') return severityRank(value);
  return value >= 1 && value <= 24 ? Math.ceil(value / 4) : 0;
}

/**
 * Lines of JSON whose time or level is where no other logger has them. `plain` reads those that it can: what it does not
 * find is where the paths say, and lines that are cut are read by it alone.
 */
export function createJsonPathFormat(
  spec: string,
  plain: ShapedFormat,
  paths: JsonPaths,
  options: FormatOptions,
): ShapedFormat {
  const reader = createPathReader(paths, options);
  const found = { timeMs: Number.NaN, rank: 0 };
  const readHead = (bytes: Buffer, start: number, wholeEnd: number): boolean => {
    const lineEnd = Math.min(wholeEnd, start + MAX_HEAD_BYTES);
    if (!plain.readHead(bytes, start, lineEnd, found)) return false;
    const object = parseJsonObject(bytes.toString('utf8', start, lineEnd));
    if (!object) return true;
    if (paths.time) {
      const timeMs = reader.timeMs(object);
      if (!Number.isNaN(timeMs)) found.timeMs = timeMs;
    }
    if (paths.level) found.rank = reader.rank(object) || found.rank;
    return true;
  };
  return {
    name: 'json-keys',
    spec,
    timed: true,
    readHead(bytes, start, end, head) {
      if (!readHead(bytes, start, trimLineEnd(bytes, start, end))) return false;
      head.timeMs = found.timeMs;
      head.rank = found.rank;
      return true;
    },
    decode(bytes, start, end) {
      const { lineEnd } = splitRecord(bytes, start, end);
      const { timeMs: _time, level: _level, ...columns } = plain.decode(bytes, start, end);
      return readHead(bytes, start, lineEnd) ? { ...headFields(found), ...columns } : columns;
    },
    isTypical: plain.isTypical,
  };
}
