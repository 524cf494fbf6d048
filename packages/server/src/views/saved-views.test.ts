import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestEtcd } from '@porthole/cluster/testing';
import { MAX_VIEWS, type SavedViews } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { SavedViewStore } from './saved-views.ts';

type Keys = NonNullable<ReturnType<ConstructorParameters<typeof SavedViewStore>[0]['keys']>>;

const QUIET = { debug() {}, info() {}, warn() {}, error() {}, isEnabled: () => false };

/** A registry that several stores share, and that may be away. */
class FakeRegistry implements Keys {
  readonly values = new Map<string, string>();
  isAway = false;

  async read() {
    if (this.isAway) throw new Error('no response');
    return new Map([...this.values].map(([key, value]) => [key, Buffer.from(value)]));
  }

  async write(key: string, value: string) {
    if (this.isAway) throw new Error('no response');
    this.values.set(key, value);
  }
}

function openStore({ dir = tempDir(), keys = null as Keys | null } = {}) {
  const open = () => new SavedViewStore({ dir, keys: () => keys, log: QUIET });
  return { dir, open, store: open() };
}

const names = ({ views }: SavedViews) => views.map(({ name }) => name);

/** What is saved is read from the registry at most every two seconds: a change reads it at once. */
const refreshed = async (store: SavedViewStore) => store.change('no such view', null, 'test');

describe('saved views', () => {
  it('are kept in a private file, replaced by name, listed by name, and survive a restart', async () => {
    const { dir, open, store } = openStore();
    await store.change('b', 'level=error', 'ada');
    await store.change('a', 'q=x', 'ada');
    await store.change('b', 'level=warn', 'bob');
    const found = await open().list();
    expect(found).toMatchObject({ sharing: 'node', problem: null });
    expect(found.views).toMatchObject([
      { name: 'a', query: 'q=x', changedBy: 'ada' },
      { name: 'b', query: 'level=warn', changedBy: 'bob' },
    ]);
    expect((statSync(join(dir, 'views.json')).mode & 0o777).toString(8)).toBe('600');
    expect(names(await open().change('a', null, 'bob'))).toEqual(['b']);
    expect(names(await open().list())).toEqual(['b']);
  });

  it('are changed one after the other', async () => {
    const { store } = openStore();
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.change(`v${index}`, '', 'ada')));
    expect((await store.list()).views).toHaveLength(20);
  });

  it('are bounded in number', async () => {
    const { store } = openStore();
    for (let index = 0; index < MAX_VIEWS; index++) await store.change(`v${index}`, '', 'ada');
    await expect(store.change('one more', '', 'ada')).rejects.toMatchObject({ code: 'PARAMETER_INVALID' });
    await store.change('v7', 'q=x', 'ada');
    await store.change('v8', null, 'ada');
    await store.change('one more', '', 'ada');
  });

  it.each(['{"views": [', '[]', '"text"'])('of a damaged file are reported, and the file is kept: %s', async (text) => {
    const { dir, open } = openStore();
    writeFileSync(join(dir, 'views.json'), text);
    const store = open();
    expect((await store.list()).problem).toMatch(/^the saved views of this node could not be read/);
    expect(names(await store.change('a', '', 'ada'))).toEqual(['a']);
    expect(readFileSync(join(dir, 'views.json.unreadable'), 'utf8')).toBe(text);
  });

  it('that are valid are kept of a file with others', async () => {
    const { dir, open, store } = openStore();
    await store.change('a', '', 'ada');
    const file = JSON.parse(readFileSync(join(dir, 'views.json'), 'utf8')) as { views: object[] };
    file.views.push({ name: '../x\n', query: 1 });
    writeFileSync(join(dir, 'views.json'), JSON.stringify(file));
    const found = await open().list();
    expect(names(found)).toEqual(['a']);
    expect(found.problem).toMatch(/^1 saved views of this node could not be read/);
  });

  it('that cannot be stored are refused', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'file'), '');
    const { store } = openStore({ dir: join(dir, 'file', 'views') });
    await expect(store.change('a', '', 'ada')).rejects.toMatchObject({ code: 'VIEWS_UNAVAILABLE' });
    const { store: other } = openStore({ dir: join(dir, 'new', 'views') });
    expect((await other.list()).views).toEqual([]);
    expect(existsSync(join(dir, 'new'))).toBe(false);
  });
});

describe('shared views', () => {
  it('are those of all members; the last writer wins, and deleted ones stay deleted', async () => {
    const keys = new FakeRegistry();
    const [one, two] = [openStore({ keys }).store, openStore({ keys }).store];
    await one.change('a', 'q=1', 'ada');
    await two.change('a', 'q=2', 'bob');
    expect((await refreshed(one)).views).toMatchObject([{ name: 'a', query: 'q=2', changedBy: 'bob' }]);
    await one.change('a', null, 'ada');
    expect(await refreshed(two)).toMatchObject({ views: [], sharing: 'cluster' });
  });

  it('of a time without the registry are shared later, in both directions', async () => {
    const keys = new FakeRegistry();
    const [one, two] = [openStore({ keys }).store, openStore({ keys }).store];
    await one.change('old', '', 'ada');
    await refreshed(two);
    keys.isAway = true;
    expect((await one.change('a', '', 'ada')).sharing).toBe('behind');
    expect((await two.change('old', null, 'bob')).sharing).toBe('behind');
    keys.isAway = false;
    await refreshed(two);
    expect(names(await one.list())).toEqual(['a']);
    expect(await refreshed(two)).toMatchObject({ views: [{ name: 'a' }], sharing: 'cluster' });
  });

  it('come back to a registry that has lost them', async () => {
    const keys = new FakeRegistry();
    const { store } = openStore({ keys });
    await store.change('a', '', 'ada');
    keys.values.clear();
    await refreshed(store);
    expect([...keys.values.keys()]).toContain('a');
  });

  it('of hostile members are ignored, and evict nothing', async () => {
    const keys = new FakeRegistry();
    const { store } = openStore({ keys });
    await store.change('mine', 'q=1', 'ada');
    const entry = { name: 'x', query: '', revision: 9, changedMs: 1, changedBy: 'eve' };
    const put = (key: string, value: unknown) =>
      keys.values.set(key, typeof value === 'string' ? value : JSON.stringify(value));
    put('x', '{');
    put('y', entry);
    put('mine', { ...entry, name: 'mine', revision: Number.MAX_SAFE_INTEGER });
    put('%00', { ...entry, name: '\0' });
    put('long', { ...entry, name: 'long', query: 'x'.repeat(5000) });
    put('who', { ...entry, name: 'who', changedBy: '\u001b[31m' });
    expect((await refreshed(store)).views).toMatchObject([{ name: 'mine', query: 'q=1' }]);
    for (let index = 0; index < 2 * MAX_VIEWS; index++) put(`f${index}`, { ...entry, name: `f${index}`, revision: 99 });
    const { views } = await refreshed(store);
    expect(views).toHaveLength(MAX_VIEWS);
    expect(views).toContainEqual(expect.objectContaining({ name: 'mine' }));
  });

  it('reach the other node by etcd, which keeps them when both are gone', async () => {
    const etcd = await startTestEtcd();
    const start = (nodeId: string) => startTestNode({ settings: { cluster: { etcd: [etcd.url], nodeId } } });
    const [one, two] = await Promise.all([start('n1'), start('n2')]);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: 'level=error' });
    const path = `/api/v1/views/${encodeURIComponent('Ärger / heute')}`;
    const saved = await requestJson<SavedViews>(one.port, path, { method: 'PUT', headers, body });
    expect(saved).toMatchObject({ sharing: 'cluster', views: [{ name: 'Ärger / heute', changedBy: 'anonymous' }] });
    expect(await requestJson(two.port, '/api/v1/views')).toEqual(saved);
    await Promise.all([one.running.stop(), two.running.stop()]);
    const three = await start('n3');
    expect(await requestJson(three.port, '/api/v1/views')).toEqual(saved);
    await etcd.stop();
    await eventually(async () =>
      expect(await requestJson(three.port, '/api/v1/views')).toEqual({ ...saved, sharing: 'behind' }),
    );
  });
});

describe('the routes of views', () => {
  const json = { 'content-type': 'application/json' };

  async function startGuarded() {
    const tokens = ['viewer', 'config', 'none'].map((role) => ({ role, ...createToken(role, [role] as never) }));
    const tokenFile = join(tempDir(), 'tokens');
    writeFileSync(tokenFile, tokens.map(({ line }) => `${line}\n`).join(''), { mode: 0o600 });
    const { port } = await startTestNode({ settings: { auth: { tokenFile } } });
    const headersOf = (role: string) => ({
      ...json,
      authorization: `Bearer ${tokens.find((each) => each.role === role)?.token}`,
    });
    return { port, headersOf };
  }

  it('let viewers read and only the role config write', async () => {
    const { port, headersOf } = await startGuarded();
    const put = { method: 'PUT', body: '{"query": "q=1"}' };
    expect(await requestProblem(port, '/api/v1/views/a', { ...put, headers: headersOf('viewer') })).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
    });
    const saved = await requestJson<SavedViews>(port, '/api/v1/views/a', { ...put, headers: headersOf('config') });
    expect(saved.views).toMatchObject([{ name: 'a', query: 'q=1', changedBy: 'config' }]);
    expect(await requestJson(port, '/api/v1/views', { headers: headersOf('viewer') })).toEqual(saved);
    expect(
      await requestProblem(port, '/api/v1/views/a', { method: 'DELETE', headers: headersOf('viewer') }),
    ).toMatchObject({ status: 403 });
    await sendRequest(port, '/api/v1/views/a', { method: 'DELETE', headers: headersOf('config') });
    expect(await requestJson(port, '/api/v1/views', { headers: headersOf('viewer') })).toMatchObject({ views: [] });
  });

  it('say who is asking', async () => {
    const { port, headersOf } = await startGuarded();
    expect(await requestJson(port, '/api/v1/session', { headers: headersOf('viewer') })).toEqual({
      name: 'viewer',
      kind: 'token',
      roles: ['viewer'],
    });
    expect((await requestProblem(port, '/api/v1/session')).status).toBe(401);
    const open = await startTestNode();
    expect(await requestJson(open.port, '/api/v1/session')).toMatchObject({ kind: 'anonymous' });
  });

  it('take nothing that a page of another site can make a browser send, and nothing that is no view', async () => {
    const { port } = await startTestNode({ settings: { http: { corsOrigins: ['https://console.example'] } } });
    const put = (path: string, headers: Record<string, string>, body: string) =>
      requestProblem(port, path, { method: 'PUT', headers, body });
    const body = '{"query": ""}';
    const crossSite = { ...json, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect(await put('/api/v1/views/a', crossSite, body)).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
    expect(await put('/api/v1/views/a', { 'content-type': 'text/plain' }, body)).toMatchObject({ status: 415 });
    const preflight = { origin: 'https://console.example', 'access-control-request-method': 'PUT' };
    const { headers } = await sendRequest(port, '/api/v1/views/a', { method: 'OPTIONS', headers: preflight });
    expect(headers['access-control-allow-methods']).toBe('GET, HEAD, POST');
    for (const name of ['%', '..', '%00', '%0a', '%20a', 'a%20%20b', `${'a'.repeat(81)}`])
      expect(await put(`/api/v1/views/${name}`, json, body)).toMatchObject({ status: 400, code: 'PARAMETER_INVALID' });
    for (const text of ['', '[]', '{}', '{"query": 1}', '{"query": "\\n"}', `{"query": "${'x'.repeat(4097)}"}`])
      expect(await put('/api/v1/views/a', json, text)).toMatchObject({ status: 400, code: 'PARAMETER_INVALID' });
    expect(await put('/api/v1/views/a', json, 'x'.repeat(2_000_000))).toMatchObject({ status: 413 });
    const refused = await requestProblem(port, '/api/v1/views/a', { method: 'GET' });
    expect(refused).toMatchObject({ status: 405, headers: { allow: 'PUT, DELETE' } });
    expect(await requestJson(port, '/api/v1/views')).toMatchObject({ views: [] });
  });
});
