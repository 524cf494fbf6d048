import { describe, expect, it } from 'vitest';
import { PARAMETERS } from './check-arguments.ts';
import { createClient, PortholeError } from './index.ts';

// As a caller without TypeScript sees it.
// biome-ignore lint/suspicious/noExplicitAny: any argument may be given
type Loose = any;
const create: (...args: Loose[]) => Loose = createClient as Loose;
const node = create({ url: 'http://127.0.0.1:1', retries: 0 });

/** The message of what is thrown, at once or by the result. */
async function messageOf(act: () => Loose): Promise<string> {
  try {
    const result = await act();
    if (result !== undefined && Symbol.asyncIterator in result) await result[Symbol.asyncIterator]().next();
  } catch (error) {
    expect(error).toBeInstanceOf(PortholeError);
    expect(error).toMatchObject({ code: 'PARAMETER_INVALID' });
    return (error as Error).message;
  }
  return '';
}

describe('a mistake in JavaScript', () => {
  it.each<[() => Loose, string]>([
    [() => create(), 'createClient() takes its options as an object like { url }, not undefined'],
    [() => create('http://a'), 'createClient() takes its options as an object like { url }, not a string'],
    [() => create({}), '"url" must be the http or https address of a node, like "http://127.0.0.1:7300"'],
    [() => create({ baseUrl: 'http://a' }), 'createClient() has no option "baseUrl": did you mean "url"?'],
    [() => create({ url: 'http://a', tokne: 'x' }), 'createClient() has no option "tokne": did you mean "token"?'],
    [() => create({ url: 'http://a', header: {} }), 'createClient() has no option "header": did you mean "headers"?'],
    [() => node.listLogs({ singal: null }), 'listLogs() has no option "singal": did you mean "signal"?'],
    [() => node.searchLogs({ minLvel: 'WARN' }), 'searchLogs() has no parameter "minLvel": did you mean "minLevel"?'],
    [
      () => node.searchLogs({ start: { timems: 5 } }),
      'invalid parameter "start" of searchLogs(): expected an object like { cursor } or { timeMs }, not an object',
    ],
    [() => create({ URL: 'http://a' }), 'createClient() has no option "URL": did you mean "url"?'],
    [
      () => create({ url: 'http://a', agent: {} }),
      'createClient() has no option "agent": expected url, token, headers, fetch, timeoutMs, stallMs, retries, ' +
        'backoffMs, maxBackoffMs, maxItemBytes, responseBudget, remoteTexts',
    ],
    [
      () => create({ url: 'http://a', timeoutMs: '5s' }),
      'invalid option "timeoutMs" of createClient(): expected a number, not a string',
    ],
    [
      () => create({ url: 'http://a', fetch: {} }),
      'invalid option "fetch" of createClient(): expected a function, not an object',
    ],
    [() => node.searchLogs('timeout'), 'searchLogs() takes its parameters as an object like { src }, not a string'],
    [() => node.searchLogs({ q: 'timeout' }), 'searchLogs() has no parameter "q": did you mean "terms"?'],
    [() => node.searchLogs({ level: 'WARN' }), 'searchLogs() has no parameter "level": did you mean "minLevel"?'],
    [
      () => node.searchLogs({ terms: 'timeout' }),
      'invalid parameter "terms" of searchLogs(): expected an array of strings, not a string',
    ],
    [
      () => node.logDigest({ fromMs: new Date(0) }),
      'invalid parameter "fromMs" of logDigest(): expected a number of milliseconds since 1970, like Date.now(), not a Date',
    ],
    [
      () => node.records({ follow: 'yes' }),
      'invalid parameter "follow" of records(): expected true or false, not a string',
    ],
    [
      () => node.followLogs({ start: 5 }),
      'invalid parameter "start" of followLogs(): expected "end" or an object like { back: 10 }, { timeMs } or { cursor }, not a number',
    ],
    [() => node.viewLog('a.log'), 'viewLog() takes its parameters as an object like { file }, not a string'],
    [
      () => node.config({ signal: new AbortController() }),
      'invalid option "signal" of config(): expected an AbortSignal, like the "signal" of an AbortController, not a AbortController',
    ],
    [() => node.listLogs({ abortSignal: null }), 'listLogs() has no option "abortSignal": did you mean "signal"?'],
    [
      () => node.cluster.configDiff({ node: 'a' }),
      'cluster.configDiff() has no parameter "node": did you mean "nodes"?',
    ],
    [() => node.cluster.around({ time: 5 }), 'cluster.around() has no parameter "time": did you mean "at"?'],
  ])('%s says %j', async (act, message) => {
    expect(await messageOf(act)).toBe(message);
  });

  it('is found in every method that takes parameters', async () => {
    for (const method of Object.keys(PARAMETERS)) {
      const [name = '', owner = node] = method
        .split('.')
        .reverse()
        .map((part, index) => (index === 0 ? part : node[part]));
      expect(await messageOf(() => (owner as Loose)[name as string]({ nonsense: 1 }))).toMatch(
        / has no parameter "nonsense"/,
      );
    }
  });

  it('every method of the cluster selects members by id, role and label, and the store', () => {
    for (const [method, kinds] of Object.entries(PARAMETERS).filter(([name]) => name.startsWith('cluster.')))
      expect(Object.keys(kinds), method).toEqual(expect.arrayContaining(['nodes', 'role', 'labels', 'store']));
    expect(Object.keys(PARAMETERS['cluster.configDiff'])).toContain('by');
  });
});
