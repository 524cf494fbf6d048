import { type ClientOptions, createClient } from '@porthole/client';
import { createMemberClient } from '@porthole/client/member';
import { getMemberPath } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { FakeCluster } from './testing/fake-cluster.ts';
import { serveCluster } from './testing/serve-cluster.ts';

const MEMBERS = '/api/v1/nodes';
const LINE = '2026-01-02 03:04:05.678\tINFO\tmain.go:1\t[Node]: ready\n';
const FILES = { 'a.log': LINE.repeat(50), 'b.log.1': 'text\n' };

/** Two nodes: one that is asked, and behind it a real one, reached as members are. */
async function startMember(options: Partial<ClientOptions> = {}) {
  const behind = await startTestNode({ files: FILES });
  const client = createMemberClient({ url: behind.running.url, headers: { 'Porthole-Via': 'asking' }, ...options });
  const cluster = new FakeCluster({ 'broker-1': client });
  return { behind, cluster, ...(await serveCluster(cluster)) };
}

describe('a node behind another', () => {
  it.each(['config', 'logList', 'logView', 'logRaw'] as const)(
    'answers %s as it does itself, to the last byte',
    async (id) => {
      const { behind, port } = await startMember();
      const query = '?file=a.log&size=200';
      const through = await sendRequest(port, `${MEMBERS}/broker-1${getMemberPath(id)}${query}`);
      const direct = await sendRequest(behind.port, `/api/v1${getMemberPath(id)}${query}`);
      expect(through.status).toBe(200);
      expect(through.body).toEqual(direct.body);
      for (const header of ['content-type', 'content-length', 'etag', 'content-disposition', 'last-modified'])
        expect(through.headers[header]).toBe(direct.headers[header]);
    },
  );

  it('gives ranges of a file, and nothing of one that has not changed', async () => {
    const { port } = await startMember();
    const path = `${MEMBERS}/broker-1/log/raw?file=a.log`;
    const part = await sendRequest(port, path, { headers: { range: 'bytes=10-29' } });
    expect(part).toMatchObject({ status: 206, body: Buffer.from(FILES['a.log'].slice(10, 30)) });
    expect(part.headers['content-range']).toBe(`bytes 10-29/${FILES['a.log'].length}`);
    const same = await sendRequest(port, path, { headers: { 'if-none-match': part.headers.etag } });
    expect({ status: same.status, size: same.body.length }).toEqual({ status: 304, size: 0 });
    expect(await requestProblem(port, path, { headers: { range: 'bytes=99999-' } })).toMatchObject({
      status: 416,
      code: 'RANGE_NOT_SATISFIABLE',
    });
  });

  it.each([
    ['log/view?file=none', 404, 'LOG_FILE_NOT_FOUND'],
    ['log/view?file=..%2fetc', 400, 'FILE_NAME_INVALID'],
    ['log/view', 400, 'FILE_NAME_MISSING'],
    ['log/raw?file=none', 404, 'LOG_FILE_NOT_FOUND'],
    ['log/follow', 404, 'ROUTE_NOT_FOUND'],
  ])('refuses %s with %i %s', async (rest, status, code) => {
    const { port } = await startMember();
    expect(await requestProblem(port, `${MEMBERS}/broker-1/${rest}`)).toMatchObject({ status, code });
  });

  it('that has stopped cannot be reached', async () => {
    const { behind, port } = await startMember({ retries: 0 });
    await behind.running.stop();
    expect(await requestProblem(port, `${MEMBERS}/broker-1/log/list`)).toMatchObject({
      status: 502,
      code: 'UNREACHABLE',
    });
  });

  it('is not used for cluster requests: that would be a loop', async () => {
    const { behind } = await startMember();
    const headers = { 'Porthole-Via': 'asking' };
    expect(await requestProblem(behind.port, MEMBERS, { headers })).toMatchObject({
      status: 400,
      code: 'REQUEST_LOOP',
    });
  });

  it('is reachable by the SDK through the other one as if directly', async () => {
    const { behind, port } = await startMember();
    const member = createClient({ url: `http://127.0.0.1:${port}` }).node('broker-1');
    const direct = createClient({ url: behind.running.url });
    expect(await member.listLogs()).toEqual(await direct.listLogs());
    const log = await member.openLog({ file: 'a.log' });
    const parts: Buffer[] = [];
    for await (const chunk of log.read(0, 30)) parts.push(Buffer.from(chunk));
    await log.close();
    expect(Buffer.concat(parts).toString()).toBe(FILES['a.log'].slice(0, 30));
  });
});
