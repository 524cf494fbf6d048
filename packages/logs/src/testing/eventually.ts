import { setTimeout as delay } from 'node:timers/promises';
import { scaled } from './timeout-scale.ts';

/** Only a failing test waits this long, so it is generous. */
const WITHIN_MS = 20_000;
const POLL_MS = 5;

/** Polls until `check` no longer throws; used instead of sleeping. Fails with the last error. */
export async function eventually(check: () => unknown, { withinMs = WITHIN_MS } = {}): Promise<void> {
  const giveUpAt = performance.now() + scaled(withinMs);
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await delay(POLL_MS);
    }
  }
}
