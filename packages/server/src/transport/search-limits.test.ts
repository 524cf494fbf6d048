import { expect, it } from 'vitest';
import { clientKey, isMemberKey } from '../auth/identity.ts';
import { openRequest, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const LINE = '2026-11-15 05:00:00.000\tERROR\ta.go:1\t[A]: a line that is one of very many\n';
const SEARCH = '/api/v1/log/search?src==a.log&limit=1000000';

it('a client that has all its searches running is refused, and another one is not', async () => {
  const search = { maxQueued: 8, maxRecords: 1_000_000 };
  const { port } = await startTestNode({ files: { 'a.log': LINE.repeat(100_000) }, settings: { search } });
  // Nobody reads them: they go on.
  const held = await Promise.all([1, 2].map(() => openRequest(port, SEARCH)));
  for (const route of ['search', 'histogram', 'digest', 'top?by=level', 'fields']) {
    const refused = await requestProblem(port, `/api/v1/log/${route}`);
    expect(refused).toMatchObject({
      status: 503,
      code: 'TOO_MANY_SEARCHES',
      detail:
        '2 searches of this client are already running, the limit set by search.max-queued-per-client; retry later',
      headers: { 'retry-after': '1' },
    });
    const { status } = await sendRequest(port, `/api/v1/log/${route}`, { localAddress: '127.0.0.2' });
    expect(status).toBe(200);
  }
  for (const response of held) response.destroy();
});

it('other nodes are clients by their address, and ask for many', () => {
  const member = { name: 'cluster', kind: 'token', roles: [], isMember: true } as const;
  const keys = ['10.0.0.1', '10.0.0.2'].map((address) => clientKey({ identity: member, address }));
  expect(keys).toEqual(['member:10.0.0.1', 'member:10.0.0.2']);
  expect(keys.map(isMemberKey)).toEqual([true, true]);
  const { isMember: _, ...user } = member;
  const other = clientKey({ identity: user, address: '10.0.0.1' });
  expect([other, isMemberKey(other)]).toEqual(['token:cluster', false]);
});
