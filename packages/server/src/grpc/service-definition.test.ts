import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRoute, parseFollowRequest, parseSearchRequest } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import type { RecordFilterMessage } from './generated/messages.ts';
import { METHOD_ROUTES, toQuery } from './service-definition.ts';

const CLOCK = { nowMs: 0, offsetMsAt: () => 0 };

const FILTER: RecordFilterMessage = {
  src: [],
  minLevel: 'LEVEL_UNSPECIFIED',
  terms: [],
  excluded: [],
  caseSensitive: false,
  regex: '',
  source: '',
  component: '',
  query: '',
};

describe('the fields of a message as parameters', () => {
  it('are those of the scope, too', () => {
    const selection = {
      nodes: ['broker-*', 'storage-1'],
      role: 'broker',
      labels: ['zone=a'],
      store: 'archive',
      src: ['a.log'],
    };
    const search = { filter: FILTER, order: '', cursor: 'c', record: '', until: '', raw: false, fields: [] };
    expect(parseSearchRequest(toQuery({ ...search, selection }), CLOCK, { maxRecords: 1000 })).toMatchObject({
      ...selection,
      start: { cursor: 'c' },
    });
    const all = { nodes: ['*'], role: '', labels: [], store: '' };
    expect(
      Object.keys(parseSearchRequest(toQuery({ ...search, selection: all }), CLOCK, { maxRecords: 1 })),
    ).not.toContain('store');
    const offset = { ...search, cursor: '', offset: 5, selection: all };
    expect(() => parseSearchRequest(toQuery(offset), CLOCK, { maxRecords: 1000 })).toThrow('"offset"');
    expect(() =>
      parseSearchRequest(toQuery({ ...search, selection: { ...all, store: 'old' } }), CLOCK, { maxRecords: 1 }),
    ).toThrow('"store"');
  });

  it.each([-1, -86_400_000, 8.64e15])('may be a time before 1970: %d', (fromMs) => {
    expect(parseFollowRequest(toQuery({ filter: { ...FILTER, fromMs } }), CLOCK)).toMatchObject({ fromMs });
  });

  it.each([
    ['a level there is none of', { minLevel: 9 as unknown as 'LEVEL_INFO' }, 'invalid "level" "9"'],
    [
      'a time that is none',
      { fromMs: -(2 ** 62) },
      'invalid "from" "@-4611686018427388.000": it is beyond the range of dates',
    ],
  ])('are refused like parameters: %s', (_name, given, words) => {
    expect(() => parseFollowRequest(toQuery({ filter: { ...FILTER, ...given } }), CLOCK)).toThrow(words);
  });
});

const PROTO = readFileSync(join(import.meta.dirname, '../../../../proto/porthole/v1/node_state.proto'), 'utf8');

/** Names of the fields of a message, those of its filter and scope instead of these. */
function messageFields(message: string): string[] {
  const body = new RegExp(`^message ${message} \\{\\n?([^}]*)\\}`, 'm').exec(PROTO)?.[1] ?? '';
  const names = [...body.matchAll(/^ {2}[\w ]+ (\w+) = \d+;$/gm)].map(([, name = '']) => name);
  const parts: Readonly<Record<string, string>> = {
    filter: 'RecordFilter',
    selection: 'NodeSelection',
    events: 'EventScope',
  };
  return names.flatMap((name) => (parts[name] === undefined ? [name] : messageFields(parts[name])));
}

/** Fields without a parameter of the route: HTTP has byte ranges and entity tags in headers, and events in routes of their own. */
const NO_PARAMETER = ['start', 'end', 'etag', 'kinds'];

/** Where the field `store` means nothing, as in all operations that read no records of before. */
const UNUSED: readonly string[] = ['GetSettings', 'GetConfigHistory', 'GetIncident', 'DescribeLogs', 'FollowLogs'];

describe('the parameter table and the .proto', () => {
  it.each(Object.entries(METHOD_ROUTES))('agree on the request of %s', (method, id) => {
    const inTable = new Set(getRoute(id).parameters.flatMap(({ proto }) => (typeof proto === 'string' ? [proto] : [])));
    const inProto = messageFields(`${method}Request`).filter(
      (name) => !NO_PARAMETER.includes(name) && !(name === 'store' && UNUSED.includes(method)),
    );
    expect(inProto.toSorted()).toEqual([...inTable].toSorted());
  });
});
