import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  fieldNamesProblem,
  formatFieldNames,
  MAX_FIELD_NAMES,
  moveName,
  parseFieldNames,
  toggleName,
} from './field-names.ts';
import { canFollow } from './time-range.ts';
import { ALL_CONFIG, ALL_LOGS, ALL_NODES, INCIDENTS, OVERVIEW, type View } from './view.ts';
import { addressProblems, linkTo, nodeUrl, parseView, viewUrl, withoutBase } from './view-url.ts';

const ORIGIN = 'http://node.example:9000';

const parse = (text: string) => parseView(new URL(text, ORIGIN));

describe('a view and its URL', () => {
  const cases: [string, View][] = [
    ['/', OVERVIEW],
    ['/?label=zone=eu-*&by=rack', { ...OVERVIEW, labels: ['zone=eu-*'], by: 'rack' }],
    ['/?last=6h', { ...OVERVIEW, range: { kind: 'last', spanMs: 21_600_000 } }],
    [
      '/incidents?label=zone=a&last=15m',
      { ...INCIDENTS, range: { kind: 'last', spanMs: 900_000 }, labels: ['zone=a'] },
    ],
    ['/nodes', ALL_NODES],
    ['/nodes?by=zone', { ...ALL_NODES, by: 'zone' }],
    ['/nodes?q=storage&last=6h', { ...ALL_NODES, text: 'storage', range: { kind: 'last', spanMs: 21_600_000 } }],
    ['/nodes/broker-1', { page: 'node', id: 'broker-1', tab: 'overview', text: '', range: null, shape: null }],
    [
      '/nodes/10.0.0.1:9000/logs',
      { page: 'node', id: '10.0.0.1:9000', tab: 'logs', text: '', range: null, shape: null },
    ],
    [
      '/nodes/a/config?q=query.timeout',
      { page: 'node', id: 'a', tab: 'config', text: 'query.timeout', range: null, shape: null },
    ],
    ['/nodes/a/config?as=source', { page: 'node', id: 'a', tab: 'config', text: '', range: null, shape: 'source' }],
    ['/nodes/a/config?as=start', { page: 'node', id: 'a', tab: 'config', text: '', range: null, shape: 'start' }],
    ['/nodes/~..', { page: 'node', id: '..', tab: 'overview', text: '', range: null, shape: null }],
    ['/config', ALL_CONFIG],
    [
      '/config?node=a&t=2026-11-18T03:10:11.000Z&split=1',
      { ...ALL_CONFIG, node: 'a', atMs: 1794971411000, isSplit: true },
    ],
    ['/config?tab=text&node=a', { ...ALL_CONFIG, tab: 'text', node: 'a' }],
    ['/config?tab=compare', { ...ALL_CONFIG, tab: 'compare' }],
    ['/config?left=a&right=b', { ...ALL_CONFIG, tab: 'compare', left: 'a', right: 'b' }],
    [
      '/config?label=zone=a&by=rack&in=rack=7',
      { ...ALL_CONFIG, tab: 'compare', labels: ['zone=a'], by: 'rack', group: 'rack=7' },
    ],
    ['/logs', ALL_LOGS],
    ['/logs?src=a&label=zone=a', { ...ALL_LOGS, sources: [{ node: 'a', log: null }], labels: ['zone=a'] }],
    ['/logs?last=15m&level=error', { ...ALL_LOGS, range: { kind: 'last', spanMs: 900_000 }, minLevel: 'ERROR' }],
    [
      '/logs?src=a&src=b/lind.log&src=c/=lind.log.1.gz',
      {
        ...ALL_LOGS,
        sources: [
          { node: 'a', log: null },
          { node: 'b', log: { kind: 'family', name: 'lind.log' } },
          { node: 'c', log: { kind: 'file', name: 'lind.log.1.gz' } },
        ],
      },
    ],
    [
      '/logs?from=2026-11-15T10:00:00.000Z',
      { ...ALL_LOGS, range: { kind: 'fixed', fromMs: Date.UTC(2026, 10, 15, 10), toMs: null }, isLive: false },
    ],
    [
      '/logs?site=kv/job.go:175&at=a/cursor',
      { ...ALL_LOGS, callSite: 'kv/job.go:175', at: { node: 'a', cursor: 'cursor' }, isLive: false },
    ],
    ['/logs?query=shard=13+cost%3E500ms', { ...ALL_LOGS, query: 'shard=13 cost>500ms' }],
    ['/logs?by=shard&fields=0', { ...ALL_LOGS, hasFields: false, countedBy: ['shard'] }],
    ['/logs?split=shard', { ...ALL_LOGS, splitBy: 'shard' }],
    ['/logs?columns=shard,http.status', { ...ALL_LOGS, columns: ['shard', 'http.status'] }],
    ['/nowhere', { page: 'unknown', path: '/nowhere' }],
  ];

  test.each(cases)('%s is parsed and formatted', (url, view) => {
    expect(parse(url)).toEqual(view);
    expect(viewUrl(view)).toBe(url);
  });

  test('every view survives a round trip', () => {
    fc.assert(
      fc.property(views(), (view) => {
        expect(parse(viewUrl(view))).toEqual(view);
      }),
      { numRuns: runs(250) },
    );
  });

  test('any URL is parsed, and the result can be formatted', () => {
    const paths = fc.constantFrom('/', '/logs', '/config', '/nodes/', '/nodes/%E0%A4', '/nodes/a/b/c', '//', '/logs/');
    const names = fc.constantFrom(
      'src',
      'last',
      'from',
      'to',
      't',
      'at',
      'level',
      'live',
      're',
      'chart',
      'query',
      'q',
      'not',
      'site',
      'columns',
    );
    const values = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('/', '=', '//', '-1', '1e999', '99999999999999999999d', 'NaN', '%', '__proto__'),
    );
    fc.assert(
      fc.property(paths, fc.array(fc.tuple(names, values)), (path, query) => {
        const view = parseView(new URL(`${ORIGIN}${path}?${new URLSearchParams(query)}`));
        expect(parse(viewUrl(view))).toEqual(view);
      }),
      { numRuns: runs(250) },
    );
  });

  test.each([
    ['/logs?level=BANANA', ['level=BANANA is ignored: expected trace, debug, info, warn, error or fatal']],
    ['/logs?lvl=error', ['lvl is not a parameter of this page']],
    ['/logs?last=15m&from=2026-11-15T10:00:00Z', ['from and to are ignored because last is set']],
    ['/logs?from=2026-11-15T11:00:00Z&to=2026-11-15T10:00:00Z', ['the time range is empty: from is not before to']],
    ['/logs?to=2026-11-15T10:00:00Z&live=1', ['live=1 is ignored: the time range has an end']],
    ['/logs?src=a/x.log&src=b/y.log&label=zone=a', ['label is ignored: src names different logs of several nodes']],
    ['/logs?re=yes', ['re=yes is ignored: expected 0 or 1']],
    [
      '/logs?columns=a,a',
      ['columns=a,a is ignored: expected at most 12 different names of fields, separated by commas'],
    ],
    [
      '/config?expected=yes&as=list',
      ['expected=yes is ignored: expected 1', 'as=list is ignored: expected start or source'],
    ],
    ['/nodes/a?as=table', ['as is not a parameter of this page']],
    ['/?q=x', ['q is not a parameter of this page']],
    ['/?by=a+b', ['by=a b is ignored: expected the name of a label like zone']],
    [`/logs?t=${'9'.repeat(80)}`, [`t=${'9'.repeat(60)}… is ignored: 80 digits are too many for an epoch time`]],
    ['/logs?t=soon', [expect.stringMatching(/^t=soon is ignored: expected RFC 3339, .* or now$/)]],
    [`/logs?tag=${'x'.repeat(2000)}`, [`tag=${'x'.repeat(60)}… is ignored: expected at most 1024 bytes`]],
  ])('%s: ignored parts are named', (url, problems) => {
    expect(addressProblems(new URL(url, ORIGIN))).toEqual(problems);
  });

  test('a URL of the console has no ignored parts', () => {
    fc.assert(
      fc.property(views(), (view) => {
        const problems = addressProblems(new URL(viewUrl(view), ORIGIN));
        expect(problems.filter((problem) => !/^(the time range is empty|label is ignored)/.test(problem))).toEqual([]);
      }),
      { seed: 18, numRuns: runs(150) },
    );
  });

  test.each(['/config?as=start', '/nodes/a/config?as=start', '/nodes/a/config?as=source'])(
    '%s has nothing to ignore',
    (url) => {
      expect(addressProblems(new URL(url, ORIGIN))).toEqual([]);
    },
  );
});

function views(): fc.Arbitrary<View> {
  const text = fc.string({ unit: 'grapheme' });
  const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => !value.includes('/'));
  const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
  const time = fc.integer({ min: -8.64e15, max: 8.64e15 });
  const id = fc.stringMatching(/^[A-Za-z0-9.:_-]{1,128}$/);
  const labelName = orNull(fc.stringMatching(/^[a-z][a-z0-9_./-]{0,5}$/));
  const labels = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}=[a-z0-9*?+@.:/_-]{1,5}$/), { maxLength: 3 });
  const range = orNull(
    fc.oneof(
      fc.record({ kind: fc.constant('last' as const), spanMs: fc.integer({ min: 1, max: 1e14 }) }),
      fc.record({ kind: fc.constant('fixed' as const), fromMs: orNull(time), toMs: orNull(time) }),
    ),
  );
  const logs = fc
    .record({
      page: fc.constant('logs' as const),
      sources: fc.array(
        fc.record({
          node: name,
          log: orNull(fc.record({ kind: fc.constantFrom('family' as const, 'file' as const), name })),
        }),
      ),
      labels,
      range,
      minLevel: orNull(
        fc.constantFrom(
          'TRACE' as const,
          'DEBUG' as const,
          'INFO' as const,
          'WARN' as const,
          'ERROR' as const,
          'FATAL' as const,
        ),
      ),
      query: text,
      text,
      isRegex: fc.boolean(),
      isCaseSensitive: fc.boolean(),
      isOnlyMatches: fc.boolean(),
      excluded: fc.array(fc.string({ unit: 'grapheme', minLength: 1 })),
      callSite: orNull(fc.string({ unit: 'grapheme', minLength: 1 })),
      component: orNull(fc.string({ unit: 'grapheme', minLength: 1 })),
      hasFields: fc.boolean(),
      countedBy: fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), { maxLength: 3 }),
      columns: fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), { maxLength: 12 }),
      at: orNull(fc.record({ node: name, cursor: fc.string({ unit: 'grapheme', minLength: 1 }) })),
      timeMs: orNull(time),
      isLive: fc.boolean(),
      isWrapped: fc.boolean(),
      isPlain: fc.boolean(),
      splitBy: fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })),
      hasHistogram: fc.boolean(),
    })
    .map((view) => ({ ...view, isLive: view.isLive && canFollow(view.range) }));
  const config = fc.record({
    page: fc.constant('config' as const),
    tab: fc.constantFrom('history' as const, 'compare' as const, 'text' as const),
    node: orNull(name),
    atMs: orNull(time),
    isSplit: fc.boolean(),
    role: orNull(name),
    labels,
    by: labelName,
    group: orNull(text),
    left: orNull(name),
    right: orNull(name),
    text,
    showExpected: fc.boolean(),
    shape: orNull(fc.constantFrom('start' as const, 'source' as const)),
  });
  const node = fc.record({
    page: fc.constant('node' as const),
    id,
    tab: fc.constantFrom('overview' as const, 'config' as const, 'logs' as const),
    text,
    range,
    shape: fc.constant(null),
  });
  const overview = fc.record({ page: fc.constant('overview' as const), labels, by: labelName, range });
  const incidents = fc.record({ page: fc.constant('incidents' as const), labels, range });
  const nodes = fc.record({ page: fc.constant('nodes' as const), labels, by: labelName, text, range });
  return fc.oneof(overview, incidents, nodes, node, config, logs);
}

describe('names of fields in a URL', () => {
  it.each([
    ['shard,http.status', ['shard', 'http.status']],
    ['a\\,b,c\\\\', ['a,b', 'c\\']],
    ['a\\b', ['a\\b']],
    [',a,,a,', ['a']],
    ['😀,x\\', ['😀', 'x\\']],
    ['', []],
  ])('%j', (text, names) => {
    expect(parseFieldNames(text)).toEqual(names);
  });

  it('any names are read as written', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 100 }), { maxLength: MAX_FIELD_NAMES });
    fc.assert(
      fc.property(names, (list) => {
        expect(parseFieldNames(formatFieldNames(list))).toEqual(list);
      }),
      { numRuns: runs(100) },
    );
  });

  it('what is ignored is a problem', () => {
    const many = Array.from({ length: MAX_FIELD_NAMES + 1 }, (_, index) => `f${index}`).join();
    expect(parseFieldNames(many)).toHaveLength(MAX_FIELD_NAMES);
    for (const text of ['', 'a,a', 'a,', many, 'x'.repeat(257)])
      expect(fieldNamesProblem(text)).toBe('expected at most 12 different names of fields, separated by commas');
    expect(fieldNamesProblem('a,b\\c')).toBeNull();
  });

  it('are added, removed and moved', () => {
    expect(toggleName(['a', 'b'], 'c')).toEqual(['a', 'b', 'c']);
    expect(toggleName(['a', 'b'], 'a')).toEqual(['b']);
    expect(moveName(['a', 'b', 'c'], 'c', -1)).toEqual(['a', 'c', 'b']);
    expect(moveName(['a', 'b'], 'b', 1)).toEqual(['a', 'b']);
    expect(moveName(['a', 'b'], 'x', 1)).toEqual(['a', 'b']);
  });
});

test('without a page, the console is at the root', () => {
  expect(linkTo('/logs?q=a')).toBe('/logs?q=a');
  expect(nodeUrl({ origin: 'http://a:1' })).toBe('http://a:1');
});

test.each([
  ['/', '', '/'],
  ['/logs', '', '/logs'],
  ['/ops', '/ops', '/'],
  ['/ops/', '/ops', '/'],
  ['/ops/logs', '/ops', '/logs'],
  ['/opsi/logs', '/ops', undefined],
  ['/logs', '/ops', undefined],
])('%s below "%s" is %s', (path, base, expected) => {
  expect(withoutBase(path, base)).toBe(expected);
});
