import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { withDeadline } from './bounded-calls.ts';

it('many calls wait for one signal without a warning of a leak, and listen no longer when it aborts', async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => warnings.push(message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const controller = new AbortController();
  const waiting = Array.from({ length: 50 }, () =>
    withDeadline(() => new Promise(() => {}), { timeoutMs: 1_000_000, signal: controller.signal }),
  );
  controller.abort(new Error('enough'));
  const results = await Promise.allSettled(waiting);
  expect(results.map(({ status }) => status)).toEqual(waiting.map(() => 'rejected'));
  await nextTurn();
  expect(warnings).toEqual([]);
});
