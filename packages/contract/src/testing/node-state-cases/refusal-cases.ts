import { familySource } from '@porthole/logs/query';
import type { SearchQuery } from '@porthole/logs/types';
import { expect } from 'vitest';
import type { ErrorCode } from '../../errors/errors.ts';
import type { NodeState } from '../../node-state.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { catchFailure, type Failure, Following, readBytes, readLatin1, search } from './responses.ts';

type Refusal = Failure | { result: unknown };

/** A request and the error code it fails with; the message is the same for all implementations. */
function refused(
  code: ErrorCode,
  name: string,
  call: (node: NodeState) => unknown,
  given: Partial<NodeStateCase<Refusal>> = {},
) {
  return nodeCase<Refusal>({
    name: `${name}: ${code}`,
    run: (node) => catchFailure(() => call(node)),
    check: (failure) => expect(failure).toMatchObject({ code }),
    ...given,
  });
}

const view = async (node: NodeState, file: string) => readBytes(await node.viewLog({ file, sizeBytes: 10 }));

const open = async (node: NodeState, file: string) => {
  const log = await node.openLog({ file });
  await log.close();
};

const NAMES: readonly NodeStateCase[] = (
  [
    ['LOG_FILE_NOT_FOUND', 'nothing.log'],
    ['LOG_FILE_NOT_FOUND', 'brocker.log'],
    ['LOG_FILE_NOT_FOUND', 'many.log '],
    ['LOG_FILE_NOT_FOUND', 'ü %2e+日本#&=?.log'],
    ['LOG_FILE_NOT_FOUND', 'new\nline\r.log'],
    ['FILE_NAME_MISSING', ''],
    ['FILE_NAME_INVALID', '.'],
    ['FILE_NAME_INVALID', '..'],
    ['FILE_NAME_INVALID', '../service.toml'],
    ['FILE_NAME_INVALID', '/etc/passwd'],
    ['FILE_NAME_INVALID', 'a\\b'],
    ['FILE_NAME_INVALID', 'a\0b'],
    ['FILE_NAME_INVALID', 'n'.repeat(256)],
  ] as const
).flatMap(([code, file]) => {
  const named = `the name ${JSON.stringify(file.slice(0, 40))}`;
  return [
    refused(code, `a view by ${named}`, (node) => view(node, file)),
    refused(code, `an opening by ${named}`, (node) => open(node, file)),
    refused(code, `a search by ${named}`, (node) => search(node, { src: [`=${file}`] })),
    refused(code, `a histogram by ${named}`, (node) => node.logHistogram({ src: [`=${file}`], buckets: 10 })),
    refused(code, `a digest by ${named}`, (node) => node.logDigest({ src: [`=${file}`], limit: 10 })),
    refused(code, `counts by value by ${named}`, (node) => node.logTop({ src: [`=${file}`], by: 'level', limit: 10 })),
    refused(code, `a follow by ${named}`, (node) => Following.begin(node, { src: [`=${file}`], start: 'end' })),
  ];
});

const FAMILIES: readonly NodeStateCase[] = ['', 'nothing.log', 'brokr.log', '..', 'a/b', 'broker.log.1'].flatMap(
  (family) => {
    const named = `a family ${JSON.stringify(family)} that is none`;
    const code = 'LOG_FAMILY_NOT_FOUND';
    return [
      refused(code, `a search of ${named}`, (node) => search(node, { src: [familySource(family)] })),
      refused(code, `a histogram of ${named}`, (node) =>
        node.logHistogram({ src: [familySource(family)], buckets: 10 }),
      ),
      refused(code, `a digest of ${named}`, (node) => node.logDigest({ src: [familySource(family)], limit: 10 })),
      refused(code, `fields of ${named}`, (node) => node.logFields({ src: [familySource(family)], limit: 10 })),
      refused(code, `a follow of ${named}`, (node) =>
        Following.begin(node, { src: [familySource(family)], start: 'end' }),
      ),
    ];
  },
);

const REGEXES: readonly NodeStateCase[] = ['(', 'a**', '[z-a]', '\\', '(?=lookahead)', '(a)\\1', '🙂('].flatMap(
  (regex) => {
    const named = `the regex ${JSON.stringify(regex)}`;
    return [
      refused('REGEX_INVALID', `a search by ${named}`, (node) => search(node, { regex })),
      refused('REGEX_INVALID', `a histogram by ${named}`, (node) => node.logHistogram({ regex, buckets: 10 })),
      refused('REGEX_INVALID', `a digest by ${named}`, (node) => node.logDigest({ regex, limit: 10 })),
      refused('REGEX_INVALID', `a follow by ${named}`, (node) => Following.begin(node, { regex, start: 'end' })),
    ];
  },
);

const QUERY_REGEXES: readonly NodeStateCase[] = (
  [
    { kind: 'regex', pattern: '(' },
    { kind: 'not', node: { kind: 'fieldRegex', field: 'shard', pattern: 'a**' } },
  ] as const
).flatMap((query) => {
  const named = `the query ${JSON.stringify(query)}`;
  const code = 'REGEX_INVALID';
  return [
    refused(code, `a search by ${named}`, (node) => search(node, { query })),
    refused(code, `a histogram by ${named}`, (node) => node.logHistogram({ query, buckets: 10 })),
    refused(code, `fields by ${named}`, (node) => node.logFields({ query, limit: 10 })),
    refused(code, `counts by value by ${named}`, (node) => node.logTop({ query, by: 'level', limit: 10 })),
    refused(code, `a follow by ${named}`, (node) => Following.begin(node, { query, start: 'end' })),
  ];
});

const CURSORS: readonly NodeStateCase[] = ['', 'nonsense', 'ü+%&#', '~', `${'a'.repeat(2000)}`].flatMap((cursor) => {
  const named = `the cursor ${JSON.stringify(cursor.slice(0, 40))}`;
  const places: Partial<SearchQuery>[] = [{ start: { cursor } }, { start: { record: cursor } }, { until: cursor }];
  return [
    ...places.map((place) =>
      refused(
        'CURSOR_INVALID',
        `a search with ${named} as ${JSON.stringify(Object.keys(place.start ?? place))}`,
        (node) => search(node, { src: ['broker.log'], ...place }),
      ),
    ),
    refused('CURSOR_INVALID', `a follow with ${named}`, (node) => Following.begin(node, { start: { cursor } })),
  ];
});

const GONE_FILES: readonly NodeStateCase[] = [
  nodeCase({
    name: 'a cursor whose record was removed fails with CURSOR_GONE, wherever it is used',
    files: { 'a.log': 'one\ntwo\n', 'a.log.1': 'zero\n' },
    run: async (node, dir) => {
      const { records } = await search(node, { src: ['=a.log'], order: 'oldest' });
      const cursor = records[0]?.cursor ?? '';
      dir.write('a.log', 'quite another text\n');
      return {
        start: await catchFailure(() => search(node, { src: ['a.log'], start: { cursor } })),
        record: await catchFailure(() => search(node, { src: ['a.log'], start: { record: cursor } })),
        until: await catchFailure(() => search(node, { src: ['a.log'], until: cursor })),
        follow: await catchFailure(() => Following.begin(node, { src: ['a.log'], start: { cursor } })),
      };
    },
    check: ({ start, until, follow }) => {
      for (const failure of [start, until, follow]) expect(failure).toMatchObject({ code: 'CURSOR_GONE' });
    },
  }),
  refused('CURSOR_GONE', 'a search of one log with the cursor of another', async (node) => {
    const { records } = await search(node, { src: ['=many.log'], limit: 1 });
    return search(node, { src: ['broker.log'], start: { cursor: records[0]?.cursor ?? '' } });
  }),
];

const OTHERS: readonly NodeStateCase[] = [
  refused('LOG_FILE_CORRUPT', 'a view of a damaged file', (node) => view(node, 'damaged.log.1.gz')),
  refused('LOG_FILE_NOT_FOUND', 'an opening of what is gone since it was listed', (node) => view(node, 'a.log'), {
    files: { 'a.log': 'one\n' },
    run: async (node, dir) => {
      await node.listLogs();
      dir.remove('a.log');
      return catchFailure(() => view(node, 'a.log'));
    },
  }),
  nodeCase({
    name: 'a log that is opened and then removed is read no further, or wholly',
    files: { 'a.log': 'one\n' },
    run: async (node, dir) => {
      const log = await node.openLog({ file: 'a.log' });
      dir.remove('a.log');
      const read = await catchFailure(() => readLatin1(log.read(0, 4)));
      await log.close();
      return read;
    },
    check: (read) => expect(['one\n', 'LOG_FILE_NOT_FOUND']).toContain('result' in read ? read.result : read.code),
    differs: {
      http: 'holds no file open at the node between two requests',
      grpc: 'holds no file open at the node between two calls',
    },
  }),
  nodeCase({
    name: 'more concurrent requests than allowed are refused, and accepted again later',
    files: { 'a.log': '2026-06-01 10:00:00.000\tINFO\ta.go:1\tone\n' },
    settings: { search: { maxQueued: 1 } },
    run: async (node, dir) => {
      await dir.holdSearch();
      const refusals = [
        await catchFailure(() => search(node)),
        await catchFailure(() => node.logHistogram({ buckets: 1 })),
        await catchFailure(() => node.logDigest({ limit: 1 })),
        await catchFailure(() => node.logFields({ limit: 1 })),
        await catchFailure(() => node.logTop({ by: 'level', limit: 1 })),
      ];
      await dir.releaseSearch();
      return { refusals, later: await search(node) };
    },
    check: ({ refusals, later }) => {
      for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'TOO_MANY_SEARCHES' });
      expect(later.records.length).toBe(1);
    },
  }),
];

/** Requests that fail, by code and message. */
export const REFUSAL_CASES: readonly NodeStateCase[] = [
  ...NAMES,
  ...FAMILIES,
  ...REGEXES,
  ...QUERY_REGEXES,
  ...CURSORS,
  ...GONE_FILES,
  ...OTHERS,
];
