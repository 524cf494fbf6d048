import { eventually } from '@porthole/logs/testing';
import { expect, test } from 'vitest';
import { settled } from '../log-view/testing/manual-clock.ts';
import { Store } from '../state/store.ts';
import { sendWhenFree } from './hooks.ts';

/** Requests as they were sent; each ends when it is ended, or aborted. */
function noteRequests() {
  const sent: { signal: AbortSignal; end: () => void }[] = [];
  const send = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      sent.push({ signal, end: resolve });
      signal.addEventListener('abort', () => resolve());
    });
  return { sent, send };
}

test('a request gives way to what is awaited: it is aborted at once, and sent again afterwards until it has ended', async () => {
  const isAwaited = new Store(true);
  const { sent, send } = noteRequests();
  const stop = sendWhenFree(isAwaited, 0, send);
  expect(sent).toHaveLength(0);
  isAwaited.set(false);
  await eventually(() => expect(sent).toHaveLength(1));
  isAwaited.set(true);
  expect(sent[0]?.signal.aborted).toBe(true);
  isAwaited.set(false);
  await eventually(() => expect(sent).toHaveLength(2));
  sent[1]?.end();
  await settled();
  // What has ended is not sent again.
  isAwaited.set(true);
  isAwaited.set(false);
  expect(sent[1]?.signal.aborted).toBe(false);
  expect(sent).toHaveLength(2);
  stop();
});

test('a request that is no longer wanted is aborted, and none follows', async () => {
  const isAwaited = new Store(false);
  const { sent, send } = noteRequests();
  const stop = sendWhenFree(isAwaited, 0, send);
  await eventually(() => expect(sent).toHaveLength(1));
  stop();
  expect(sent[0]?.signal.aborted).toBe(true);
  isAwaited.set(true);
  isAwaited.set(false);
  expect(sent).toHaveLength(1);
});
