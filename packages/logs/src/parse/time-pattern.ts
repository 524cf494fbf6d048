import { checkTimeLayout } from './formats/layout/check-layout.ts';
import type { DateOrder, Spelling } from './heads/time-spellings.ts';

/** The numbers of dates, by spelling; those of a numeric date are in the order of the file. */
const DATES: Partial<Record<Spelling, string>> = {
  iso: 'yMd',
  'day-month': 'dy',
  'month-day': 'dy',
  'year-month': 'yd',
  'month-day-clock': 'd',
  'day-month-clock': 'd',
  clock: '',
};

/** Numbers without marks between them. */
const JOINED: Partial<Record<Spelling, string>> = { compact: 'yyyyMMdd', short: 'yyMMdd', glog: 'MMdd' };

const MONTHS = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)$/i;
const DAYS = /^(?:mon|tue|wed|thu|fri|sat|sun)$/i;
const ZONE = /(?<=[:.\dT]\d\d(?:[.,:]\d+)?(?: ?[AP]M)? ?)(?:Z|[A-Z]{3,5}|[+-]\d\d:?\d\d|(?<=:.*)[+-]\d\d)(?=$| \d{4}$)/;

/**
 * A time as a layout in the language of `log.formats` (docs/formats.md): `yyyy-MM-dd HH:mm:ss[,S]X`. Empty if it cannot be
 * expressed in it.
 */
export function timePattern(text: string, spelling: Spelling, order: DateOrder): string {
  if (spelling === 'epoch') return 'epoch';
  if (spelling === 'tai64n') return '';
  const joined = spelling === 'glog' && /^\d{6}/.test(text) ? 'yyMMdd' : JOINED[spelling];
  const numeric = { mdy: 'Mdy', dmy: 'dMy', ymd: 'yMd' }[order];
  let date = DATES[spelling] ?? (spelling === 'numeric' ? numeric : numeric.replace('y', ''));
  let clock = 'Hms';
  let pattern = '';
  let rest = text;
  if (joined !== undefined) {
    date = '';
    rest = rest.slice(joined.length);
    pattern = joined;
    // 20261117-183304118
    const [all, mark = '', , fraction] = /^(\D?)(\d{6})(\d*)/.exec(rest) ?? [];
    if (all !== undefined) {
      pattern += `${mark === 'T' ? "'T'" : mark}HHmmss${fraction ? 'S' : ''}`;
      rest = rest.slice(all.length);
      clock = '';
    }
  }
  const isNamed = /month/.test(spelling);
  rest = rest.replace(ZONE, '\u0001').replace(/(?<=\.\d+)[+-]\d{3}$/, '\u0002');
  for (const [token] of rest.matchAll(/[.,:]\d+(?!\d*:\d)|\d+|[A-Za-z]+|[^A-Za-z\d]/g)) {
    const [mark = ''] = token;
    if (token === '\u0001') pattern += 'X';
    else if (token === '\u0002') pattern += 'O';
    else if (MONTHS.test(token)) pattern += 'MMM';
    else if (DAYS.test(token)) pattern += 'EEE';
    else if (/^[ap]m$/i.test(token)) pattern += 'a';
    else if (/^[A-Za-z]+$/.test(token)) pattern += `'${token}'`;
    else if (/^\d+$/.test(token)) addNumber(token);
    else if (token.length > 1) {
      // A mark and digits are the next number, or a fraction of the last second.
      if (clock === '') pattern += `[${mark}S]`;
      else {
        pattern += mark;
        addNumber(token.slice(1));
      }
    } else if (token !== ' ' || !pattern.endsWith(' ')) pattern += token;
  }
  return checkTimeLayout(pattern) === undefined ? pattern : '';

  function addNumber(digits: string): void {
    const isYear = digits.length === 4 && isNamed && date.includes('y') && !date.startsWith('y');
    // A named month may be followed by the clock, and the year by nothing.
    const isDate =
      date !== '' &&
      (!isNamed || date[0] !== 'y' || digits.length === 4 || pattern.endsWith('-') || pattern.endsWith(','));
    const letter = isYear ? 'y' : isDate ? (date[0] ?? '') : (clock[0] ?? '');
    if (isYear || isDate) date = date.replace(letter, '');
    else clock = clock.slice(1);
    if (letter === 'y') pattern += digits.length === 4 ? 'yyyy' : 'yy';
    else
      pattern += digits.length === 2 && !(letter === 'd' && spelling.startsWith('month')) ? letter.repeat(2) : letter;
  }
}
