import { describe, expect, it } from 'vitest';
import { formatLogSource, LogSources, parseLogSource } from './log-sources.ts';

describe('the text of a source', () => {
  it.each([
    ['a.log', '', 'family', 'a.log'],
    ['=a.log', '', 'file', 'a.log'],
    ['=sub/a.log', '', 'file', 'sub/a.log'],
    ['n-1:80/a.log', 'n-1:80', 'family', 'a.log'],
    ['n-?/=a.log.*', 'n-?', 'file', 'a.log.*'],
    ['n/sub/a.log', 'n', 'family', 'sub/a.log'],
    ['/sub/a.log', '', 'family', 'sub/a.log'],
    ['//=a', '', 'family', '=a'],
    ['n//=a', 'n', 'family', '=a'],
    ['n///a', 'n', 'family', '/a'],
  ] as const)('%s', (text, node, kind, name) => {
    expect(parseLogSource(text)).toEqual({ node, kind, name });
    expect(formatLogSource({ node, kind, name })).toBe(text);
  });
});

describe('sources', () => {
  it('select families with all their files, files, and what patterns match', () => {
    const logs = new LogSources(['a.log', '=b.log.1', 'c*']);
    expect(['a.log', 'b.log', 'c.log', 'd.log'].filter((name) => logs.hasFamily(name))).toEqual(['a.log', 'c.log']);
    expect(logs.hasFile('a.log.7.gz', 'a.log')).toBe(true);
    expect(logs.hasFile('b.log.1', 'b.log')).toBe(true);
    expect(logs.hasFile('b.log', 'b.log')).toBe(false);
    expect([logs.names('family', 'a.log'), logs.names('family', 'c.log')]).toEqual([true, false]);
  });

  it('without a text are all; those of a node are for a cluster', () => {
    expect(new LogSources().hasFamily('a.log')).toBe(true);
    expect(new LogSources(['n/a.log']).hasFamily('a.log')).toBe(false);
  });
});
