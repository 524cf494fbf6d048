import { setImmediate } from 'node:timers/promises';
import { type CallOptions, type NodeState, PortholeError } from '@porthole/contract';
import { Scrubbing } from '@porthole/logs';
import { expect, it } from 'vitest';
import { MaskedNode } from './masked-node.ts';
import { MemberMasking } from './member-masking.ts';

it('text of a member is masked even if its configuration was never requested', async () => {
  const secret = 'Zx81-spectrum';
  const node: Pick<NodeState, 'config' | 'viewLog'> = {
    config: async () => ({ config: `password = "${secret}"`, node: {} as never }),
    viewLog: async () => ({
      sizeBytes: undefined,
      chunks: (async function* () {
        yield Buffer.from(`login ${secret}\n`);
      })(),
      close: async () => {},
    }),
  };
  const mask = (text: string) => text.replace(secret, '***');
  const scrubbing = new Scrubbing();
  const masking = new MemberMasking({
    mask,
    fingerprint: undefined,
    findSecrets: () => [secret],
    scrubbing,
  }).forMember();
  const { chunks } = await new MaskedNode(node as NodeState, masking).viewLog({ file: 'a.log', sizeBytes: 100 });
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  expect(text).toBe(`login ${'*'.repeat(secret.length)}\n`);
});

/** A member whose configuration fails when it is told to. */
function failingMember() {
  const signals: (AbortSignal | undefined)[] = [];
  const fails: (() => void)[] = [];
  const config = ({ signal }: CallOptions = {}) =>
    new Promise<never>((_resolve, reject) => {
      signals.push(signal);
      fails.push(() => reject(new PortholeError('UNREACHABLE', 'refused')));
    });
  const options = { mask: String, fingerprint: undefined, findSecrets: () => [], scrubbing: new Scrubbing() };
  const node = new MaskedNode({ config } as Partial<NodeState> as NodeState, new MemberMasking(options).forMember());
  const failAll = () => {
    for (const fail of fails) fail();
  };
  return { node, signals, failAll };
}

it('a client that has left before the member is asked for its configuration does no harm if that fails', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const { node, failAll } = failingMember();
  await expect(node.learnSecrets({ signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
  failAll();
  await setImmediate();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

it('a client that leaves does not end the request for the others; the last one does', async () => {
  const { node, signals, failAll } = failingMember();
  const clients = [new AbortController(), new AbortController()];
  const left = Promise.allSettled(clients.map((client) => node.learnSecrets(client)));
  clients[0]?.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  clients[1]?.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  await left;
  failAll();
});
