import { expect, test } from 'vitest';
import { Condition } from './condition.ts';

/** Whether the wait has ended once all that was queued has run. */
async function hasEnded(wait: Promise<void>): Promise<boolean> {
  const turn = new Promise<'pending'>((resolve) => setImmediate(() => resolve('pending')));
  return (await Promise.race([wait.then(() => 'ended'), turn])) === 'ended';
}

test('a notification wakes all who wait', async () => {
  const condition = new Condition();
  const waits = [condition.wait(), condition.wait(60_000)];
  expect(await hasEnded(Promise.race(waits))).toBe(false);
  condition.notify();
  await Promise.all(waits);
  expect(await hasEnded(condition.wait())).toBe(false);
});

test('notifications while nobody waits end the next wait, once', async () => {
  const condition = new Condition();
  condition.notify();
  condition.notify();
  await condition.wait();
  const next = condition.wait();
  expect(await hasEnded(next)).toBe(false);
  condition.notify();
  await next;
});

test('a wait ends after its time without waking the others', async () => {
  const condition = new Condition();
  const other = condition.wait();
  await condition.wait(1);
  expect(await hasEnded(other)).toBe(false);
  condition.notify();
  await other;
});
