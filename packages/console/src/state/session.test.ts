import { expect, test } from 'vitest';
import { Session } from './session.ts';

const NODE = { node: { hostIp: '127.0.0.1', hostName: 'a', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 } };

/** A node that answers only to this token, and remembers which were tried. */
function guarded(token: string) {
  const tried: (string | null)[] = [];
  const ask: typeof fetch = async (_input, init) => {
    const given = new Headers(init?.headers).get('authorization');
    tried.push(given);
    if (given === `Bearer ${token}`) return Response.json({ config: 'a = 1', ...NODE });
    return Response.json({ code: 'UNAUTHENTICATED', detail: 'a token is needed', status: 401 }, { status: 401 });
  };
  return { tried, ask };
}

function fakeStorage(entries: Record<string, string> = {}) {
  const kept = new Map(Object.entries(entries));
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what was refused is asked again with the token that was given', async () => {
  const { ask, tried } = guarded('secret');
  const session = new Session({ origin: 'http://a.example', fetch: ask, storage: undefined });
  const answers = Promise.all([session.client.config(), session.client.config()]);
  await turn();
  expect(session.isTokenDialogOpen.value).toBe(true);
  session.give('secret', { keep: false });
  expect((await answers).map(({ config }) => config)).toEqual(['a = 1', 'a = 1']);
  expect(session.isTokenDialogOpen.value).toBe(false);
  expect(tried).toEqual([null, null, 'Bearer secret', 'Bearer secret']);
});

test('a token that is refused is asked for again, and is kept nowhere', async () => {
  const { ask } = guarded('secret');
  const kept = fakeStorage({ 'porthole.token': 'old' });
  const session = new Session({ origin: 'http://a.example', fetch: ask, storage: kept });
  const answer = session.client.config();
  await turn();
  expect([session.isTokenDialogOpen.value, session.isRefused.value, kept.kept.size]).toEqual([true, true, 0]);
  session.give('secret', { keep: true });
  await answer;
  expect(kept.kept.get('porthole.token')).toBe('secret');
  expect(session.isRefused.value).toBe(false);
});

test('who closes the dialog without a token sees the refusal, and is not asked again', async () => {
  const { ask } = guarded('secret');
  const session = new Session({ origin: 'http://a.example', fetch: ask, storage: undefined });
  const answer = session.client.config();
  const refused = expect(answer).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
  await turn();
  session.decline();
  await refused;
  await expect(session.client.config()).rejects.toMatchObject({ status: 401 });
  expect(session.isTokenDialogOpen.value).toBe(false);
  session.openTokenDialog();
  expect(session.isTokenDialogOpen.value).toBe(true);
});

test('who leaves while the dialog is open does not wait for it', async () => {
  const { ask } = guarded('secret');
  const session = new Session({ origin: 'http://a.example', fetch: ask, storage: undefined });
  const leaving = new AbortController();
  const answer = session.client.config({ signal: leaving.signal });
  const left = expect(answer).rejects.toThrow('left');
  await turn();
  leaving.abort(new Error('left'));
  await left;
});

test('a browser that forbids storage only forgets the token with the page', async () => {
  const { ask } = guarded('secret');
  const forbidden = () => {
    throw new Error('storage is forbidden');
  };
  const session = new Session({
    origin: 'http://a.example',
    fetch: ask,
    storage: { getItem: forbidden, setItem: forbidden, removeItem: forbidden },
  });
  session.give('secret', { keep: true });
  await expect(session.client.config()).resolves.toMatchObject({ config: 'a = 1' });
});

test('a token with characters that a header cannot carry is known before it is sent', () => {
  const session = new Session({ origin: 'http://a.example', fetch, storage: undefined });
  expect(['abc', '', 'a b', 'ä', 'a\n'].map((token) => session.canSend(token))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
