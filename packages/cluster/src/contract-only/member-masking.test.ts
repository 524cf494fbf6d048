import { setImmediate } from 'node:timers/promises';
import { type CallOptions, type NodeState, PortholeError } from '@porthole/contract';
import { Scrubbing } from '@porthole/logs';
import { expect, it } from 'vitest';
import { fakeMasking } from '../testing/fake-masking.ts';
import { MaskedNode, MemberMasking } from './member-masking.ts';

const NODE = { hostIp: '10.0.0.1', hostName: 'a', grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };

it('a configuration larger than this node reads is refused before it is masked', async () => {
  let masked = 0;
  const mask = (text: string) => {
    masked++;
    return text;
  };
  const masking = fakeMasking({ mask, maxConfigBytes: 100 }).forMember();
  const config = (text: string) => ({ config: text, node: NODE });
  await expect(masking.maskConfig(config(`a = "${'ü'.repeat(60)}"`))).rejects.toMatchObject({
    code: 'BAD_ANSWER',
    message: 'its configuration has 126 bytes, more than config.max-bytes (100) of this node',
  });
  expect(masked).toBe(0);
  expect(await masking.maskConfig(config('a = 1'))).toMatchObject({ config: 'a = 1' });
  masking.close();
});

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
    maskSource: async (text) => text,
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
  const maskSource = async (text: string) => text;
  const masks = { mask: String, maskSource, findSecrets: () => [] };
  const options = { ...masks, fingerprint: undefined, scrubbing: new Scrubbing() };
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
