import { setTimeout as delay } from 'node:timers/promises';

/** Looks again until it holds; a test that waits for nothing else uses it instead of sleeping. Fails with the last throw. */
export async function eventually(look: () => void | Promise<void>, { withinMs = 10_000 } = {}): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await delay(5);
    }
  }
}
