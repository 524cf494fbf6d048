import type { NodeState } from '@porthole/contract';
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
