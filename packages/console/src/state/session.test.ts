import { expect, test } from 'vitest';
import { Session } from './session.ts';

const NODE = { node: { hostIp: '127.0.0.1', hostName: 'a', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 } };

/** A node that requires this token and records the ones it was sent. */
function guarded(token: string) {
  const tried: (string | null)[] = [];
  const guardedFetch: typeof fetch = async (_input, init) => {
    const given = new Headers(init?.headers).get('authorization');
    tried.push(given);
    if (given === `Bearer ${token}`) return Response.json({ config: 'a = 1', ...NODE });
    return Response.json({ code: 'UNAUTHENTICATED', detail: 'a token is needed', status: 401 }, { status: 401 });
  };
  return { tried, guardedFetch };
}

function fakeStorage(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  return {
    stored,
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a rejected request is repeated with the entered token', async () => {
  const { guardedFetch, tried } = guarded('secret');
  const session = new Session({ url: 'http://a.example', fetch: guardedFetch, storage: undefined });
  const responses = Promise.all([session.client.config(), session.client.config()]);
  await turn();
  expect(session.isTokenDialogOpen.value).toBe(true);
  session.give('secret', { keep: false });
  expect((await responses).map(({ config }) => config)).toEqual(['a = 1', 'a = 1']);
  expect(session.isTokenDialogOpen.value).toBe(false);
  expect(tried).toEqual([null, null, 'Bearer secret', 'Bearer secret']);
});

test('a rejected token is requested again and not stored', async () => {
  const { guardedFetch } = guarded('secret');
  const stored = fakeStorage({ 'porthole.token': 'old' });
  const session = new Session({ url: 'http://a.example', fetch: guardedFetch, storage: stored });
  const response = session.client.config();
  await turn();
  expect([session.isTokenDialogOpen.value, session.rejection.value, stored.stored.size]).toEqual([true, 'expired', 0]);
  session.give('secret', { keep: true });
  await response;
  expect(stored.stored.get('porthole.token')).toBe('secret');
  expect(session.rejection.value).toBeNull();
});

test('a token that never worked is invalid, one that worked before has expired', async () => {
  const { guardedFetch } = guarded('secret');
  let isRevoked = false;
  const revocable: typeof fetch = (input, init) => guardedFetch(input, isRevoked ? {} : init);
  const session = new Session({ url: 'http://a.example', fetch: revocable, storage: undefined });
  const response = session.client.config();
  await turn();
  session.give('wrong', { keep: false });
  await turn();
  expect(session.rejection.value).toBe('invalid');
  session.give('secret', { keep: false });
  await response;
  expect(session.rejection.value).toBeNull();
  isRevoked = true;
  const refused = expect(session.client.config()).rejects.toMatchObject({ status: 401 });
  await turn();
  expect(session.rejection.value).toBe('expired');
  session.decline();
  await refused;
});

test('declining the dialog fails the request, and the dialog stays closed', async () => {
  const { guardedFetch } = guarded('secret');
  const session = new Session({ url: 'http://a.example', fetch: guardedFetch, storage: undefined });
  const response = session.client.config();
  const refused = expect(response).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
  await turn();
  session.decline();
  await refused;
  await expect(session.client.config()).rejects.toMatchObject({ status: 401 });
  expect(session.isTokenDialogOpen.value).toBe(false);
  session.openTokenDialog();
  expect(session.isTokenDialogOpen.value).toBe(true);
});

test('an aborted request does not wait for the dialog', async () => {
  const { guardedFetch } = guarded('secret');
  const session = new Session({ url: 'http://a.example', fetch: guardedFetch, storage: undefined });
  const leaving = new AbortController();
  const response = session.client.config({ signal: leaving.signal });
  const left = expect(response).rejects.toThrow('left');
  await turn();
  leaving.abort(new Error('left'));
  await left;
});

test('without storage the token lasts as long as the page', async () => {
  const { guardedFetch } = guarded('secret');
  const forbidden = () => {
    throw new DOMException('storage is forbidden', 'SecurityError');
  };
  const session = new Session({
    url: 'http://a.example',
    fetch: guardedFetch,
    storage: { getItem: forbidden, setItem: forbidden, removeItem: forbidden },
  });
  session.give('secret', { keep: true });
  await expect(session.client.config()).resolves.toMatchObject({ config: 'a = 1' });
});

test('a token that a header cannot carry is rejected before sending', () => {
  const session = new Session({ url: 'http://a.example', fetch, storage: undefined });
  expect(['abc', '', 'a b', 'ä', 'a\n'].map((token) => session.canSend(token))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

/** Nodes by address, of which some are gone; the others respond with their address. */
function nodesAt(gone: Set<string>): { sent: string[]; fetchFrom: typeof fetch } {
  const sent: string[] = [];
  const fetchFrom: typeof fetch = async (input, init) => {
    const { origin, pathname } = new URL(String(input));
    if (gone.has(origin)) throw new TypeError('Failed to fetch');
    if (pathname === '/health/live') return Response.json({ status: 'ok' });
    sent.push(`${origin} ${new Headers(init?.headers).get('authorization') ?? ''}`.trim());
    return Response.json({ config: origin, ...NODE });
  };
  return { sent, fetchFrom };
}

const MEMBERS = ['a', 'b', 'c'].map((id) => ({ id, url: `http://${id}.example/`, isSelf: id === 'a', state: 'up' }));

test('requests go through another member while the node of the page does not respond, and return', async () => {
  const gone = new Set(['http://a.example', 'http://b.example']);
  const { sent, fetchFrom } = nodesAt(gone);
  const session = new Session({ url: 'http://a.example', fetch: fetchFrom, storage: undefined });
  session.learn(MEMBERS as never);
  expect((await session.client.config()).config).toBe('http://c.example');
  expect([session.via.value?.id, session.home.id, session.url]).toEqual(['c', 'a', 'http://c.example']);
  await session.goHome();
  expect(session.via.value?.id).toBe('c');
  gone.clear();
  await session.goHome();
  expect((await session.client.config()).config).toBe('http://a.example');
  expect(sent).toEqual(['http://c.example', 'http://a.example']);
});

test('what changes something is not sent again to another member', async () => {
  const { sent, fetchFrom } = nodesAt(new Set(['http://a.example']));
  const session = new Session({ url: 'http://a.example', fetch: fetchFrom, storage: undefined });
  session.learn(MEMBERS as never);
  await expect(session.fetch('/api/v1/views/x', { method: 'PUT' })).rejects.toThrow('Failed to fetch');
  expect(sent).toEqual([]);
});

test('a token is offered to be sent to another member, not sent', async () => {
  const { sent, fetchFrom } = nodesAt(new Set(['http://a.example']));
  const storage = fakeStorage({ 'porthole.token': 'secret' });
  const session = new Session({ url: 'http://a.example', fetch: fetchFrom, storage });
  session.learn(MEMBERS as never);
  await expect(session.fetch('/x')).rejects.toThrow('Failed to fetch');
  expect([session.offered.value?.id, session.via.value, sent.length]).toEqual(['b', null, 0]);
  session.agree();
  await session.fetch('/x');
  expect(sent).toEqual(['http://b.example Bearer secret']);
});
