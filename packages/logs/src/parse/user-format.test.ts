import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES, FormatSet } from './detect-format.ts';
import { BUILT_IN_NAMES, checkUserFormats, parseUserFormats, type UserFormat } from './user-format.ts';
import { createZone } from './zone.ts';

const BILLING = {
  name: 'billing',
  lines: ['{time} <{level}> [{logger}] {message}'],
  times: ['dd.MM.yyyy HH:mm:ss'],
  levels: { OOPS: 'error' },
  samples: ['15.11.2026 10:00:00 <OOPS> [cards] refused'],
};
const PARSED: UserFormat = {
  ...BILLING,
  levels: { OOPS: 'ERROR' },
  samples: [{ line: '15.11.2026 10:00:00 <OOPS> [cards] refused' }],
};
const ZONE = createZone('Europe/Berlin');
const CLOCK = { zone: ZONE, nowMs: Date.parse('2026-11-16T00:00:00Z') };

const problemsOf = (change: object) => parseUserFormats([{ ...BILLING, ...change }]).problems;

describe('definitions', () => {
  it('are tables in a list or by name, or their JSON', () => {
    const expected = { formats: [PARSED], problems: [] };
    const { name, ...rest } = BILLING;
    for (const value of [[BILLING], { [name]: rest }, [JSON.stringify(BILLING)], [JSON.stringify(PARSED)]])
      expect(parseUserFormats(value)).toEqual(expected);
    expect(parseUserFormats([{ ...BILLING, lines: BILLING.lines[0], times: BILLING.times[0] }])).toEqual(expected);
  });

  it.each<[object, string]>([
    [
      { name: 'Billing' },
      'format "Billing": name must be 1 to 40 lower-case letters, digits and dashes, a letter first',
    ],
    [{ name: undefined }, 'format 1: name must be'],
    [{ name: 'json' }, 'format "json": the name is that of a built-in format'],
    [{ name: 'mysql-error' }, 'built-in format'],
    [{ name: 'binary' }, 'built-in format'],
    [{ line: 'x' }, 'format "billing": unknown key "line": expected name, lines, times, levels, samples'],
    [{ lines: [] }, 'lines must be a text or a list of 1 to 8 texts'],
    [{ lines: Array.from({ length: 9 }, () => '{time}') }, 'lines must be'],
    [{ times: [5] }, 'times must be'],
    [{ lines: '{level} {message}' }, 'the layout "{level} {message}" has no {time}'],
    [{ lines: '{time} {a} {a}' }, 'has {a} twice'],
    [{ lines: '{time} {a}{b}' }, 'has two fields with nothing between them'],
    [{ lines: '{a}{time} {b}' }, 'has two fields with nothing between them: {a}{time}'],
    [{ lines: '{time} {message' }, 'has an open brace; {{ stands for one'],
    [{ lines: '{time} {a b}' }, 'has an invalid field {a b}'],
    [{ lines: '{time} {n:integer} x' }, 'has a field {n} of unknown type "integer"'],
    [{ lines: '{time} {a:text}' }, 'has a field {a:text} that is not followed by a space and a text'],
    [{ lines: '{time} {level?} x' }, 'has a {level} that may be empty: add a layout without it'],
    [{ lines: '{time?} x' }, 'has a {time} with a type or ?'],
    [{ lines: '{time} {level} {status:http}' }, 'has more than one level'],
    [{ lines: `{time} ${'a'.repeat(33)}{x}` }, 'has a text of more than 32 bytes'],
    [{ lines: `{time} ${'{_} '.repeat(80)}` }, 'a layout has more than 256 characters'],
    [{ lines: `{time} ${'{_} '.repeat(40)}` }, 'has more than 32 fields'],
    [{ times: 'yyyy-MM-dd' }, 'the time layout "yyyy-MM-dd" has no HH'],
    [{ times: 'yyyy-dd HH:mm' }, 'has only one of day and month'],
    [{ times: 'yyyy HH:mm' }, 'has a year, but no day'],
    [{ times: '[yyyy-]MM-dd HH:mm' }, 'has a year, month, day, hour or minute in brackets: add a layout without it'],
    [{ times: "HH'h:mm" }, 'has an open apostrophe'],
    [{ times: 'QQ HH:mm' }, 'has an unknown field Q'],
    [{ levels: { OOPS: 'bad' } }, 'levels: "OOPS" must be trace, debug, info, warn, error or fatal'],
    [{ levels: { ['O'.repeat(16)]: 'warn' } }, 'must have 1 to 15 bytes'],
    [{ levels: [] }, 'levels must be a table'],
    [{ samples: 'x' }, 'samples must be a list of at most 32 lines'],
    [{ samples: [{ line: 'x', at: 1 }] }, 'sample 1: unknown key "at": expected line, time, level'],
    [{ samples: ['x', { line: 'x', time: 'noon' }] }, 'sample 2: time must be like "2026-11-15T10:00:00Z"'],
    [{ samples: [{ line: 'x', level: 7 }] }, 'sample 1: level must be trace'],
  ])('%j is rejected', (change, reason) => {
    const problems = problemsOf(change);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(reason);
  });

  it('are rejected for their number, a name used twice, and other values', () => {
    expect(parseUserFormats([BILLING, BILLING]).problems).toEqual(['format "billing": the name is used twice']);
    expect(parseUserFormats(Array.from({ length: 33 }, () => BILLING)).problems).toEqual(['33 formats, at most 32']);
    for (const value of [5, 'x', null]) expect(parseUserFormats(value).problems).toHaveLength(1);
    expect(parseUserFormats([5, '{', []]).problems).toHaveLength(3);
  });

  it('cannot take the name of any built-in format', () => {
    expect([...BUILT_IN_NAMES].sort()).toEqual([...FORMAT_NAMES].sort());
  });
});

describe('samples', () => {
  const check = async (change: object) => {
    const { formats, problems } = parseUserFormats([{ ...BILLING, ...change }]);
    expect(problems).toEqual([]);
    return (await checkUserFormats(formats, CLOCK)).get('billing');
  };
  const [line = ''] = BILLING.samples;

  it('are read as expected', async () => {
    const time = new Date('2026-11-15T09:00:00Z');
    for (const expected of ['2026-11-15T10:00:00', '2026-11-15T10:00:00+01:00', time])
      expect(await check({ samples: [{ line, time: expected, level: 'error' }, line] })).toEqual([]);
  });

  it('that are not matched, or read differently, are problems', async () => {
    expect(await check({ samples: [line, '15.11.2026 <OOPS> no time'] })).toEqual([
      'sample 2 is not matched by any of its layouts: "15.11.2026 <OOPS> no time"',
    ]);
    expect(await check({ samples: ['15.11.2026 10:00:00 other'] })).toEqual([
      'sample 1 is not matched by any of its layouts: "15.11.2026 10:00:00 other"',
    ]);
    expect(await check({ samples: [{ line, time: '2026-11-15T10:00:00Z', level: 'warn' }] })).toEqual([
      'sample 1 has the time 2026-11-15T09:00:00.000Z, expected 2026-11-15T10:00:00.000Z',
      'sample 1 has the level ERROR, expected WARN',
    ]);
  });

  it('complete a time without a year or a date from what is expected', async () => {
    const change = { lines: '{time} {message}', times: ['MMM d HH:mm', 'HH:mm'] };
    const samples = [
      { line: 'Mar 3 10:00 x', time: '2021-03-03T10:00:00' },
      { line: '10:00 x', time: '2021-03-03T10:00:00' },
    ];
    expect(await check({ ...change, samples })).toEqual([]);
  });

  it('of a format that another one hides are a problem', async () => {
    const { formats } = parseUserFormats([{ ...BILLING, name: 'first' }, BILLING]);
    expect((await checkUserFormats(formats, CLOCK)).get('billing')).toEqual([
      'a file of its samples is detected as first',
    ]);
  });
});

describe('detection', () => {
  const own = new FormatSet(
    parseUserFormats([{ name: 'own', lines: '{time} {level} {message}', times: 'yyyy-MM-dd HH:mm:ss' }]).formats,
  );
  const options = { zone: ZONE, writtenMs: CLOCK.nowMs };
  const detect = (text: string) => own.detect(Buffer.from(text), options).name;

  it('tries them before the built-in formats', () => {
    expect(detect('2026-11-15 10:00:00 INFO hello\n'.repeat(3))).toBe('own');
    expect(detect(`no head\n${'2026-11-15 10:00:00 INFO hello\n  continued\n'.repeat(100)}`)).toBe('own');
  });

  it('finds lines whatever they start with', () => {
    for (const [lines, times, line] of [
      [' {time} {message}', 'HH:mm', ' 10:00 x'],
      ['{a?} {time} {message}', 'HH:mm', ' 10:00 x'],
      ['{level};{time};{message}', 'HH:mm', '  I;10:00;x'],
      ['{time} {message}', "'at 'HH:mm", 'at 10:00 x'],
      ['{time} {message}', '[EEE ]HH:mm', 'Sun 10:00 x'],
      ['{time} {message}', '#HH:mm', '#10:00 x'],
    ]) {
      const { formats } = parseUserFormats([{ name: 'own', lines, times }]);
      expect(new FormatSet(formats).detect(Buffer.from(`${line}\n`), options).name, lines).toBe('own');
    }
  });

  it('leaves files to a built-in format that finds far more times', () => {
    const json = '{"time":"2026-11-15T10:00:00Z","level":"info","msg":"x"}\n'.repeat(20);
    expect(detect(`2026-11-15 10:00:00 INFO hello\n${json}`)).toBe('json-mixed');
    expect(detect('only text\n')).toBe('text');
  });

  it('and matching take time linear in the line', () => {
    const slow = { name: 'slow', lines: `{time} ${`{_:text} ${'a'.repeat(30)}b `.repeat(6)}`, times: 'HH:mm' };
    const { formats, problems } = parseUserFormats([slow]);
    expect(problems).toEqual([]);
    const line = Buffer.from(`10:00 ${' a'.repeat(100_000)}${'a'.repeat(100_000)}`);
    const format = new FormatSet(formats).create('slow', options);
    expect(format.decode(line, 0, line.length).timeMs).toBeDefined();
  });
});
