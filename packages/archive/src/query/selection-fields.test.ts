import { parseSearchRequest } from '@porthole/contract';
import { SELECTION_CASES, selectionNames } from '@porthole/contract/testing';
import { expect, it } from 'vitest';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { prepareQuery } from './prepare-query.ts';

/* The statement of a request; one that is the same without a condition would return what was not asked for. */

const CLOCK = { nowMs: Date.UTC(2026, 10, 16), offsetMsAt: () => 0 };

/** Knows no node. */
const READER = { database: 'logs', shownUrl: 'http://archive', async *stream() {} } as unknown as ClickHouse;

async function statement(query: string): Promise<unknown> {
  const { start: _start, ...request } = parseSearchRequest(new URLSearchParams(query), CLOCK, { maxRecords: 1000 });
  const deps = {
    reader: READER,
    records: 'records',
    progress: 'progress',
    cluster: 'test',
    isHidden: undefined,
    matchRegex: undefined,
    nowMs: () => CLOCK.nowMs,
  };
  const { where, filter, range } = await prepareQuery(deps, request);
  return { where, hasFilter: filter !== undefined, range };
}

/** Applied to the rows that a statement returns, or by whoever decides where records are read. */
const NOT_IN_SQL: ReadonlySet<string> = new Set([
  'store',
  'floor',
  'order',
  'limit',
  'before',
  'after',
  'cursor',
  'record',
  'time',
  'offset',
  'until',
  'raw',
  'fields',
]);

it.each(selectionNames('logSearch').filter((name) => !NOT_IN_SQL.has(name)))(
  '"%s" is in the statement',
  async (name) => {
    const known = SELECTION_CASES[name];
    if (!known) throw new Error(`"${name}" has no case in selection-cases.ts`);
    const { beside = '', given } = known;
    expect(await statement(`${beside}&${given}`)).not.toEqual(await statement(beside));
  },
);

it.each([
  ['src=a.log&src=b.log', "log IN ('a.log', 'b.log')"],
  ['src=a*', "log LIKE 'a%'"],
  ['src=a_?.log', "log LIKE 'a\\\\__.log'"],
  ['src=n1/a.log&src=n2/b.log', "((node IN ('n1') AND log IN ('a.log')) OR (node IN ('n2') AND log IN ('b.log')))"],
  [
    'nodes=n1&src=a.log&src=n2/b.log',
    "((node IN ('n1') AND log IN ('a.log')) OR (node IN ('n2') AND log IN ('b.log')))",
  ],
  ['nodes=n1&src=n2/b.log', "(node IN ('n1') OR (node IN ('n2') AND log IN ('b.log')))"],
])('%s selects logs of nodes', async (query, condition) => {
  expect(await statement(query)).toMatchObject({ where: expect.stringContaining(condition) });
});
