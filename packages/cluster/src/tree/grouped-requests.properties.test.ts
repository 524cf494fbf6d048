import { setTimeout as sleep } from 'node:timers/promises';
import { type FetchInit, type Member, type NodeState, PATHS } from '@porthole/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Peer, RegisteredPeer } from '../fan-out/peers.ts';
import { answerGroup } from './answer-group.ts';
import { encodeFrame, FRAME } from './frames.ts';
import { GroupedRequests } from './grouped-requests.ts';
import { Helpers } from './helpers.ts';
import type { MemberTransport } from './member-transport.ts';

/** `MORE=20 SEED=random` looks for new cases. */
const MORE = Number(process.env.MORE ?? 1);

/** What a member does when it is asked to be a helper, and whether it answers for itself. */
const BEHAVIOURS = ['helps', 'unable', 'cut', 'silent', 'nonsense', 'contract-only', 'unreachable by others'] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

class FakeTransport implements MemberTransport {
  direct = 0;
  readonly #id: string;
  readonly #behaviour: Behaviour;
  readonly #all: ReadonlyMap<string, Peer>;

  constructor(id: string, behaviour: Behaviour, all: ReadonlyMap<string, Peer>) {
    this.#id = id;
    this.#behaviour = behaviour;
    this.#all = all;
  }

  readonly send = async (url: string) => {
    this.direct++;
    return new Response(this.#answer(url));
  };

  async isPorthole(): Promise<boolean> {
    return this.#behaviour !== 'contract-only';
  }

  async relay({ target, body = '' }: { target: string; body?: string }) {
    if (this.#behaviour === 'contract-only') throw new Error('its text is not masked');
    if (this.#behaviour === 'unreachable by others') throw new TypeError('fetch failed', { cause: new Error('no') });
    const text = this.#answer(`http://${this.#id}${target}`) + body;
    return { status: 200, contentType: 'text/plain', body: Buffer.from(text) };
  }

  async askGroup(body: string, { signal }: { signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>> {
    const all = this.#all;
    const behaviour = this.#behaviour;
    if (behaviour === 'unable' || behaviour === 'contract-only')
      throw Object.assign(new Error('no such route'), { code: 'NOT_SUPPORTED' });
    const get = (id: string) => all.get(id) as RegisteredPeer;
    return (async function* () {
      if (behaviour === 'nonsense') {
        yield Buffer.concat([encodeFrame(FRAME.response, 0, Buffer.from('?')), encodeFrame(77, 999)]);
        return;
      }
      if (behaviour === 'silent') {
        await sleep(60_000, undefined, { signal, ref: false }).catch(() => {}); // it never responds
        return;
      }
      const clock = { nowMs: 0, offsetMsAt: () => 0 };
      const options = { clock, maxRecords: 1, searchBudgetMs: 1, authorize: () => {}, signal };
      let sent = 0;
      for await (const chunk of answerGroup({ peers: { get }, maxParallel: 2 }, { body, ...options })) {
        yield chunk;
        if (behaviour === 'cut' && ++sent === 2) return;
      }
    })();
  }

  #answer(url: string): string {
    return `${this.#id}: ${url}`;
  }
}

function toPeers(behaviours: readonly Behaviour[]): Peer[] {
  const all = new Map<string, Peer>();
  for (const [index, behaviour] of behaviours.entries()) {
    const id = `n${index}`;
    const member = { id, url: `http://${id}` } as Member;
    all.set(id, { member, state: {} as NodeState, transport: new FakeTransport(id, behaviour, all) });
  }
  return [...all.values()];
}

describe('requests through helpers', () => {
  it('have the response that each member gives itself, whatever the helpers do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...BEHAVIOURS), { minLength: 1, maxLength: 9 }),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1 }),
        async (behaviours, choices) => {
          let next = 0;
          const helpers = new Helpers({ random: () => choices[next++ % choices.length] ?? 0 });
          const peers = toPeers(behaviours);
          const group = new GroupedRequests(peers, { helpers, silentMs: 20 });
          const { signal } = new AbortController();
          const init: FetchInit = { method: 'GET', headers: {}, signal, redirect: 'manual', cache: 'no-store' };
          const texts = await Promise.all(
            peers.map(async (peer) => {
              const response = await group.sendFor(peer)(`${peer.member.url}${PATHS.logFiles}?a=1`, init);
              return (response as Response).text().catch((error: Error) => error.message);
            }),
          );
          for (const [index, text] of texts.entries())
            expect(text).toBe(`n${index}: http://n${index}${PATHS.logFiles}?a=1`);
        },
      ),
      { numRuns: 60 * MORE },
    );
  });

  it('of other routes are sent directly', async () => {
    const peers = toPeers(['helps', 'helps', 'helps', 'helps']);
    const group = new GroupedRequests(peers, { helpers: new Helpers(), silentMs: 20 });
    const { signal } = new AbortController();
    const init: FetchInit = { method: 'GET', headers: {}, signal, redirect: 'manual', cache: 'no-store' };
    const path = PATHS.logView;
    await Promise.all(peers.map((peer) => group.sendFor(peer)(`${peer.member.url}${path}`, init)));
    expect(peers.map(({ transport }) => (transport as FakeTransport).direct)).toEqual([1, 1, 1, 1]);
  });

  it('that nobody waits for any more are given up', async () => {
    const peers = toPeers(['silent', 'silent', 'silent', 'silent']);
    const group = new GroupedRequests(peers, { helpers: new Helpers(), silentMs: 60_000 });
    const controller = new AbortController();
    const { signal } = controller;
    const init: FetchInit = { method: 'GET', headers: {}, signal, redirect: 'manual', cache: 'no-store' };
    const sent = peers.map((peer) => group.sendFor(peer)(`${peer.member.url}${PATHS.config}`, init));
    const settled = Promise.allSettled(sent);
    await sleep(10);
    controller.abort(new Error('enough'));
    const reasons = (await settled).map((each) => (each.status === 'rejected' ? each.reason.message : 'helper itself'));
    expect(reasons.sort()).toEqual(['enough', 'enough', 'enough', 'helper itself']);
  });
});
