import { setTimeout as delay } from 'node:timers/promises';
import { scaled } from './timeout-scale.ts';

/** Only a failing test waits this long, so it is generous. */
const WITHIN_MS = 20_000;
/** Frequent at first, then less often: what is awaited needs the processor too. */
const FIRST_POLL_MS = 5;
const LAST_POLL_MS = 250;

/** Polls until `check` no longer throws; used instead of sleeping. Fails with the last error. */
export async function eventually(check: () => unknown, { withinMs = WITHIN_MS } = {}): Promise<void> {
  const giveUpAt = performance.now() + scaled(withinMs);
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, LAST_POLL_MS)) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await delay(pollMs); // pause: between two looks
    }
  }
}
