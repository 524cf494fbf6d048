import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IndexKeeper } from './index-keeper.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function setUp({ saves = [true], builds = [true] } = {}) {
  const done: string[] = [];
  const signals: AbortSignal[] = [];
  const keeper = new IndexKeeper({
    save: () => {
      done.push(`save at ${performance.now() / 1000}`);
      return Promise.resolve(saves.shift() ?? true);
    },
    build: (signal, { isBusy }) => {
      signals.push(signal);
      done.push(`${isBusy ? 'step' : 'build'} at ${performance.now() / 1000}`);
      return Promise.resolve(builds.shift() ?? true);
    },
    onError: (error) => done.push(String(error)),
  });
  const pass = async (seconds: number) => {
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    return done.splice(0);
  };
  return { keeper, pass, signals };
}

test('works once no search has been running for five seconds', async () => {
  const { keeper, pass } = setUp();
  keeper.noteStart();
  keeper.noteEnd();
  expect(await pass(4)).toEqual([]);
  keeper.noteStart();
  expect(await pass(4)).toEqual([]);
  keeper.noteEnd();
  expect(await pass(100)).toEqual(['save at 13', 'build at 13']);
});

test('works once a minute while searches never pause', async () => {
  const { keeper, pass } = setUp();
  keeper.noteStart();
  for (let second = 0; second < 150; second++) {
    keeper.noteStart();
    keeper.noteEnd();
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(await pass(0)).toEqual(['save at 60', 'step at 60', 'save at 120', 'step at 120']);
});

test('works once a minute while a single search runs', async () => {
  const { keeper, pass } = setUp();
  keeper.noteStart();
  expect(await pass(130)).toEqual(['save at 60', 'step at 60', 'save at 120', 'step at 120']);
});

test('works once a minute while searches pause too briefly', async () => {
  const { keeper, pass } = setUp();
  for (let second = 0; second < 150; second += 3) {
    keeper.noteStart();
    await vi.advanceTimersByTimeAsync(1000);
    keeper.noteEnd();
    await vi.advanceTimersByTimeAsync(2000);
  }
  expect(await pass(0)).toEqual(['save at 60', 'step at 60', 'save at 120', 'step at 120']);
});

test('tries again a minute after it could not write', async () => {
  const { keeper, pass } = setUp({ saves: [false, false, true], builds: [true, true, false, true] });
  keeper.wake();
  expect(await pass(300)).toEqual([
    'save at 5',
    'build at 5',
    'save at 65',
    'build at 65',
    'save at 125',
    'build at 125',
    'save at 185',
    'build at 185',
  ]);
});

test('a search stops what is built while nothing else is done, and not a step beside other searches', async () => {
  const idle = setUp();
  idle.keeper.wake();
  await vi.advanceTimersByTimeAsync(4999);
  vi.advanceTimersByTime(1);
  await Promise.resolve();
  idle.keeper.noteStart();
  expect(idle.signals.map(({ aborted }) => aborted)).toEqual([true]);
  const busy = setUp();
  busy.keeper.noteStart();
  busy.keeper.wake();
  await vi.advanceTimersByTimeAsync(59_999);
  vi.advanceTimersByTime(1);
  await Promise.resolve();
  busy.keeper.noteStart();
  expect(busy.signals.map(({ aborted }) => aborted)).toEqual([false]);
});

test('saves when it is closed, and not again', async () => {
  const { keeper, pass } = setUp();
  keeper.wake();
  await keeper.close();
  keeper.noteStart();
  keeper.noteEnd();
  expect(await pass(300)).toEqual(['save at 0']);
});
