import { beforeAll, onTestFinished } from 'vitest';

type Cleanup = () => unknown;

/** Where a start that is shared leaves what ends it. */
let shared: Cleanup[] | undefined;

/** Calls back when the test ends, or the tests that share what is being started. */
export function onEnd(cleanup: Cleanup): void {
  if (shared) shared.push(cleanup);
  else onTestFinished(async () => void (await cleanup()));
}

/**
 * Starts something once for all tests of a file, or of the `describe` it is called in: for tests that only read. Returns
 * what was started. It ends after the last of these tests.
 */
export function share<T>(start: () => Promise<T> | T): () => T {
  let started: { value: T } | undefined;
  beforeAll(async () => {
    const cleanups: Cleanup[] = [];
    shared = cleanups;
    try {
      started = { value: await start() };
    } finally {
      shared = undefined;
    }
    return async () => {
      for (const cleanup of cleanups.reverse()) await cleanup();
    };
  });
  return () => {
    if (!started) throw new Error('what is shared is there when the tests run');
    return started.value;
  };
}
