import { checkTimeLayout } from './formats/layout/check-layout.ts';
import type { DateOrder, Spelling } from './heads/time-spellings.ts';

/** The numbers of dates by spelling, in their order; those of a numeric date are in the order of the file. */
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

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)$/i, 'MMM'],
  [/^(?:mon|tue|wed|thu|fri|sat|sun)$/i, 'EEE'],
  [/^[ap]m$/i, 'a'],
];

const ZONE = /(?<=[:.\dT]\d\d(?:[.,:]\d+)?(?: ?[AP]M)? ?)(?:Z|[A-Z]{3,5}|[+-]\d\d:?\d\d|(?<=:.*)[+-]\d\d)(?=$| \d{4}$)/;
const MINUTES = /(?<=\.\d+)[+-]\d{3}$/;

/**
 * A time as a layout in the language of `log.formats` (docs/formats.md): `yyyy-MM-dd HH:mm:ss[,S]X`. Empty if it cannot be
 * expressed in it.
 */
export function timePattern(text: string, spelling: Spelling, order: DateOrder): string {
  if (spelling === 'epoch') return 'epoch';
  const isLongGlog = spelling === 'glog' && /^\d{6}/.test(text);
  let pattern = isLongGlog ? 'yyMMdd' : (JOINED[spelling] ?? '');
  const numeric = { mdy: 'Mdy', dmy: 'dMy', ymd: 'yMd' }[order];
  const known = { ...DATES, numeric, 'numeric-clock': numeric.replace('y', '') };
  let date = pattern ? '' : (known[spelling] ?? '?');
  // Its numbers are not known.
  if (date === '?') return '';
  let clock = 'Hms';
  let rest = text.slice(pattern.length).replace(ZONE, '\u0001').replace(MINUTES, '\u0002');
  // 20261117-183304118
  const [digits, mark = '', , fraction] = (pattern && /^(\D?)(\d{6})(\d*)/.exec(rest)) || [];
  if (digits !== undefined) {
    pattern += `${mark === 'T' ? "'T'" : mark}HHmmss${fraction ? 'S' : ''}`;
    rest = rest.slice(digits.length);
    clock = '';
  }
  const addNumber = (number: string) => {
    // Behind the name of a month, the clock may come before the year.
    const isClock = date === '' || (date === 'y' && spelling === 'month-day' && number.length !== 4);
    const letter = (isClock ? clock : date)[0] ?? '';
    if (isClock) clock = clock.slice(1);
    else date = date.slice(1);
    const isPadded = letter === 'd' && spelling.startsWith('month');
    pattern += letter === 'y' ? 'y'.repeat(number.length) : letter.repeat(isPadded ? 1 : Math.min(2, number.length));
  };
  for (const [token] of rest.matchAll(/[.,:]\d+(?!\d*:\d)|\d+|[A-Za-z]+|[^A-Za-z\d]/g)) {
    const name = NAMES.find(([names]) => names.test(token))?.[1];
    if (token === '\u0001') pattern += 'X';
    else if (token === '\u0002') pattern += 'O';
    else if (/^[A-Za-z]/.test(token)) pattern += name ?? `'${token}'`;
    else if (/^\d/.test(token)) addNumber(token);
    // A mark and digits are the next number, or the fraction of a second.
    else if (token.length > 1 && clock === '') pattern += `[${token[0]}S]`;
    else if (token.length > 1) {
      pattern += token[0];
      addNumber(token.slice(1));
    } else if (token !== ' ' || !pattern.endsWith(' ')) pattern += token;
  }
  return checkTimeLayout(pattern) === undefined ? pattern : '';
}
