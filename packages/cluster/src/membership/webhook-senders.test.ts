import { expect, it } from 'vitest';
import type { StateKeys } from './membership.ts';
import { WebhookSenders } from './webhook-senders.ts';

/** Nodes with one registry. */
function registry() {
  const values = new Map<string, Uint8Array>();
  const lost = new Set<string>();
  const state = { isDown: false };
  const node = (selfId: string, webhooks: readonly string[]) => {
    const keys: StateKeys = {
      publish: (value, name) => void values.set(`${selfId}/${name}`, Buffer.from(value)),
      read: async () => {
        if (state.isDown) throw new Error('etcd does not respond');
        return values;
      },
    };
    const senders = new WebhookSenders({ keys, selfId, isLost: (id) => lost.has(id) });
    senders.start(webhooks);
    return senders;
  };
  return { values, lost, state, node };
}

it('the first by id that has the webhook sends, and the next one if that is lost or gone', async () => {
  const { values, lost, node } = registry();
  node('n1', []);
  const n2 = node('n2', ['ops']);
  const n3 = node('n3', ['ops', 'own']);
  const turns = async () => [await n2.turn('ops', 'e'), await n3.turn('ops', 'e'), await n3.turn('own', 'e')];
  expect(await turns()).toEqual(['here', 'elsewhere', 'here']);
  lost.add('n2');
  expect(await n3.turn('ops', 'e')).toBe('here');
  lost.clear();
  values.delete('n2/notify');
  expect(await n3.turn('ops', 'e')).toBe('here');
});

it('what one has sent is not sent by another, as long as the registry has it', async () => {
  const { lost, node } = registry();
  const n1 = node('n1', ['ops']);
  const n2 = node('n2', ['ops']);
  n1.sent('ops', 'member-lost n3 7');
  lost.add('n1');
  expect([await n2.turn('ops', 'member-lost n3 7'), await n2.turn('ops', 'member-lost n4 7')]).toEqual([
    'sent',
    'here',
  ]);
});

it('rather twice than not at all: without a registry every node sends, and nonsense in it is ignored', async () => {
  const { values, state, node } = registry();
  node('n1', ['ops']);
  const n2 = node('n2', ['ops']);
  state.isDown = true;
  expect(await n2.turn('ops', 'e')).toBe('here');
  state.isDown = false;
  values.set('n1/notify', Buffer.from('["ops"'));
  expect(await n2.turn('ops', 'e')).toBe('here');
  const alone = new WebhookSenders({ keys: undefined, selfId: 'n9', isLost: () => false });
  expect(await alone.turn('ops', 'e')).toBe('here');
});

it('what was sent stays small enough to be read', () => {
  const { values, node } = registry();
  const n1 = node('n1', ['ops']);
  for (let index = 0; index < 300; index++) n1.sent('ops', `member-lost ${'n'.repeat(60)} ${index}`);
  const text = Buffer.from(values.get('n1/notify') ?? []).toString();
  expect(text.length).toBeLessThanOrEqual(4000);
  expect(text).toContain(' 299"');
});
