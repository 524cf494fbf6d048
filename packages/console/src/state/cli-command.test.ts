import { describe, expect, it } from 'vitest';
import { cliCommand, configDiffCommand, configGetCommand, configPairCommand } from './cli-command.ts';
import { ALL_CONFIG, type LogsView } from './view.ts';

const VIEW: LogsView = {
  page: 'logs',
  sources: [],
  labels: [],
  range: null,
  minLevel: null,
  query: '',
  text: '',
  isRegex: false,
  isCaseSensitive: false,
  isOnlyMatches: false,
  excluded: [],
  callSite: null,
  component: null,
  columns: [],
  hasFields: false,
  countedBy: [],
  splitBy: null,
  at: null,
  timeMs: null,
  isLive: false,
  isWrapped: false,
  isPlain: false,
  hasHistogram: true,
};

const family = (node: string, name: string) => ({ node, log: { kind: 'family', name } as const });

describe('the command of a view', () => {
  it.each<[string, Partial<LogsView>, string]>([
    ['all logs', {}, 'porthole logs --all'],
    ['what is written now', { isLive: true, minLevel: 'WARN' }, 'porthole logs --all --level warn --follow'],
    ['nodes by label', { labels: ['zone=eu-*', 'rack=7'] }, "porthole logs --label 'zone=eu-*' --label rack=7"],
    ['one log', { sources: [family('n1', 'a.log')] }, 'porthole logs n1:a.log --rotated'],
    ['one file', { sources: [{ node: 'n1', log: { kind: 'file', name: 'a.log.1' } }] }, 'porthole logs n1:a.log.1'],
    ['all logs of a node', { sources: [{ node: '10.0.0.1:80', log: null }] }, 'porthole logs 10.0.0.1:80:'],
    ['a pattern', { sources: [family('broker-*', 'a b.log')] }, "porthole logs 'broker-*:a b.log' --rotated"],
    ['the last quarter', { range: { kind: 'last', spanMs: 900_000 } }, 'porthole logs --all --since 15m'],
    [
      'a fixed range',
      { range: { kind: 'fixed', fromMs: 0, toMs: 1500 } },
      'porthole logs --all --since 1970-01-01T00:00:00.000Z --until 1970-01-01T00:00:01.500Z',
    ],
    ['a time', { timeMs: 0 }, 'porthole logs --all --since 1970-01-01T00:00:00.000Z'],
    ['a query', { query: 'shard=13 cost>500ms' }, "porthole logs --all -Q 'shard=13 cost>500ms'"],
    ['a query that excludes', { query: '-"a b"' }, 'porthole logs --all \'--query=-"a b"\''],
    [
      'a query that matches case',
      { query: 'Foo', isCaseSensitive: true },
      'porthole logs --all -Q Foo --case-sensitive',
    ],
    [
      'columns',
      { columns: ['shard', 'time', 'a,b'] },
      'porthole logs --all --fields time,node,level,shard,context.time,message',
    ],
    ['only matches', { text: "it's", isOnlyMatches: true }, "porthole logs --all --grep 'it'\\''s'"],
    [
      'a regex and exclusions',
      { text: 'a|b', isRegex: true, isOnlyMatches: true, isCaseSensitive: true, excluded: ['x', '-y'] },
      "porthole logs --all --regex 'a|b' --exclude x --exclude=-y --case-sensitive",
    ],
    ['a call site', { callSite: 'a.go:1', component: 'KV' }, 'porthole logs --all --source a.go:1 --component KV'],
    ['a text that is only marked', { text: 'x', isCaseSensitive: true }, 'porthole logs --all'],
  ])('%s', (_name, given, command) => {
    expect(cliCommand({ ...VIEW, ...given }, { url: 'http://n1:9000' })).toBe(`${command} --url http://n1:9000`);
  });
});

const options = { url: 'http://127.0.0.1:7300' };

it('a node is addressed with a colon, as a member of the cluster', () => {
  expect(configGetCommand('broker-2', options)).toBe('porthole config get broker-2: --url http://127.0.0.1:7300');
});

it('compares two nodes as text, like the page', () => {
  expect(configPairCommand('a', '10.8.0.21:2891', options)).toBe(
    'porthole config diff a: 10.8.0.21:2891: -o unified --url http://127.0.0.1:7300',
  );
});

it('compares the cluster with the options of the page', () => {
  expect(configDiffCommand(ALL_CONFIG, options)).toBe('porthole config diff --url http://127.0.0.1:7300');
  expect(configDiffCommand({ ...ALL_CONFIG, role: 'storage', showExpected: true }, options)).toBe(
    'porthole config diff --role storage --expected --url http://127.0.0.1:7300',
  );
  expect(configDiffCommand({ ...ALL_CONFIG, labels: ['zone=a'], by: 'rack' }, options)).toBe(
    'porthole config diff --label zone=a --by rack --url http://127.0.0.1:7300',
  );
});

it('quotes arguments for the shell', () => {
  expect(configDiffCommand({ ...ALL_CONFIG, role: "it's; rm *" }, options)).toContain("--role 'it'\\''s; rm *' ");
});
