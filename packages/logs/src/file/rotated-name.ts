import { compressionSuffix } from './compression.ts';

/** The names of a directory. */
type NameSet = Pick<ReadonlySet<string>, 'has'>;

/**
 * `.log`, `.json`, `.out`: follows a date or number inserted before it. A compression suffix is not an extension of a
 * log.
 */
const EXTENSION = /^\.(?!(?:gz|bz2|xz|zst|zip|lz4)$)[a-z][a-z\d]{0,9}$/i;
const EXTENSION_MAX_CHARS = 11;

const COPY = /\.(?:old|bak)$/i;
const NUMBER = /\.(\d{1,9})$/;
/** Without leading zeros: those number machines, not rotations. */
const INDEX = /([-.])(0|[1-9]\d{0,5})$/;
const GLOG = /\.log\.(INFO|WARNING|ERROR|FATAL)$/;

/** A longer number is more likely a port or a process id: it means a rotation only next to the live file. */
const SURE_DIGITS = 3;
/**
 * `error-404.log` next to `error.log` is another log. In a compressed file, which nobody writes to, any index is
 * accepted.
 */
const DASHED_DIGITS = 2;

/**
 * Sorts a suffix before its absence, which counts as -1: `app-2026-11-15.log.old` is older than the file without
 * `.old`.
 */
const OLDER = -2;

/**
 * How a name encodes its age. Ages of different styles cannot be compared; a family with more than one has changed its
 * configuration and is sorted in this order, dates last, because only they and the indices can belong to a live file.
 *
 * - `copy`: `app.log.old`, `app.old.log`, `app.log.gz`.
 * - `numbered`: `app.log.1`. Every rotation increments the numbers, so a larger number is older.
 * - `indexed`: `app.1.log`, `app-1.log`. Ambiguous: log4j counts up by default (larger is newer) and can be configured
 *   to shift (larger is older); logback shifts, pino-roll counts up. We assume larger is newer, which is right if there
 *   is no live file, the one case where the order decides which file is live.
 * - `dated`: the date, then the index of that day, where a larger one is newer with every known writer.
 */
export const ROTATION_STYLES = ['copy', 'numbered', 'indexed', 'dated'] as const;
type RotationStyle = (typeof ROTATION_STYLES)[number];

export interface RotatedName {
  /** Name of the live file, or the name it would have. */
  family: string;
  style: RotationStyle;
  /** Ascends from old to new within one style: compared element by element, a missing one counting as -1. */
  rank: readonly number[];
  compressed: boolean;
  /** Some writers write directly to files with such names, so the newest may be the live one. */
  canBeLive: boolean;
  /** glog: the link to the newest file of the program. */
  link?: string;
}

type Reading = Omit<RotatedName, 'compressed'>;

/**
 * Parses one name; `undefined` for the name of a log itself. `names` are all names in the directory: some names mean a
 * rotation only next to the live file.
 *
 * Not treated as rotated, because a wrong guess would hide a log that is being written: `app1.log` (winston's
 * numbering, where its configuration decides whether `app.log` or the largest is live), and names that consist of a
 * date only.
 */
export function parseRotatedName(name: string, names: NameSet): RotatedName | undefined {
  const suffix = compressionSuffix(name);
  const compressed = suffix !== '';
  const plain = name.slice(0, name.length - suffix.length);
  const reading = readEnding(plain, names) ?? readMiddle(plain, { names, compressed });
  if (reading) return { ...reading, compressed, canBeLive: reading.canBeLive && !compressed };
  if (!compressed || plain === '') return undefined;
  return { family: plain, style: 'copy', rank: [], compressed, canBeLive: false };
}

/**
 * A suffix of the whole name: `app.log.1`, `app.log-20261115`, `messages.2`; with a date before the extension, both
 * count.
 */
function readEnding(plain: string, names: NameSet): Reading | undefined {
  const stamp = findStamp(plain);
  if (stamp) return readDatedFile(stamp.before, [OLDER, ...stamp.numbers]) ?? readStampEnding(stamp);
  const ending = nameEnding(plain);
  const copy = COPY.exec(ending)?.[0];
  if (copy) {
    const family = plain.slice(0, -copy.length);
    if (!canPrecede(family)) return undefined;
    return readDatedFile(family, [OLDER]) ?? { family, style: 'copy', rank: [], canBeLive: false };
  }
  const digits = NUMBER.exec(ending)?.[1];
  if (!digits) return undefined;
  const family = plain.slice(0, -digits.length - 1);
  if (!canPrecede(family) || !(isSureNumber(family, digits) || names.has(family))) return undefined;
  const dated = readDatedFile(family, [Number(digits)]);
  // winston: `app-2026-11-15.log`, then `app-2026-11-15.log.1` when the first is full; it never renames.
  if (dated) return { ...dated, canBeLive: true };
  return { family, style: 'numbered', rank: [0 - Number(digits)], canBeLive: false };
}

/** The name of a dated file to which a further suffix was added. */
function readDatedFile(plain: string, mark: readonly number[]): Reading | undefined {
  const { stem, extension } = splitExtension(plain);
  const stamp = extension ? findStamp(stem) : undefined;
  if (!stamp) return undefined;
  const rank = [...stamp.numbers, ...mark];
  return { family: stamp.before + extension, style: 'dated', rank, canBeLive: false };
}

function readStampEnding({ before, separator, numbers, isExtended, hasMilliseconds }: Stamp): Reading {
  const dated = { family: before, style: 'dated', rank: numbers } as const;
  const severity = GLOG.exec(nameEnding(before))?.[1];
  if (severity && separator === '.' && !isExtended && numbers.length === 3) {
    return { ...dated, canBeLive: true, link: `${before.slice(0, before.indexOf('.'))}.${severity}` };
  }
  // Rolling appenders write to `app.log.2026-11-15`; suffixes of logrotate and the kubelet look different.
  return { ...dated, canBeLive: separator === '.' && isExtended && !hasMilliseconds };
}

/** A suffix before the extension: `app-2026-11-15.log`, `app.old.log`, `app.1.log`. */
function readMiddle(
  plain: string,
  { names, compressed }: { names: NameSet; compressed: boolean },
): Reading | undefined {
  const { stem, extension } = splitExtension(plain);
  if (!extension) return undefined;
  const stamp = findStamp(stem);
  if (stamp) {
    const { before, numbers, hasMilliseconds } = stamp;
    return { family: before + extension, style: 'dated', rank: numbers, canBeLive: !hasMilliseconds };
  }
  const ending = nameEnding(stem);
  const copy = COPY.exec(ending)?.[0];
  if (copy) {
    const before = stem.slice(0, -copy.length);
    return canPrecede(before) ? { family: before + extension, style: 'copy', rank: [], canBeLive: false } : undefined;
  }
  const [index, separator, digits = ''] = INDEX.exec(ending) ?? [];
  if (!index) return undefined;
  const before = stem.slice(0, -index.length);
  const family = before + extension;
  const isDotted = separator === '.';
  if (!canPrecede(before) || (!compressed && digits.length > (isDotted ? SURE_DIGITS : DASHED_DIGITS)))
    return undefined;
  if (!(isDotted && isSureNumber(before, digits)) && !names.has(family)) return undefined;
  return { family, style: 'indexed', rank: [Number(digits)], canBeLive: isDotted };
}

/** Not `postgres.5432`, nor the last part of an address or a version: `10.0.0.1`, `app-1.2`. */
function isSureNumber(before: string, digits: string): boolean {
  return digits.length <= SURE_DIGITS && !/\d$/.test(before.slice(-1));
}

function splitExtension(plain: string): { stem: string; extension: string } {
  const dot = plain.lastIndexOf('.');
  const isExtension = dot > 0 && plain.length - dot <= EXTENSION_MAX_CHARS && EXTENSION.test(plain.slice(dot));
  return isExtension ? { stem: plain.slice(0, dot), extension: plain.slice(dot) } : { stem: plain, extension: '' };
}

/** The longest meaningful suffix has 48 characters; longer names cost no more to parse. */
const ENDING_CHARS = 64;

const YEAR = String.raw`(?<year>19[7-9]\d|20\d\d)`;
const MONTH = '(?<month>0[1-9]|1[0-2])';
const DAY = String.raw`(?<day>0[1-9]|[12]\d|3[01])`;
const HOUR = String.raw`(?<hour>[01]\d|2[0-3])`;
const MINUTE = String.raw`(?<minute>[0-5]\d)`;
const SECOND = String.raw`(?<second>[0-5]\d)`;
/** An hour, an index, a process id, seconds since 1970: in any case, within one log a larger one is newer. */
const FURTHER = String.raw`(?<further>(?:[-._T]\d{1,10}){0,2})`;

/** `2026-11-15`, `2026-11-15-03`, `2026-11-15_002126`, `2026-11-15T00-21-26.600`. */
const EXTENDED_TIME = String.raw`[-_T]${HOUR}[-_:]?${MINUTE}[-_:]?${SECOND}(?:[.,](?<ms>\d{3}))?Z?`;
const EXTENDED = new RegExp(`[-._]${YEAR}-${MONTH}-${DAY}(?:${EXTENDED_TIME})?${FURTHER}$`);

/** `20261115`, `2026111500`, `20261115-1731628800`, `20261115-002126.12345`. */
const COMPACT = new RegExp(`[-._]${YEAR}${MONTH}${DAY}(?:${HOUR}(?:${MINUTE}${SECOND}?)?)?${FURTHER}$`);

/** A date at the end of a name, with its separator. */
interface Stamp {
  /** The text before it; never empty. */
  before: string;
  separator: string;
  /** The date as one number, then what follows it. Within one style larger is newer. */
  numbers: readonly number[];
  /** `2026-11-15`, not `20261115`. */
  isExtended: boolean;
  /** Only rotators use such precise stamps: it is the time of the rotation. */
  hasMilliseconds: boolean;
}

/** A date has at least this many digits: year, month and day. */
const MIN_DIGITS = 8;

/** `undefined` if the text does not end in a valid date, or consists of a date only. */
function findStamp(text: string): Stamp | undefined {
  if (!canEndInStamp(text)) return undefined;
  const ending = nameEnding(text);
  const extended = EXTENDED.exec(ending);
  const match = extended ?? COMPACT.exec(ending);
  if (!match) return undefined;
  const [stamp] = match;
  const { year = '', month = '', day = '', hour, minute, second, ms, further = '' } = match.groups ?? {};
  const before = text.slice(0, text.length - stamp.length);
  if (!canPrecede(before) || !isDate(Number(year), Number(month), Number(day))) return undefined;
  const clock = [hour, minute, second, ms].filter((part) => part !== undefined);
  return {
    before,
    separator: stamp.charAt(0),
    numbers: [`${year}${month}${day}`, ...clock, ...(further.match(/\d+/g) ?? [])].map(Number),
    isExtended: extended !== null,
    hasMilliseconds: ms !== undefined,
  };
}

/** Skips the regexes, which dominate the time of grouping 100,000 names, for nearly all names. */
function canEndInStamp(text: string): boolean {
  let digits = 0;
  for (let index = text.length - 1; index > 0 && digits < MIN_DIGITS; index--) {
    const code = text.charCodeAt(index);
    if (code >= ZERO && code <= NINE) digits++;
    else if (!STAMP_SIGNS.includes(text.charAt(index))) return false;
    if (text.length - index > ENDING_CHARS) return false;
  }
  return digits >= MIN_DIGITS;
}

const ZERO = 48;
const NINE = 57;
/** Characters that may occur in a date besides digits. */
const STAMP_SIGNS = '-._:,TZ';

/** The part of a name where rotation leaves its suffix. Regexes are matched against nothing else. */
function nameEnding(text: string): string {
  return text.slice(-ENDING_CHARS);
}

/** Whether a log can have this name: `-20261115.log` and `..1` are rotated files of nothing. */
function canPrecede(before: string): boolean {
  return before !== '' && !'-._'.includes(before.charAt(before.length - 1));
}

function isDate(year: number, month: number, day: number): boolean {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}
