import { expect, onTestFinished, test, vi } from 'vitest';
import { createCollector, giveMemoryBack } from './give-memory-back.ts';

/** A process whose work is given, and how often its garbage was collected. */
function setUp() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const state = { nowMs: 0, cpuMs: 0, collected: 0 };
  const stop = giveMemoryBack({
    nowMs: () => state.nowMs,
    cpuMs: () => state.cpuMs,
    collect: () => {
      state.collected++;
      state.cpuMs += 400;
    },
  });
  onTestFinished(() => {
    stop();
    vi.useRealTimers();
  });
  /** Lets seconds pass of which the process works some. */
  const pass = (seconds: number, { working = 0 } = {}) => {
    for (let second = 0; second < seconds; second++) {
      state.nowMs += 1000;
      state.cpuMs += 1000 * working;
      vi.advanceTimersByTime(1000);
    }
    return state.collected;
  };
  return { pass, stop };
}

test('garbage is collected once when the process rests, which begins with its start', () => {
  const { pass } = setUp();
  expect(pass(9)).toBe(0);
  expect(pass(600, { working: 0.01 })).toBe(1);
  expect(pass(60, { working: 0.5 })).toBe(1);
  expect(pass(15)).toBe(2);
  expect(pass(600)).toBe(2);
});

test('garbage is left to the engine while the process works, and when it ends', () => {
  const { pass, stop } = setUp();
  for (let time = 0; time < 100; time++) pass(5, { working: (time % 2) / 2 });
  expect(pass(0)).toBe(0);
  stop();
  expect(pass(60)).toBe(0);
});

test('what nothing refers to is collected, without the flag that shows the function to programs', async () => {
  const collect = createCollector();
  const garbage = new WeakRef({ some: 'garbage' });
  // A reference that was followed counts until the end of the turn.
  await new Promise(setImmediate);
  collect();
  expect(garbage.deref()).toBeUndefined();
  collect();
});
