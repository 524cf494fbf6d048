import { formatQuery } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { fieldsOf, parseDuration, parseLogql, parseSelector } from './logql.ts';

/** The query of the engine that a log query becomes. */
function toQuery(text: string): string {
  const parsed = parseLogql(text);
  if (parsed.kind !== 'logs') throw new Error('not a log query');
  return parsed.logs.query ? formatQuery(parsed.logs.query) : '';
}

function problemOf(text: string): string {
  try {
    parseLogql(text);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('a log query becomes a query of the engine', () => {
  it.each([
    ['{log="a.log"}', ''],
    ['{log="a.log"} |= "Disk full"', '"Disk full"c'],
    ['{log="a.log"} |= ``', ''],
    ['{log="a.log"} |= "a" or `b`', '"a"c OR "b"c'],
    ['{log="a.log"} != "a" |~ "x.y" !~ `z\\d`', '-"a"c /x.y/c -/z\\d/c'],
    ['{log="a.log"} |~ "^a"', '/(?-m:^a)/c'],
    ['{log="a.log", level="error"}', 'level=error'],
    ['{level=~"error|fatal"} |= "x"', '(level=error OR level=fatal) "x"c'],
    ['{level=~".*"}', ''],
    [
      '{level!="info"} | drop __error__',
      'level=trace OR level=debug OR level=warn OR level=error OR level=fatal OR -level:*',
    ],
    ['{log="a.log"} | json | status>=500', 'status>=500'],
    ['{log="a.log"} | logfmt | cost > 1.5s and size<10MiB', 'cost>1.5s size<10MiB'],
    ['{log="a.log"} | json | user="Bob"', 'user:/\\A(?:Bob)\\z/c'],
    ['{log="a.log"} | json | user!="Bob"', '-user:/\\A(?:Bob)\\z/c'],
    ['{log="a.log"} | json | user=""', 'user:/\\A(?:)\\z/c OR -user:*'],
    ['{log="a.log"} | json | user=~"b.*" or n==5', 'user:/\\A(?:b.*)\\z/c OR n=5'],
    ['{log="a.log"} | json | user_id > 3', 'user_id>3 OR user.id>3'],
    ['{log="a.log"} | json | detected_level="warn" | __error__=``', 'level=warn'],
    ['({log="a.log"} |= "x")', '"x"c'],
  ])('%s', (text, query) => {
    expect(toQuery(text)).toBe(query);
  });
});

it('a metric query has its range, its labels and how many series it wants', () => {
  expect(parseLogql('topk(3, sum by (node, level) (rate({log="a.log"} |= "x" [1h30m])))')).toMatchObject({
    kind: 'metric',
    rangeMs: 5_400_000,
    isRate: true,
    by: ['node', 'level'],
    top: 3,
  });
  expect(parseLogql('sum(count_over_time({log="a.log"}[5m])) by (level)')).toMatchObject({
    isRate: false,
    by: ['level'],
  });
  expect(parseLogql('count_over_time({log="a.log"}[5m])')).toMatchObject({ by: undefined, top: undefined });
  expect(parseLogql('vector(1)+vector(1)')).toEqual({ kind: 'constant', value: 2 });
});

it('a selector tests labels, of which an absent one has the empty value', () => {
  const { matchers } = parseSelector('{log=~"a|b.+", node!="x", zone!~"eu.*"}');
  const [log, node, zone] = matchers;
  expect(['a', 'ba', 'b', 'xa'].map((value) => log?.test(value))).toEqual([true, true, false, false]);
  expect(['x', ''].map((value) => node?.test(value))).toEqual([false, true]);
  expect(['eu-1', 'us'].map((value) => zone?.test(value))).toEqual([false, true]);
  expect(parseSelector('{}').matchers).toEqual([]);
});

describe('what is not supported is refused by its name', () => {
  it.each([
    ['{log="a"} | line_format "x"', 'line_format'],
    ['{log="a"} | label_format a=b', 'label_format'],
    ['{log="a"} | json a="b.c"', 'json a="b.c"'],
    ['{log="a"} | logfmt --strict', 'logfmt --strict'],
    ['{log="a"} | regexp "x"', 'regexp'],
    ['{log="a"} | pattern "<a>"', 'pattern'],
    ['{log="a"} | unpack', 'unpack'],
    ['{log="a"} | decolorize', 'decolorize'],
    ['{log="a"} | keep x', 'keep'],
    ['{log="a"} | drop x', 'drop'],
    ['{log="a"} |= ip("10.0.0.0/8")', 'ip()'],
    ['{log="a"} |> "<_> x"', '|>'],
    ['{log="a"} | json | node="x"', '"node" behind a pipe'],
    ['sum(bytes_over_time({log="a"}[5m]))', 'bytes_over_time'],
    ['avg(rate({log="a"}[5m]))', 'avg'],
    ['sum without (x) (rate({log="a"}[5m]))', 'without'],
    ['sum(sum by (a) (rate({log="a"}[5m])))', 'an aggregation of an aggregation'],
    ['rate({log="a"}[5m] offset 1h)', 'offset 1h'],
    ['sum_over_time({log="a"} | unwrap x [5m])', 'sum_over_time'],
    ['rate({log="a"} | unwrap x [5m])', '| unwrap x'],
    ['rate({log="a"}[5m]) > 5', 'rate({log="a"}[5m]) > 5'],
    ['label_replace(rate({log="a"}[5m]), "a", "b", "c", "d")', 'label_replace'],
    ['vector(1) - vector(1)', 'vector(1) - vector(1)'],
  ])('%s', (text, name) => {
    expect(problemOf(text)).toContain('not supported here: ');
    expect(problemOf(text)).toContain(name);
  });
});

describe('what is wrong or too much is refused', () => {
  it.each([
    ['', 'syntax error'],
    ['{log="a"', 'syntax error at character 9'],
    ['{log="a"} | user="x"', 'put "| json" or "| logfmt" before it'],
    ["{log='a'}", 'syntax error at character 6'],
    ['{log="\\q"}', 'is not a string'],
    [`{log="${'a'.repeat(5000)}"}`, 'at most 4096'],
    [`${'('.repeat(100)}{log="a"}${')'.repeat(100)}`, 'nested more than 20 levels'],
    [`${'sum('.repeat(100)}rate({log="a"}[5m])${')'.repeat(100)}`, 'nested more than 20 levels'],
    [`{log="a"}${' |~ "x"'.repeat(9)}`, 'more than 8 regular expressions'],
    [`{log="a"}${' |= "x"'.repeat(65)}`, 'more than 64 terms'],
    [`{${Array.from({ length: 21 }, () => 'log="a"').join(',')}}`, 'more than 20 conditions'],
    ['{log=~"(a{30}){30}"}', 'too complex'],
    ['{log=~"("}', 'invalid regular expression'],
    ['rate({log="a"}[0s])', 'longer than 0'],
    ['topk(0, rate({log="a"}[5m]))', 'positive whole number'],
  ])('%s', (text, detail) => {
    expect(problemOf(text)).toContain(detail);
  });

  it('also where one that tries every way to read it would never end', () => {
    const deep = [
      `${'1+'.repeat(2000)}1`,
      `{a="b"}${' |= ``'.repeat(600)} |`,
      `${'sum('.repeat(190)}1`,
      `{a="b"} | json ${'| x=1 '.repeat(600)}`,
    ];
    for (const text of deep) expect(problemOf(text)).toMatch(/^invalid|not supported/);
    for (const text of ['(', '{', '|', '{a="b"}|', 'sum(', '"', '{a="b"} | json | x=1 and ', '\u0000'])
      expect(problemOf(text.repeat(Math.floor(4096 / text.length)))).not.toBe('');
  });
});

it('a label is the field of its name, or one with dots', () => {
  expect(fieldsOf('status')).toEqual(['status']);
  expect(fieldsOf('http_status_code')).toEqual([
    'http_status_code',
    'http.status_code',
    'http_status.code',
    'http.status.code',
  ]);
  expect(fieldsOf('a_b_c_d')).toEqual(['a_b_c_d', 'a.b.c.d']);
});

it('durations are those of Prometheus', () => {
  expect(parseDuration('1h30m')).toBe(5_400_000);
  expect(parseDuration('250ms')).toBe(250);
  expect(() => parseDuration('5 minutes')).toThrow('is not a duration');
});
