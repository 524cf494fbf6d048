import { expect, it } from 'vitest';
import { SYSTEM_CLOCK } from './retry.ts';
import { catchFailure } from './testing/catch-failure.ts';

it('stops waiting when the signal fires, or has fired', async () => {
  const controller = new AbortController();
  const waiting = catchFailure(SYSTEM_CLOCK.wait(3_600_000, controller.signal));
  controller.abort('enough');
  expect(await waiting).toBe('enough');
  expect(await catchFailure(SYSTEM_CLOCK.wait(3_600_000, controller.signal))).toBe('enough');
});
