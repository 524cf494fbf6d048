import { type ErrorCode, getMemberRoute, MEMBER_ROUTE_IDS, type NodeState, PortholeError } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { requestJson, requestProblem, sendRequest } from '../../testing/send-request.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { serveCluster } from '../testing/serve-cluster.ts';

const MEMBERS = '/api/v1/nodes';
const memberFails = async (code: ErrorCode) => {
  const listLogs = async () => {
    throw new PortholeError(code, 'said by the member');
  };
  const { port } = await serveCluster(new FakeCluster({ b: { listLogs } }));
  return requestProblem(port, `${MEMBERS}/b/log/list`);
};

describe('the id of a member in a path', () => {
  it.each([
    ['broker-1', 'broker-1'],
    ['db-7.example.org:7300', 'db-7.example.org:7300'],
    ['db-7%3A7300', 'db-7:7300'],
    ['%62roker', 'broker'],
    ['x'.repeat(128), 'x'.repeat(128)],
  ])('%s is looked up as %s', async (written, id) => {
    const cluster = new FakeCluster({ [id]: { listLogs: async () => [{ name: 'a.log', size: 1 }] } });
    const { port } = await serveCluster(cluster);
    expect(await requestJson(port, `${MEMBERS}/${written}/log/list`)).toEqual([{ name: 'a.log', size: 1 }]);
    expect(cluster.lookedUp).toEqual([id]);
  });

  it.each([
    '..%2f',
    '..%2F..%2Fetc',
    'a%2fb',
    'a%5cb',
    '%00',
    'a%00',
    '%0d%0ax',
    '%',
    '%zz',
    '%ff',
    '%252e',
    'a%20b',
    'a+b',
    'a*',
    'a%3f',
    '',
    '%C3%A4',
    '%F0%9F%9A%80',
    'http:%2f%2f10.0.0.1',
    '[::1]',
    'a@b',
    'x'.repeat(129),
    'x'.repeat(5000),
  ])('that is none (%s) is not looked up', async (written) => {
    const cluster = new FakeCluster();
    const { port } = await serveCluster(cluster);
    const { status, code, detail } = await requestProblem(port, `${MEMBERS}/${written}/log/list`);
    expect({ status, code }).toEqual({ status: 404, code: 'MEMBER_NOT_FOUND' });
    expect(detail.length).toBeLessThan(200);
    expect(cluster.lookedUp).toEqual([]);
  });

  it.each(['..', '.', '%2e%2e', 'other', '__proto__', 'constructor', '127.0.0.1:80'])(
    'that is no member (%s) is only looked up',
    async (written) => {
      const cluster = new FakeCluster({ b: {} });
      const { port } = await serveCluster(cluster);
      expect(await requestProblem(port, `${MEMBERS}/${written}/config`)).toMatchObject({
        status: 404,
        code: 'MEMBER_NOT_FOUND',
      });
      expect(cluster.lookedUp).toEqual([decodeURIComponent(written)]);
    },
  );

  it.each([
    '/',
    '/b/',
    '/b/nothing',
    '/b/metrics',
    '/b/health/live',
    '/b/nodes',
    '/b/../config',
    '/b/log/list/',
    '/b/config/history/1f2e',
    '/b/log/follow',
    '/b/node',
    '/b%2flog/list',
    '/b/LOG/list',
  ])('followed by no route of a member (%s) is no route', async (rest) => {
    const cluster = new FakeCluster({ b: {} });
    const { port } = await serveCluster(cluster);
    expect(await requestProblem(port, `${MEMBERS}${rest}`)).toMatchObject({ status: 404, code: 'ROUTE_NOT_FOUND' });
    expect(cluster.lookedUp).toEqual([]);
  });
});

describe('a route of a member', () => {
  it.each([
    ['log/view?file=a.log', 'viewLog'],
    ['log/list', 'listLogs'],
    ['config', 'config'],
  ] as const)('%s gives the member nothing of the request but its signal, and whose it is', async (route, verb) => {
    const seen: object[] = [];
    const call = async (...given: object[]) => {
      seen.push({ ...given.at(-1) });
      throw new PortholeError('NOT_SUPPORTED', 'enough');
    };
    const { port } = await serveCluster(new FakeCluster({ b: { [verb]: call } }));
    const headers = { authorization: 'Bearer of-the-client', cookie: 'session=1' };
    await requestProblem(port, `${MEMBERS}/b/${route}`, { headers });
    expect(seen).toEqual([{ signal: expect.any(AbortSignal), client: '127.0.0.1' }]);
  });

  it.each(MEMBER_ROUTE_IDS)('%s is refused to a member, and to all without a cluster', async (id) => {
    const path = getMemberRoute(id).path.replace('{id}', 'b');
    const cluster = new FakeCluster({ b: {} });
    const { port } = await serveCluster(cluster);
    expect(await requestProblem(port, path, { headers: { 'Porthole-Via': 'c' } })).toMatchObject({
      status: 400,
      code: 'REQUEST_LOOP',
    });
    expect(cluster.lookedUp).toEqual([]);
    const alone = await serveCluster(undefined);
    expect(await requestProblem(alone.port, path)).toMatchObject({ status: 501, code: 'NOT_SUPPORTED' });
  });

  it.each(['UNAUTHENTICATED', 'HOST_NOT_ALLOWED', 'SHUTTING_DOWN'] as const)(
    'of which the member says %s does not look as if this node said it',
    async (code) => {
      expect(await memberFails(code)).toMatchObject({
        status: 502,
        code: 'UNREACHABLE',
        detail: `member "b" returned ${code}: said by the member`,
      });
    },
  );

  it('of a member that fails does not look as if this node did', async () => {
    expect(await memberFails('INTERNAL')).toMatchObject({
      status: 502,
      code: 'BAD_ANSWER',
      detail: 'member "b" returned INTERNAL: said by the member',
    });
    expect(await memberFails('UNREACHABLE')).toMatchObject({ status: 502, code: 'UNREACHABLE' });
    expect(await memberFails('NOT_SUPPORTED')).toMatchObject({ status: 501, code: 'NOT_SUPPORTED' });
  });

  it('that breaks off after its head is cut', async () => {
    const viewLog: NodeState['viewLog'] = async () => ({
      sizeBytes: undefined,
      chunks: (async function* () {
        yield Buffer.from('a part');
        throw new PortholeError('UNREACHABLE', 'lost');
      })(),
      close: async () => {},
    });
    const { port, cuts } = await serveCluster(new FakeCluster({ b: { viewLog } }));
    await expect(sendRequest(port, `${MEMBERS}/b/log/view?file=a.log`)).rejects.toThrow();
    await eventually(() => expect(cuts).toEqual(['source']));
  });
});
