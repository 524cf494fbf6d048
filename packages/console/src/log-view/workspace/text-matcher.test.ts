import type { QueryNode } from '@porthole/logs/query';
import { describe, expect, it, test } from 'vitest';
import { createMatcher, queryMatcher } from './text-matcher.ts';

const findMatches = async (
  text: string,
  whole: string,
  more: { isRegex?: boolean; isCaseSensitive?: boolean } = {},
) => {
  const matcher = await createMatcher({ text, isRegex: false, isCaseSensitive: false, ...more });
  return matcher(whole).map(({ start, end }) => whole.slice(start, end));
};

describe('matches in a text', () => {
  it('ignore case unless requested', async () => {
    expect(await findMatches('time', 'Time and TIMEOUT')).toEqual(['Time', 'TIME']);
    expect(await findMatches('TIME', 'Time and TIMEOUT', { isCaseSensitive: true })).toEqual(['TIME']);
  });

  it('have correct offsets after letters that are longer in lower case', async () => {
    expect(await findMatches('ÜBER', 'İİ über')).toEqual(['über']);
  });

  it('treat regex characters in a plain text literally', async () => {
    expect(await findMatches('a.*(b', 'aab a.*(b')).toEqual(['a.*(b']);
  });

  it('do not overlap', async () => {
    expect(await findMatches('aa', 'aaaaa')).toEqual(['aa', 'aa']);
  });

  it('of an empty text are empty', async () => {
    expect(await findMatches('', 'abc')).toEqual([]);
  });

  it('of a regex follow the rules of the API', async () => {
    expect(await findMatches('^b\\d+', 'a1\nB22 b3', { isRegex: true })).toEqual(['B22']);
    expect(await findMatches('^b\\d+', 'a1\nB22\nb3', { isRegex: true, isCaseSensitive: true })).toEqual(['b3']);
    expect(await findMatches('x*', 'xx', { isRegex: true })).toContain('xx');
  });

  it('of a regex prone to backtracking come at once', async () => {
    expect(await findMatches('(a+)+$', `${'a'.repeat(5000)}!`, { isRegex: true })).toEqual([]);
  });

  it('of an invalid regex fail with the code of the API', async () => {
    await expect(findMatches('(?=a)', 'a', { isRegex: true })).rejects.toMatchObject({
      code: 'REGEX_INVALID',
      message: expect.not.stringContaining('(?m)'),
    });
  });
});

const text = (value: string): QueryNode => ({ kind: 'text', text: value });
const field = (name: string, value: string, operator: '=' | ':' | '>' = '='): QueryNode => ({
  kind: 'field',
  field: name,
  operator,
  value,
});

async function marked(node: QueryNode, line: string, isCaseSensitive = false): Promise<string> {
  const matcher = await queryMatcher(node, { isCaseSensitive });
  let [shown, done] = ['', 0];
  for (const { start, end } of matcher(line)) {
    shown += `${line.slice(done, start)}<${line.slice(start, end)}>`;
    done = end;
  }
  return shown + line.slice(done);
}

describe('a query highlights', () => {
  const line = 'flush 13 of shard=130 {"shard":13,"db":"Metrics 13","at":{"shard":"13"}}';
  test.each<[string, QueryNode, string]>([
    ['a text', text('FLUSH'), line.replace('flush', '<flush>')],
    ['a regex', { kind: 'regex', pattern: 'sh.rd=' }, line.replace('shard=', '<shard=>')],
    [
      'a value beside its name',
      field('shard', '13'),
      'flush 13 of shard=130 {"shard":<13>,"db":"Metrics 13","at":{"shard":"<13>"}}',
    ],
    ['a word of a value', field('db', 'metrics', ':'), line.replace('Metrics', '<Metrics>')],
    ['a word of the message', field('message', 'of', ':'), line.replace('of', '<of>')],
    ['no column', field('level', 'flush'), line],
    ['no comparison', field('shard', '13', '>'), line],
    ['nothing that is excluded', { kind: 'not', node: text('flush') }, line],
    [
      'all parts, overlapping ones once',
      { kind: 'or', nodes: [text('flush'), { kind: 'and', nodes: [text('ush 13'), field('context.db', 'x')] }] },
      line.replace('flush 13', '<flush 13>'),
    ],
  ])('%s', async (_name, node, expected) => {
    expect(await marked(node, line)).toBe(expected);
  });

  test('case as the view or the query says', async () => {
    expect(await marked(text('FLUSH'), line, true)).toBe(line);
    expect(await marked({ kind: 'text', text: 'FLUSH', caseSensitive: true }, line)).toBe(line);
  });

  test('an invalid regex is refused', async () => {
    await expect(queryMatcher({ kind: 'regex', pattern: 'a(' }, { isCaseSensitive: false })).rejects.toMatchObject({
      code: 'REGEX_INVALID',
    });
  });
});
