import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { createClient } from './http-client.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { JSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';

it.each([
  ['http://127.0.0.1:7300', 'http://127.0.0.1:7300'],
  ['http://127.0.0.1:7300/', 'http://127.0.0.1:7300'],
  [new URL('https://proxy.example.org/nodes/a/'), 'https://proxy.example.org/nodes/a'],
])('%s is the base address %s', (url, base) => {
  expect(createClient({ url }).url).toBe(base);
});

it.each([
  ['nonsense', /"url" must be/],
  ['ftp://a/', /"url" must be/],
  ['http://a/?x=1', /must not contain a query/],
  ['http://ops:hush@a/', /contains credentials/],
])('the address %s is refused', (url, message) => {
  expect(() => createClient({ url })).toThrow(message);
  expect(() => createClient({ url })).not.toThrow(/hush/);
});

it.each([{ timeoutMs: -1 }, { stallMs: Number.NaN }, { retries: -1 }, { maxItemBytes: -5 }])(
  '%j is refused by name',
  (option) => {
    const [name = ''] = Object.keys(option);
    expect(() => createClient({ url: 'http://a', ...option })).toThrow(name);
  },
);

it('keeps the path of a proxy, and sends token and headers', async () => {
  const odd = await startOddServer(respondWith(200, '[]', JSON_HEADERS));
  const headers = { 'x-tenant': 'blue' };
  const client = createClient({ url: `${odd.url}/nodes/a`, token: 'hush', headers });
  expect(await client.listLogs()).toEqual([]);
  expect(odd.requests).toEqual(['GET /nodes/a/api/v1/log/list']);
  expect(odd.headers[0]).toMatchObject({ 'x-tenant': 'blue', authorization: 'Bearer hush' });
});

it('asks a node on its own machine not to compress, unless headers say so', async () => {
  const odd = await startOddServer(respondWith(200, '[]', JSON_HEADERS));
  await createClient({ url: odd.url }).listLogs();
  await createClient({ url: odd.url, headers: { 'Accept-Encoding': 'gzip' } }).listLogs();
  expect(odd.headers.map((headers) => headers['accept-encoding'])).toEqual(['identity', 'gzip']);
});

it('a token function that never settles is limited by timeoutMs, and ends with the request', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1', token: () => new Promise(() => {}), timeoutMs: 50 });
  expect(await catchFailure(client.config())).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  const leaving = new AbortController();
  const waiting = catchFailure(client.config({ signal: leaving.signal }));
  leaving.abort(new Error('left'));
  expect(await waiting).toMatchObject({ message: 'left' });
});

it('calls the function for the token before every request', async () => {
  const odd = await startOddServer(respondWith(200, '[]', JSON_HEADERS));
  let count = 0;
  const client = createClient({ url: odd.url, token: async () => `token-${++count}` });
  await client.listLogs();
  await client.listLogs();
  expect(odd.headers.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
});

it('a token that cannot be sent is refused without being shown', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 'hush\nhush' });
  const error = await catchFailure(client.listLogs());
  expect(error).toMatchObject({ code: 'PARAMETER_INVALID' });
  expect(inspect(error)).not.toContain('hush');
});

it.each([{ 'x-key': 'hush\r\nhush' }, { 'x key': 'hush' }])('so is a header: %j', (headers) => {
  expect(() => createClient({ url: 'http://127.0.0.1:1', headers })).toThrow('has characters that cannot be sent');
  expect(() => createClient({ url: 'http://127.0.0.1:1', headers })).not.toThrow('hush');
});

it('errors contain the request, but never the token', async () => {
  const odd = await startOddServer(respondWith(401, '{"code":"UNAUTHENTICATED","detail":"a token is needed"}'));
  const error = await catchFailure(createClient({ url: odd.url, token: 'hush-hush' }).config());
  const expected = { code: 'UNAUTHENTICATED', status: 401, method: 'GET', url: `${odd.url}/api/v1/config` };
  expect(error).toMatchObject({ name: 'ClientError', message: 'a token is needed', ...expected });
  expect(inspect(error, { depth: 10 })).not.toContain('hush-hush');
});

it('uses the fetch it is given', async () => {
  const asked: string[] = [];
  const own: typeof fetch = async (input) => {
    asked.push(String(input));
    return new Response('[{"name":"a.log","size":1}]', { headers: JSON_HEADERS });
  };
  expect(await createClient({ url: 'http://nowhere', fetch: own }).listLogs()).toEqual([{ name: 'a.log', size: 1 }]);
  expect(asked).toEqual(['http://nowhere/api/v1/log/list']);
});

it.each([
  ['ENOTFOUND', 'dns'],
  ['ECONNREFUSED', 'refused'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['ECONNRESET', 'lost'],
])('a connection that fails with %s is "%s"', async (systemCode, failure) => {
  const fail = async () => {
    const cause = Object.assign(new Error('it failed'), { code: systemCode });
    throw new TypeError('fetch failed', { cause: new AggregateError([cause]) });
  };
  const error = await catchFailure(createClient({ url: 'http://nowhere', fetch: fail, retries: 0 }).listLogs());
  expect(error).toMatchObject({ code: 'UNREACHABLE', status: undefined, failure, systemCode, isRetryable: true });
});

it('errors have what the node says, the id of the request and the requested wait', async () => {
  const body = '{"code":"RATE_LIMITED","detail":"too many requests"}';
  const odd = await startOddServer(respondWith(429, body, { 'retry-after': '7', 'x-request-id': 'r-1' }));
  const error = await catchFailure(createClient({ url: odd.url, retries: 0 }).config());
  const expected = {
    code: 'RATE_LIMITED',
    status: 429,
    detail: 'too many requests',
    requestId: 'r-1',
    failure: undefined,
  };
  expect(error).toMatchObject({ ...expected, retryAfterMs: 7000, isRetryable: true });
});
