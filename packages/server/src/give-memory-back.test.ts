import { getHeapSpaceStatistics } from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';
import { collectGarbage, giveMemoryBack } from './give-memory-back.ts';

/** A process whose work is given, and how often its garbage was collected. */
function setUp() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const state = { nowMs: 0, cpuMs: 0, collected: 0 };
  const stop = giveMemoryBack({
    nowMs: () => state.nowMs,
    cpuMs: () => state.cpuMs,
    collect: async () => {
      state.collected++;
      state.cpuMs += 400;
    },
  });
  onTestFinished(() => {
    stop();
    vi.useRealTimers();
  });
  /** Lets seconds pass of which the process works some. */
  const pass = async (seconds: number, { working = 0 } = {}) => {
    for (let second = 0; second < seconds; second++) {
      state.nowMs += 1000;
      state.cpuMs += 1000 * working;
      await vi.advanceTimersByTimeAsync(1000);
    }
    return state.collected;
  };
  return { pass, stop };
}

test('garbage is collected once when the process rests, which begins with its start', async () => {
  const { pass } = setUp();
  expect(await pass(9)).toBe(0);
  expect(await pass(600, { working: 0.01 })).toBe(1);
  expect(await pass(60, { working: 0.5 })).toBe(1);
  expect(await pass(15)).toBe(2);
  expect(await pass(600)).toBe(2);
});

test('garbage is left to the engine while the process works, and when it ends', async () => {
  const { pass, stop } = setUp();
  for (let time = 0; time < 100; time++) await pass(5, { working: (time % 2) / 2 });
  expect(await pass(0)).toBe(0);
  stop();
  expect(await pass(60)).toBe(0);
});

test('what nothing refers to is collected, and the room for what is young is small again', async () => {
  const youngBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
  const garbage = new WeakRef({ some: 'garbage' });
  // A reference that was followed counts until the end of the turn.
  await new Promise(setImmediate);
  await collectGarbage();
  expect(garbage.deref()).toBeUndefined();
  expect(youngBytes()).toBeLessThan(4e6);
  await collectGarbage();
});
