import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEPT, ONCE, owned, Shared, SharedByKey } from './shared.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => process.on('unhandledRejection', note));

afterEach(async () => {
  await setImmediate(); // rejections are reported at the end of a turn
  process.off('unhandledRejection', note);
  expect(unhandled.splice(0)).toEqual([]);
});

/** Work that is settled by hand. */
class Work<T> {
  starts = 0;
  signal: AbortSignal | undefined;
  resolve: (value: T) => void = () => {};
  reject: (reason: unknown) => void = () => {};

  readonly run = (signal: AbortSignal): Promise<T> => {
    this.starts++;
    this.signal = signal;
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  };
}

describe('work that is shared', () => {
  it('is done once for all who ask while it runs, and again for who asks later', async () => {
    const work = new Work<number>();
    const shared = new Shared<number>();
    const both = Promise.all([shared.run(work.run), shared.run(work.run)]);
    expect(shared.isRunning).toBe(true);
    work.resolve(1);
    expect(await both).toEqual([1, 1]);
    expect(shared.isRunning).toBe(false);
    void shared.run(work.run);
    expect(work.starts).toBe(2);
  });

  it('fails for all who wait, and for nobody else', async () => {
    const work = new Work<number>();
    const shared = new Shared<number>();
    const both = Promise.allSettled([shared.run(work.run), shared.run(work.run)]);
    work.reject(new Error('broken'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await shared.last()).toBeUndefined();
  });

  it('that throws at once rejects', async () => {
    const broken = () => {
      throw new Error('at once');
    };
    await expect(new Shared().run(broken)).rejects.toThrow('at once');
  });

  it('goes on when a caller leaves, with a signal that is not the one of the caller', async () => {
    const work = new Work<number>();
    const shared = new Shared<number>();
    const leaving = new AbortController();
    const first = shared.run(work.run, leaving);
    const second = shared.run(work.run, { signal: new AbortController().signal });
    const left = expect(first).rejects.toThrow('gone');
    leaving.abort(new Error('gone'));
    await left;
    expect(work.signal?.aborted).toBe(false);
    work.resolve(2);
    expect(await second).toBe(2);
  });

  it('that fails when all have left is no unhandled rejection', async () => {
    const work = new Work<number>();
    const shared = new Shared<number>();
    const leaving = new AbortController();
    const left = expect(shared.run(work.run, leaving)).rejects.toThrow('gone');
    leaving.abort(new Error('gone'));
    await left;
    work.reject(new Error('broken'));
    await expect(shared.run(work.run, leaving)).rejects.toThrow('gone');
    expect(work.starts).toBe(1); // nothing is started for a caller that has left
  });

  it('is aborted when the last caller has left, if that is wanted, and started again for the next one', async () => {
    const work = new Work<number>();
    const shared = new Shared<number>({ endsUnwatched: true });
    const callers = [new AbortController(), new AbortController()];
    const left = Promise.allSettled(callers.map((caller) => shared.run(work.run, caller)));
    callers[0]?.abort();
    expect(work.signal?.aborted).toBe(false);
    callers[1]?.abort();
    expect(work.signal?.aborted).toBe(true);
    await left;
    expect(shared.isRunning).toBe(false);
    const isOver = shared.last();
    const abort = work.reject;
    const next = shared.run(work.run);
    abort(new Error('aborted'));
    expect(await isOver).toBeUndefined();
    work.resolve(3);
    expect(await next).toBe(3);
  });

  it('leaves no listener on the signal of a caller', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners++;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners--;
      remove(...given);
    };
    await new Shared<number>().run(() => 1, { signal });
    await expect(new Shared<number>().run(() => Promise.reject(new Error('broken')), { signal })).rejects.toThrow();
    expect(listeners).toBe(0);
  });
});

describe('a result', () => {
  it('is kept for a while from when its work began, a failure from when it came', async () => {
    let nowMs = 0;
    const shared = new Shared<number>({ keepMs: 5, keepFailureMs: 10, nowMs: () => nowMs });
    let starts = 0;
    const work = async () => {
      starts++;
      nowMs += 2;
      if (starts === 2) throw new Error('broken');
      return starts;
    };
    expect(await shared.run(work)).toBe(1);
    nowMs = 5;
    expect(await shared.run(work)).toBe(1);
    nowMs = 6;
    await expect(shared.run(work)).rejects.toThrow('broken');
    nowMs = 18;
    await expect(shared.run(work)).rejects.toThrow('broken');
    nowMs = 19;
    expect(await shared.run(work)).toBe(3);
  });

  it('is kept until it is forgotten; a failure only where it is final', async () => {
    let starts = 0;
    const work = async () => {
      if (++starts === 1) throw new Error('broken');
      return starts;
    };
    const kept = new Shared<number>(KEPT);
    await expect(kept.run(work)).rejects.toThrow('broken');
    expect([await kept.run(work), await kept.run(work), await kept.last()]).toEqual([2, 2, 2]);
    kept.forget();
    expect(await kept.run(work)).toBe(3);

    starts = 0;
    const once = new Shared<number>(ONCE);
    await expect(once.run(work)).rejects.toThrow('broken');
    await expect(once.run(work)).rejects.toThrow('broken');
  });
});

describe('work by key', () => {
  it('is shared while it runs and leaves nothing behind', async () => {
    const work = new Work<string>();
    const shared = new SharedByKey<string, string>({ endsUnwatched: true });
    const both = Promise.all([shared.run('a', work.run), shared.run('a', work.run)]);
    work.resolve('x');
    expect(await both).toEqual(['x', 'x']);
    expect(shared.has('a')).toBe(false);
    const leaving = new AbortController();
    const left = expect(shared.run('b', work.run, leaving)).rejects.toThrow();
    leaving.abort();
    await left;
    work.reject(new Error('aborted'));
    await setImmediate();
    await expect(shared.run('c', work.run, leaving)).rejects.toThrow();
    expect([work.starts, shared.has('b'), shared.has('c')]).toEqual([2, false, false]);
  });

  it('is kept until it is cleared, unless it failed', async () => {
    const shared = new SharedByKey<string, number>({ isKept: true });
    let starts = 0;
    const work = async () => ++starts;
    expect([await shared.run('a', work), await shared.run('a', work)]).toEqual([1, 1]);
    await expect(shared.run('b', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect([shared.has('a'), shared.has('b')]).toEqual([true, false]);
    shared.clear();
    expect(await shared.run('a', work)).toBe(2);
  });
});

it('a failure in the background goes to its owner, at once and once', async () => {
  const errors: unknown[] = [];
  const work = owned(Promise.reject(new Error('broken')), (error) => errors.push(error));
  await setImmediate();
  expect(errors).toHaveLength(1);
  await work;
});
