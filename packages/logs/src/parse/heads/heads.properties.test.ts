import { describe, expect, test } from 'vitest';
import { BUILT_IN_FORMATS } from '../detect-format.ts';
import { levelRank } from '../level.ts';
import { createZone } from '../zone.ts';

/*
 * Logs of every combination of how times are spelled, how levels are written and what precedes them. The truth is known
 * from how they are made: no reader has a part in it.
 */

const ZONE = createZone('UTC');
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const DAYS = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ');

const two = (value: number) => String(value).padStart(2, '0');

/** The parts of a time, as programs put them together. */
function partsOf(timeMs: number) {
  const date = new Date(timeMs);
  const [y, M, d] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const [h, m, s, ms] = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCMilliseconds()];
  const clock = `${two(h)}:${two(m)}:${two(s)}`;
  const fraction = String(ms).padStart(3, '0');
  const half = `${h % 12 || 12}:${two(m)}:${two(s)} ${h < 12 ? 'AM' : 'PM'}`;
  return { y, M, d, h, m, s, clock, fraction, half, month: MONTHS[M] ?? '', day: DAYS[date.getUTCDay()] ?? '', timeMs };
}

type Parts = ReturnType<typeof partsOf>;

/** How exact a spelling is. */
type Unit = 1 | 1000;

const SPELLED: Readonly<Record<string, readonly [Unit, (parts: Parts) => string]>> = {
  iso: [1, ({ y, M, d, clock, fraction }) => `${y}-${two(M + 1)}-${two(d)}T${clock}.${fraction}Z`],
  'iso, blank and comma': [1, ({ y, M, d, clock, fraction }) => `${y}-${two(M + 1)}-${two(d)} ${clock},${fraction}`],
  'iso, offset': [1, ({ y, M, d, clock, fraction }) => `${y}-${two(M + 1)}-${two(d)}T${clock}.${fraction}000+00:00`],
  'iso, zone': [1000, ({ y, M, d, clock }) => `${y}-${two(M + 1)}-${two(d)} ${clock} UTC`],
  slashes: [1, ({ y, M, d, clock, fraction }) => `${y}/${two(M + 1)}/${two(d)} ${clock}.${fraction}`],
  'slashes and a dash': [1000, ({ y, M, d, clock }) => `${y}/${two(M + 1)}/${two(d)} - ${clock}`],
  dots: [1, ({ y, M, d, clock, fraction }) => `${y}.${two(M + 1)}.${two(d)} ${clock}:${fraction}`],
  'one digit for hours': [
    1,
    ({ y, M, d, h, clock, fraction }) => `${y}-${two(M + 1)}-${two(d)} ${h}${clock.slice(2)},${fraction}`,
  ],
  compact: [1000, ({ y, M, d, clock }) => `${y}${two(M + 1)}${two(d)}T${clock.replaceAll(':', '')}`],
  'compact with colons': [1, ({ y, M, d, clock, fraction }) => `${y}${two(M + 1)}${two(d)}-${clock}:${fraction}`],
  short: [1000, ({ y, M, d, clock }) => `${two(y % 100)}${two(M + 1)}${two(d)} ${clock}`],
  american: [1, ({ y, M, d, clock, fraction }) => `${two(M + 1)}/${two(d)}/${y} ${clock}.${fraction}`],
  'american, half a day': [1000, ({ y, M, d, half }) => `${M + 1}/${d}/${y}, ${half}`],
  german: [1000, ({ y, M, d, clock }) => `${two(d)}.${two(M + 1)}.${y} ${clock}`],
  'day and month': [1, ({ y, month, d, clock, fraction }) => `${two(d)}-${month}-${y} ${clock}.${fraction}`],
  'day and month, short': [1000, ({ y, month, d, clock }) => `${two(d)}-${month}-${two(y % 100)} ${clock}`],
  clf: [1000, ({ y, month, d, clock }) => `${two(d)}/${month}/${y}:${clock} +0000`],
  'month and day': [1000, ({ y, month, d, clock }) => `${month} ${d}, ${y} ${clock}`],
  'month and day, half a day': [1000, ({ y, month, d, half }) => `${month} ${two(d)}, ${y} ${half}`],
  ctime: [1000, ({ y, month, d, day, clock }) => `${day} ${month} ${two(d)} ${clock} ${y}`],
  'ctime, zone': [1000, ({ y, month, d, day, clock }) => `${day} ${month} ${two(d)} ${clock} UTC ${y}`],
  'rfc 2822': [1000, ({ y, month, d, day, clock }) => `${day}, ${two(d)} ${month} ${y} ${clock} +0000`],
  'year and month': [1000, ({ y, month, d, clock }) => `${y} ${month} ${two(d)} ${clock}`],
  syslog: [1000, ({ month, d, clock }) => `${month} ${String(d).padStart(2)} ${clock}`],
  'syslog, one digit': [1, ({ month, d, clock, fraction }) => `${month} ${d} ${clock}.${fraction}`],
  'epoch, ms': [1, ({ timeMs }) => String(timeMs)],
  'epoch, s': [1, ({ timeMs }) => (timeMs / 1000).toFixed(3)],
  tai64n: [1, ({ timeMs }) => taiLabel(timeMs)],
};

function taiLabel(timeMs: number): string {
  const seconds = Math.floor(timeMs / 1000) + 10;
  return `@4${seconds.toString(16).padStart(15, '0')}${((timeMs % 1000) * 1_000_000).toString(16).padStart(8, '0')}`;
}

const LEVELS = ['INFO', 'WARN', 'ERROR', 'INFO', 'DEBUG', 'INFO'] as const;
type Level = (typeof LEVELS)[number];

const low = (level: Level) => level.toLowerCase();
const title = (level: Level) => (level[0] ?? '') + level.slice(1).toLowerCase();
const three = (level: Level) => ({ INFO: 'INF', WARN: 'WRN', ERROR: 'ERR', DEBUG: 'DBG' })[level];

/** A line of a time, a level and a message. */
const LINES: Readonly<Record<string, (time: string, level: Level, message: string) => string>> = {
  'capitals behind': (time, level, message) => `${time} ${level} ${message}`,
  'padded behind': (time, level, message) => `${time} ${level.padEnd(7)} ${message}`,
  'brackets behind': (time, level, message) => `${time} [${low(level)}] ${message}`,
  'padded brackets behind': (time, level, message) => `${time} [${level.padEnd(5)}] [main] ${message}`,
  'angles behind': (time, level, message) => `${time} <${title(level)}> ${message}`,
  'parentheses behind': (time, level, message) => `${time} (${level}) ${message}`,
  'a colon behind': (time, level, message) => `${time} ${level}: ${message}`,
  'small and a colon behind': (time, level, message) => `${time} ${low(level)}: ${message}`,
  'dashes around': (time, level, message) => `${time} - root - ${level} - ${message}`,
  'bars around': (time, level, message) => `${time} | ${title(level)} | ${message}`,
  'tabs around': (time, level, message) => `${time}\t${level}\tcart.c:12\t${message}`,
  'colons around': (time, level, message) => `${time}::${level}::${message}`,
  'three letters': (time, level, message) => `${time} ${three(level)} ${message}`,
  'a letter in brackets': (time, level, message) => `${time} [${level[0]}] ${message}`,
  'a key': (time, level, message) => `time="${time}" level=${low(level)} msg="${message}"`,
  'behind a thread': (time, level, message) => `${time} [worker-7] ${level} c.e.Cart - ${message}`,
  'behind a process': (time, level, message) => `${time} 4711 ${level} cart [-] ${message}`,
  'a time in brackets': (time, level, message) => `[${time}] ${level} ${message}`,
  'all in brackets': (time, level, message) => `[${time}] [${level}] [cart] ${message}`,
  'in front': (time, level, message) => `${level} ${time} ${message}`,
  'in brackets in front': (time, level, message) => `[${title(level)}] ${time} ${message}`,
  'a colon in front': (time, level, message) => `${level}: ${time}: ${message}`,
};

const LEADS: Readonly<Record<string, string>> = {
  nothing: '',
  'a process': '4711 ',
  'a process in brackets': '[4711] ',
  'a name': 'cart ',
  'a name in brackets': '[cart] ',
  'a name and a bar': 'cart-1  | ',
  'a priority': '<14>',
};

/** Words of levels and times that are of messages. */
const MESSAGES = [
  'no error found since 10:00:00',
  'backup finished, next at 2027-12-01 03:00',
  'rotated keys, warning threshold 80 percent not reached',
  'info page served to bob',
  'worker 64 is ready',
  'took 797 ms',
  'fatal exceptions are not retried',
];

/** With these the time of the line is not where it would be. */
const NOT_BEHIND_A_KEY = new Set(['a key']);

function* combinations() {
  for (const spelling of Object.keys(SPELLED))
    for (const line of Object.keys(LINES))
      for (const lead of Object.keys(LEADS))
        if (lead === 'nothing' || !NOT_BEHIND_A_KEY.has(line)) yield { spelling, line, lead };
}

const START_MS = Date.parse('2026-11-17T08:05:10.123Z');

function judge({ spelling, line, lead }: { spelling: string; line: string; lead: string }): string | undefined {
  const [unit, spell] = SPELLED[spelling] ?? [1, () => ''];
  const write = LINES[line];
  const records = Array.from({ length: 12 }, (_, index) => {
    const timeMs = START_MS + index * 7_919_321;
    const level = LEVELS[index % LEVELS.length] ?? 'INFO';
    const message = MESSAGES[(index * 3) % MESSAGES.length] ?? '';
    return {
      timeMs: timeMs - (timeMs % unit),
      level,
      text: LEADS[lead] + (write?.(spell(partsOf(timeMs)), level, message) ?? ''),
    };
  });
  const bytes = Buffer.from(records.map(({ text }) => `${text}\n`).join(''));
  const format = BUILT_IN_FORMATS.detect(bytes, { zone: ZONE, writtenMs: (records.at(-1)?.timeMs ?? 0) + 60_000 });
  const head = { timeMs: Number.NaN, rank: 0 };
  let start = 0;
  for (const { timeMs, level, text } of records) {
    const end = bytes.indexOf(10, start) + 1;
    const isRecord = format.readHead(bytes, start, end, head);
    if (!isRecord || head.timeMs !== timeMs || head.rank !== levelRank(level))
      return `${spelling} / ${line} / ${lead}: ${text}: ${isRecord} ${new Date(head.timeMs || 0).toISOString()} ${head.rank}`;
    start = end;
  }
  return undefined;
}

describe('heads of every spelling, level and lead', () => {
  test.each(Object.keys(SPELLED))('%s', (spelling) => {
    const all = [...combinations()].filter((one) => one.spelling === spelling);
    expect(all.flatMap((one) => judge(one) ?? [])).toEqual([]);
  });
});
