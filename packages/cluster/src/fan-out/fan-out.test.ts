import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createClient } from '@porthole/client';
import { PortholeError } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { toOutcome } from '../requests/member-failure.ts';
import { fakeCluster } from '../testing/fake-cluster.ts';
import { FakeNode } from '../testing/fake-node.ts';
import { fanOut } from './fan-out.ts';
import type { Peer } from './peers.ts';

const OPTIONS = { timeoutMs: 1000, maxParallel: 8, countOf: () => 1 };

function testPeers(count: number) {
  const states = Array.from({ length: count }, (_, index) => [`n${String(index).padStart(3, '0')}`, new FakeNode()]);
  return fakeCluster(Object.fromEntries(states)).peers.all();
}

describe('asking all', () => {
  it('returns responses in the order of the members, few queried at a time', async () => {
    let [open, most, next] = [0, 0, 0];
    const ask = async () => {
      const own = next++;
      most = Math.max(most, ++open);
      for (let turn = 0; turn < 20 - own; turn++) await new Promise(setImmediate);
      open--;
      return own;
    };
    const responses = await fanOut(testPeers(20), ask, { ...OPTIONS, maxParallel: 4 });
    expect(responses.map(({ value }) => value)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(responses[7]?.report).toMatchObject({ id: 'n007', outcome: 'ok', detail: null, count: 1 });
    expect(most).toBe(4);
  });

  it('does not give up the node that is asked when the deadline of a member has passed', async () => {
    const [member, other] = testPeers(2);
    if (!member || !other) throw new Error('there are two');
    const self: Peer = { ...other, member: { ...other.member, isSelf: true } };
    let release = (): void => {};
    const isAllowed = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ask = async (peer: Peer): Promise<number> => {
      if (peer === self) await isAllowed;
      else return new Promise(() => {});
      return 1;
    };
    const asking = fanOut([member, self], ask, { ...OPTIONS, timeoutMs: 20 });
    const [given] = await fanOut([member], ask, { ...OPTIONS, timeoutMs: 40 });
    release();
    expect([given?.report.outcome, ...(await asking).map(({ report }) => report.outcome)]).toEqual([
      'timeout',
      'timeout',
      'ok',
    ]);
  });

  it('reports who fails and who is deaf, and never fails itself', async () => {
    const peers = testPeers(3);
    const ask = async ({ state }: Peer) => {
      if (state === peers[0]?.state) throw new PortholeError('INTERNAL', 'it broke');
      return state === peers[1]?.state ? new Promise<number>(() => {}) : 3;
    };
    const responses = await fanOut(peers, ask, { ...OPTIONS, timeoutMs: 20 });
    expect(responses.map(({ value, report }) => [value, report.outcome, report.detail])).toEqual([
      [undefined, 'failed', 'INTERNAL: it broke'],
      [undefined, 'timeout', 'no response within 20 ms'],
      [3, 'ok', null],
    ]);
  });

  it('aborts every request and rejects when the signal fires', async () => {
    const controller = new AbortController();
    const signals: (AbortSignal | undefined)[] = [];
    const asking = fanOut(
      testPeers(3),
      (_state, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
      { ...OPTIONS, signal: controller.signal },
    );
    controller.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true]);
  });
});

describe('the outcome of a failure', () => {
  const unreachable = (code: string) =>
    new PortholeError('UNREACHABLE', 'no connection', {
      cause: new Error('fetch failed', { cause: Object.assign(new Error(), { code }) }),
    });

  it.each([
    [unreachable('ECONNREFUSED'), 'refused'],
    [unreachable('ENOTFOUND'), 'refused'],
    [unreachable('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
    [unreachable('CERT_HAS_EXPIRED'), 'tls'],
    [unreachable('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
    [unreachable('UND_ERR_CONNECT_TIMEOUT'), 'timeout'],
    [unreachable('DEADLINE_EXCEEDED'), 'timeout'],
    [new PortholeError('UNREACHABLE', 'broke off'), 'failed'],
    [new PortholeError('UNAUTHENTICATED', ''), 'auth'],
    [new PortholeError('NOT_SUPPORTED', ''), 'not supported'],
    [new PortholeError('BAD_ANSWER', ''), 'version'],
    [new PortholeError('DEADLINE_EXCEEDED', ''), 'timeout'],
    [Object.assign(new PortholeError('UNREACHABLE', ''), { failure: 'timeout', status: undefined }), 'timeout'],
    [Object.assign(new PortholeError('UNREACHABLE', ''), { failure: 'lost', status: undefined }), 'refused'],
    [new PortholeError('RATE_LIMITED', ''), 'failed'],
    [new TypeError('x is not a function'), 'failed'],
    ['a text', 'failed'],
  ])('%s: %s', (error, outcome) => {
    expect(toOutcome(error).outcome).toBe(outcome);
  });

  it('of a port without a listener is that it was refused', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error: unknown = await createClient({ url: `http://127.0.0.1:${port}`, retries: 0 })
      .listLogs()
      .catch((thrown: unknown) => thrown);
    expect(toOutcome(error).outcome).toBe('refused');
  });
});
