import type { QueryNode } from '@porthole/logs/query';
import { describe, expect, test } from 'vitest';
import { queryMatcher } from './query-matcher.ts';

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
