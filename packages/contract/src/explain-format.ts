import type { LearnedFormat, LearnedLevel, LearnedTime, LogFileDetails } from '@porthole/logs/types';

/** One line about what a file was read as. `doubt`: it was guessed or assumed, and a reader should check it. */
export interface FormatFact {
  label: string;
  text: string;
  doubt?: true;
}

const ENVELOPES: Readonly<Record<string, string>> = {
  docker: "Docker's JSON",
  cri: 'CRI lines of Kubernetes',
  compose: 'lines of docker compose',
  ansi: 'terminal colours',
  indented: 'indentation',
};

const BASES = {
  learned: 'learned from its lines',
  'built-in': 'a built-in format',
  settings: 'defined in log.formats',
  unknown: 'no timestamps and no known layout',
} as const;

/** What a spelling consists of. */
const SPELLINGS: Readonly<Record<string, string>> = {
  iso: 'year, month, day and clock',
  compact: 'date and clock in digits only',
  short: 'date in six digits and clock',
  numeric: 'numeric date and clock',
  'day-month': 'day, name of the month, year and clock',
  'month-day': 'name of the month, day, year and clock',
  'year-month': 'year, name of the month, day and clock',
  epoch: 'time since 1970 as a number',
  tai64n: 'TAI64N label',
  glog: 'letter of the level, month, day and clock',
  'month-day-clock': 'name of the month, day and clock',
  'day-month-clock': 'day, name of the month and clock',
  'numeric-clock': 'month and day in numbers, and clock',
  clock: 'clock alone',
};

/** Spellings whose year, or date, is that of the file. */
const YEARLESS = ['glog', 'month-day-clock', 'day-month-clock', 'numeric-clock'];

const ORDERS = { mdy: 'month before day', dmy: 'day before month', ymd: 'year, month, day' } as const;

const SETTLED = {
  'number over 12': 'settled by a number over 12',
  dots: 'settled by the dots in the date',
  'modification time': "settled by the file's modification time",
  guess: 'a guess: nothing in the file settles it',
} as const;

/** What a file was read as, as sentences for people; the console and the program show the same. */
export function explainFormat({ format }: Pick<LogFileDetails, 'format'>, learned: LearnedFormat): FormatFact[] {
  const { basis, envelopes, times, level, zone, dateOrder, lines } = learned;
  const timed = times.reduce((sum, { records }) => sum + records, 0);
  const inside = envelopes.map((name) => ENVELOPES[name] ?? name).join(', in ');
  const facts: FormatFact[] = [
    { label: 'Format', text: `${format}: ${BASES[basis]}${inside && `, inside ${inside}`}` },
    ...(times.length > 0 ? times.map(explainTime) : [explainNoTime(learned)]),
    explainLevel(level, lines.records),
  ];
  if (timed > 0) facts.push(explainZone(zone, timed));
  if (dateOrder) {
    const text = `${ORDERS[dateOrder.order]}: ${SETTLED[dateOrder.settledBy]}`;
    facts.push({ label: 'Date', text, ...(dateOrder.settledBy === 'guess' && { doubt: true }) });
  }
  const continued = lines.sampled - lines.records - lines.unfit;
  const text = [
    `${lines.sampled} sampled`,
    `${lines.records} start a record`,
    ...(continued > 0 ? [`${continued} continue one`] : []),
    `${lines.unfit} do not fit`,
  ].join(' · ');
  facts.push({ label: 'Lines', text, ...(lines.unfit > lines.records && { doubt: true }) });
  return facts;
}

function explainTime({ spelling, pattern, place, lead, example, records }: LearnedTime): FormatFact {
  const where = { start: 'at the start of the line', behind: `behind "${lead}"`, key: `in the key "${lead}"` }[place];
  const missing = YEARLESS.includes(spelling) ? 'year' : spelling === 'clock' ? 'date' : undefined;
  const parts = [
    example,
    SPELLINGS[spelling] ?? spelling,
    ...(pattern && pattern !== 'epoch' ? [pattern] : []),
    where,
    count(records, 'record'),
  ];
  const from = missing ? `; the ${missing} comes from the file's modification time` : '';
  return { label: 'Time', text: parts.join(' · ') + from };
}

function explainNoTime({ lines, envelopes, basis }: LearnedFormat): FormatFact {
  if (lines.timed === 0)
    return {
      label: 'Time',
      text: 'none recognised: each line that is not indented is a record without a timestamp',
      doubt: true,
    };
  const isOuter = envelopes.length > 0 && basis !== 'learned';
  return { label: 'Time', text: isOuter ? 'that of the envelope: the text inside has none' : 'read by this format' };
}

function explainLevel({ place, marks, example, records }: LearnedLevel, all: number): FormatFact {
  const share = `in ${records} of ${count(all, 'record')}`;
  const [open, close = ''] = marks;
  const between = marks.length === 2 ? `, between ${open} and ${close}` : marks && `, before ${marks}`;
  const where = {
    before: `before the time${between}`,
    after: `after the time${between}`,
    key: /\W$/.test(marks) ? `behind ${marks.trim()}` : `in the key "${marks}"`,
    status: 'from the status of the request',
    facility: 'the severity in %FACILITY-SEVERITY-NAME',
    priority: 'the severity of the syslog priority',
    below: 'at the start of the line below',
    mark: 'a mark behind the time: . - * #',
    elsewhere: 'read by this format',
    none: 'none: no level is in the same place in most lines',
  }[place];
  if (place === 'none') return { label: 'Level', text: where };
  return { label: 'Level', text: [...(example ? [example] : []), where, share].join(' · ') };
}

function explainZone({ name, assumed }: LearnedFormat['zone'], timed: number): FormatFact {
  if (assumed === 0) return { label: 'Zone', text: 'given by every timestamp' };
  const which =
    assumed < timed ? `for the ${assumed} of ${timed} timestamps that have none` : 'the timestamps have none';
  return { label: 'Zone', text: `${name}, assumed: ${which}`, doubt: true };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** How to correct it, before the example. */
export function explainCorrection({ example }: LearnedFormat): string {
  return example.isChecked
    ? 'To read it differently, add a format to the settings. This one reads the samples as they are read now:'
    : 'To read it differently, add a format to the settings. Adapt lines and times of this one to the sample:';
}
