import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { LearnedFormat } from '../types.ts';
import { describeFormat } from './describe-format.ts';
import { FormatSet } from './detect-format.ts';
import { timePattern } from './time-pattern.ts';
import { parseUserFormats } from './user-format.ts';
import { createZone } from './zone.ts';

const HEADS = fileURLToPath(new URL('../../fixtures/heads/', import.meta.url));
const ZONE = createZone('UTC');
const WRITTEN_MS = Date.parse('2026-11-17T18:40:00Z');

function describeText(
  text: string | Buffer,
  { formats = new FormatSet(), file = 'app.log', writtenMs = WRITTEN_MS } = {},
) {
  const bytes = Buffer.from(text);
  const format = formats.detect(bytes, { zone: ZONE, writtenMs });
  return describeFormat(format, bytes, { zone: ZONE, writtenMs, formats, file });
}

function describeFixture(name: string): LearnedFormat {
  const { modified } = JSON.parse(readFileSync(`${HEADS}${name}.json`, 'utf8')) as { modified: string };
  return describeText(readFileSync(`${HEADS}${name}.log`), { file: `${name}.log`, writtenMs: Date.parse(modified) });
}

const factOf = ({ facts }: LearnedFormat, label: string) => facts.find((fact) => fact.label === label)?.text;

/** Parts in brackets with their first letter. */
const marked = ({ samples }: LearnedFormat, index = 0) =>
  samples[index]?.map(({ kind, text }) => (kind === 'other' ? text : `«${kind[0]}:${text}»`)).join('');

describe('what a file is read as', () => {
  it.each([
    ['docker-log4j', 'Format', "docker+log4j: learned from its lines, inside Docker's JSON"],
    [
      'docker-log4j',
      'Time',
      '2026-11-17 18:05:13,000 · yyyy-MM-dd HH:mm:ss[,S] · year, month, day and clock · at the start of the line · 8 records',
    ],
    ['docker-log4j', 'Level', 'INFO · after the time · in 8 of 8 records'],
    ['docker-log4j', 'Zone', 'UTC, assumed: the timestamps have none'],
    ['docker-log4j', 'Lines', '13 sampled · 8 records · 2 do not fit'],
    ['docker-untimed', 'Time', 'that of the envelope'],
    ['alertmanager', 'Level', 'info · behind level= · in 8 of 8 records'],
    ['alertmanager', 'Zone', 'given by every timestamp'],
    ['apache-error-22', 'Level', 'notice · after the time, between [ and ] · in 8 of 8 records'],
    ['apache-ssl-request', 'Level', 'none: no level is in the same place in most lines'],
    ['apache-vhost', 'Level', 'from the status of the request · in 9 of 9 records'],
    ['cisco-ios', 'Level', 'the severity in %FACILITY-SEVERITY-NAME · in 11 of 11 records'],
    ['redis-run', 'Level', 'a mark behind the time: . - * # · in 21 of 21 records'],
    ['arcserve', 'Date', 'month before day: settled by a number over 12'],
    ['log4j2-jsonlayout', 'Time', 'in the key "instant"'],
    ['dotnet-console', 'Level', 'info · near the start of the line · in 8 of 8 records'],
  ])('%s: %s', (name, label, text) => {
    expect(factOf(describeFixture(name), label)).toBe(text);
  });

  it.each([
    [
      'docker-log4j',
      '«t:2026-11-17 18:05:13,000» «l:INFO»  [main] «o:com.example.Cart» - «m:no error found since 10:00:00»',
    ],
    ['klog', '«l:I»«t:1117 18:05:13.162318»   26737 «o:kubelet.go:179»] «m:"Starting kubelet main sync loop"»'],
    ['argo-cd', 'time="«t:2026-11-17T18:05:22Z»" level=«l:info» msg="«m:reloaded 14 rules in 69 ms»" application=shop'],
    ['arcserve', '«l:Information» «t:11/11/2026 23:19:04» «m:cache warmed, 89392 keys, 0 errors»'],
  ])('%s: marks the parts of samples', (name, line) => {
    expect(marked(describeFixture(name))).toBe(line);
  });

  it('marks no word of a message as a level', () => {
    const { samples } = describeFixture('klog');
    const levels = samples.flat().filter(({ kind }) => kind === 'level');
    expect(levels.map(({ text }) => text)).toEqual(['I', 'W', 'E', 'F']);
  });

  it('shows the lines that do not fit', () => {
    expect(describeFixture('docker-log4j').unfit).toEqual([
      'java.lang.IllegalStateException: no price for 17',
      'Caused by: java.sql.SQLException: error 2026-11-01 10:00:00 in row 3',
    ]);
  });

  it('says in a sentence that nothing was recognised', () => {
    const learned = describeText('hello\nthere\n  more\n');
    expect(factOf(learned, 'Format')).toBe('text: no timestamps and no known layout');
    expect(learned.facts.find(({ label }) => label === 'Time')).toEqual({
      label: 'Time',
      text: 'none found: each line that is not indented is a record without a timestamp',
      doubt: true,
    });
    expect(learned.example).toContain('# Adapt lines and times to the sample.\n');
    expect(learned.example).toContain('samples = [\n  { line = "hello" },\n]\n');
  });

  it.each([
    [
      'a guess',
      'month before day: a guess, nothing in the file settles it',
      '03/04/2026 10:00:00 a\n03/05/2026 10:00:00 b\n',
    ],
    ['dots', 'day before month: settled by the dots', '05.11.2026 10:00:00 a\n06.11.2026 10:00:00 b\n'],
    ['the file', 'month before day: settled by when the file was written', '11/05/2026 10:00:00 a\n'],
  ])('names what settled the order of day and month: %s', (name, text, lines) => {
    const writtenMs = name === 'the file' ? Date.parse('2026-11-05T10:00:05Z') : WRITTEN_MS;
    expect(factOf(describeText(lines, { writtenMs }), 'Date')).toBe(text);
  });

  it('cuts long lines', () => {
    const [[time, , message] = []] = describeText(`2026-11-17 18:33:04 ${'x'.repeat(9000)}\n`).samples;
    expect(time?.text).toBe('2026-11-17 18:33:04');
    expect(message?.text).toHaveLength(401);
  });
});

describe('the example of a format', () => {
  it('reads the file as it is read without it', () => {
    const name = 'docker-log4j';
    const { example } = describeFixture(name);
    expect(example).toContain(
      'lines = "{time} {level} [{_}] {logger} - {message?}"\ntimes = "yyyy-MM-dd HH:mm:ss[,S]"\n',
    );
    expect(example).toMatch(/^# Reads the samples as they are read now\./);
  });

  it('is shown as what a file is read as once it is in the settings', () => {
    const lines = '{time} <{level}> {message}';
    const { formats } = parseUserFormats([{ name: 'billing', lines, times: 'dd.MM.yyyy HH:mm:ss' }]);
    const learned = describeText('15.11.2026 10:00:00 <info> ready\n', { formats: new FormatSet(formats) });
    expect(factOf(learned, 'Format')).toBe('billing: defined in log.formats');
    expect(marked(learned)).toBe('«t:15.11.2026 10:00:00» <«l:info»> «m:ready»');
  });

  it('is a valid definition for every file, and reads the samples of most', () => {
    const names = readdirSync(HEADS).flatMap((name) => /^([a-d].*)\.log$/.exec(name)?.[1] ?? []);
    const checked = names.filter((name) => describeFixture(name).example.startsWith('# Reads'));
    expect(checked.length).toBeGreaterThan(names.length * 0.55);
  });
});

it.each([
  ['2026-11-17 18:33:04,123', 'iso', 'yyyy-MM-dd HH:mm:ss[,S]'],
  ['2026-11-17T18:33:04.123+01:00', 'iso', "yyyy-MM-dd'T'HH:mm:ss[.S]X"],
  ['2026:11:17-18:33:04', 'iso', 'yyyy:MM:dd-HH:mm:ss'],
  ['2026-11-17-18.05.14.450392+060', 'iso', 'yyyy-MM-dd-HH.mm.ss[.S]O'],
  ['20261117T183304', 'compact', "yyyyMMdd'T'HHmmss"],
  ['261117  8:33:04', 'short', 'yyMMdd H:mm:ss'],
  ['17.11.26 18:33:04', 'numeric', 'dd.MM.yy HH:mm:ss'],
  ['17/Nov/2026:18:33:04 +0100', 'day-month', 'dd/MMM/yyyy:HH:mm:ss X'],
  ['Tue Nov  7 18:33:04.1234 2026', 'month-day', 'EEE MMM d HH:mm:ss[.S] yyyy'],
  ['Tue Nov 17 18:33:04 CET 2026', 'month-day', 'EEE MMM d HH:mm:ss X yyyy'],
  ['Nov 17 18:33:04', 'month-day-clock', 'MMM d HH:mm:ss'],
  ['1117 18:33:04.118', 'glog', 'MMdd HH:mm:ss[.S]'],
  ['1794940384.118', 'epoch', 'epoch'],
  ['9:05AM', 'clock', 'H:mma'],
  ['@400000006afc9ddc39bee7d4', 'tai64n', ''],
  ['November 7, 2026, 2:12:59 PM', 'month-day', ''],
] as const)('writes %s as a layout', (text, spelling, pattern) => {
  expect(timePattern(text, spelling, 'dmy')).toBe(pattern);
});
