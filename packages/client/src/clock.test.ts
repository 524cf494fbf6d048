import { expect, it } from 'vitest';
import { SYSTEM_CLOCK } from './clock.ts';
import { failureOf } from './testing/failure-of.ts';

it('stops waiting when the signal fires, or has fired', async () => {
  const leaving = new AbortController();
  const waiting = failureOf(SYSTEM_CLOCK.wait(3_600_000, leaving.signal));
  leaving.abort('enough');
  expect(await waiting).toBe('enough');
  expect(await failureOf(SYSTEM_CLOCK.wait(3_600_000, leaving.signal))).toBe('enough');
});
