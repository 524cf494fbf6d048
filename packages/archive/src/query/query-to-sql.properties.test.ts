import { randomQuery } from '@porthole/contract/testing';
import { createRecordFilter } from '@porthole/logs';
import type { QueryNode } from '@porthole/logs/query';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';
import { filterToSql } from './query-to-sql.ts';
import { decodeRow, RECORD_COLUMNS, type RecordRow } from './row-columns.ts';
import { ArchiveFixture } from './testing/archive-fixture.ts';

const seed = process.env.SEED === 'random' ? {} : { seed: 19 };

const ROWS = 600;

/** Statements cost more than conditions. */
const QUERIES = 30;

const TEXTS = [
  ...[
    '',
    'a',
    'A=b',
    'shard=13',
    'shard=013.0 took="1h 2m"',
    'AND OR',
    '-5',
    'main()',
    'x"*',
    "it's",
    '\\',
    '\\\\"',
    '`',
  ],
  ...[
    'user.id=c',
    'is the text',
    'ä ö',
    'K k \u212A',
    '\u0130i',
    'a, b',
    '10.0.0.1:90',
    '/a/b',
    'c',
    '\ttab',
    'line\nline',
    'k k k',
    'ä \u212A',
    '\0',
  ],
];
const NEEDLES = ['K k \u212A', 'ä k', 'Ä \u212A', '\u0130i', 'AND', 'ine\nline', '{"shard":'];
const SOURCES = ['', 'a', 'x/a', 'a:13', 'x/y/a:7', 'AND', 'c'];
const CONTEXTS = [
  '',
  '{"shard":13}',
  '{"shard":"013.0","user":{"id":["a","c"]}}',
  '{"\\u0073hard":13,"user.id":"A"}',
  '{"the":null,"is":true,"@t":"10KB","_":[1,[2]],"$x":"\\u0061"}',
  // Flat ones, which SQL reads itself, and some that only look so.
  '{"shard":"013.0","is":"A"}',
  '{"shard":13.0,"user.id":"a"}',
  '{"shard":15,"is":true}',
  '{"shard":"13ms","is":null,"user.id":"c"}',
  '{"shard": 13,"is":"x"}',
  '{"shard":13,"shard":14}',
  '{"is":"the text","shard":-0,"user.id":""}',
  '{"level":"warn","message":"a*b","context.level":"x","not":"\\"\\\\"}',
];
const LEVELS = ['', 'INFO', 'WARN', 'FATAL', 'NOPE', 'info'];

/** Conditions on what the rows have, or nearly. */
const NEAR: readonly QueryNode[] = [
  ...NEEDLES.map((text): QueryNode => ({ kind: 'text', text })),
  ...['shard', 'is', 'user.id'].flatMap((field) =>
    (['=', '!=', ':', '<', '>='] as const).flatMap((operator) =>
      ['13', '013', '0', 'a', 'C', 'the text', 'true', '13ms'].map((value): QueryNode => {
        return { kind: 'field', field, operator, value };
      }),
    ),
  ),
];

let server: TestClickHouse;
let archive: ArchiveFixture;

beforeAll(async () => {
  server = await startClickHouse();
  archive = await ArchiveFixture.create(server.connect({ database: server.newDatabase() }));
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const at = <T>(list: readonly T[], step: number) => list[Math.floor(index / step) % list.length] as T;
    const message = at(TEXTS, 1);
    const context = at(CONTEXTS, 3);
    const line = `2026-01-01 ${at(LEVELS, 5)}\t${message}\t${context}`;
    const place = { cluster: 'c', node: 'n', log: 'a.log', file: 'a.log', mark: '0123456789abcdef.s', file_id: 'f' };
    return {
      ...place,
      ...{ file_offset: index, level: at(LEVELS, 5), source: at(SOURCES, 7), line, message_text: message, context },
      tags: at([[], ['a'], ['A', 'the text'], ['ä']], 2),
      day: '2026-01-01',
    };
  });
  await archive.insert(rows.map((row) => (row.message_text === '' ? { ...row, message_at: row.line.length } : row)));
});

afterAll(() => server.stop());

it('what SQL decides is what the engine decides, and what it rules out never matches', async () => {
  await fc.assert(fc.asyncProperty(fc.array(randomQuery, { minLength: QUERIES, maxLength: QUERIES }), compareBounds), {
    numRuns: runs(2),
    endOnFailure: true,
    ...seed,
  });
});

it('also where a value is nearly the one that is asked for', async () => {
  for (let at = 0; at < NEAR.length; at += QUERIES) await compareBounds(NEAR.slice(at, at + QUERIES));
});

async function compareBounds(candidates: readonly QueryNode[]): Promise<void> {
  const queries: { query: QueryNode; matches: Awaited<ReturnType<typeof createRecordFilter>> }[] = [];
  for (const query of candidates) {
    const matches = await createRecordFilter({ query }, []).catch(() => undefined); // an invalid regex
    if (matches) queries.push({ query, matches });
  }
  const columns = queries.flatMap(({ query }, index) => {
    const { may, must } = filterToSql({ query });
    return [`toUInt8(${may}) AS may${index}`, `toUInt8(${must}) AS must${index}`];
  });
  const rows = await archive.clickhouse.query<RecordRow & Record<string, number>>(
    `SELECT ${RECORD_COLUMNS}, ${columns.join(', ')} FROM records`,
  );
  expect(rows.length).toBe(ROWS);
  for (const row of rows) {
    const { record } = decodeRow(row);
    for (const [index, { query, matches }] of queries.entries()) {
      const bounds = [row[`must${index}`], Number(matches(record)), row[`may${index}`]];
      if (bounds.join() !== bounds.toSorted().join()) expect({ query, record, bounds }).toBe('in order');
    }
  }
}
