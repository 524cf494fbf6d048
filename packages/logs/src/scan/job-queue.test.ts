import { expect, test } from 'vitest';
import { CancelFlag } from '../cancel-flag.ts';
import { JobQueue } from './job-queue.ts';
import type { Job } from './jobs.ts';
import type { Waiting } from './pool-thread.ts';

const NOTHING = {} as never;
const SHORT: Job = { kind: 'align', file: NOTHING, offset: 0 };
const LONG: Job = { kind: 'packed-map', file: NOTHING };

function setUp() {
  const queue = new JobQueue();
  const names = new Map<Waiting, string>();
  const add = (name: string, client: string, job = SHORT) => {
    const flag = new CancelFlag({ client });
    const waiting = { task: { id: 0, job, cancelled: flag.shared }, flag, resolve: () => {}, reject: () => {} };
    names.set(waiting, name);
    queue.add(waiting);
    return waiting;
  };
  const takeAll = () => {
    const taken: string[] = [];
    for (let next = queue.first(() => true); next; next = queue.first(() => true)) {
      queue.take(next);
      taken.push(names.get(next) ?? '');
    }
    return taken;
  };
  return { queue, add, takeAll };
}

test('clients take turns, however many jobs each has', () => {
  const { add, takeAll } = setUp();
  for (const name of ['a1', 'a2', 'a3', 'a4']) add(name, 'a');
  for (const name of ['b1', 'b2']) add(name, 'b');
  add('c1', 'c');
  expect(takeAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test('short jobs of a client come before its long ones, and not before its turn', () => {
  const { add, takeAll } = setUp();
  add('a long', 'a', LONG);
  add('b long', 'b', LONG);
  add('a short', 'a');
  add('a short too', 'a');
  expect(takeAll()).toEqual(['a short', 'b long', 'a short too', 'a long']);
});

test('a job that cannot be taken now leaves the turn to the next client', () => {
  const { queue, add } = setUp();
  add('a', 'a', LONG);
  const second = add('b', 'b');
  expect(queue.first(({ task }) => task.job.kind !== 'packed-map')).toBe(second);
});

test('a job is moved to another client, or dropped', () => {
  const { queue, add, takeAll } = setUp();
  add('a1', 'a');
  const moved = add('a2', 'a');
  const dropped = add('a3', 'a');
  add('b1', 'b');
  queue.move(moved, 'c');
  expect(queue.drop(dropped)).toBe(true);
  expect(queue.drop(dropped)).toBe(false);
  expect(queue).toMatchObject({ length: 3 });
  expect([queue.hasOther('a'), queue.hasOther('nobody')]).toEqual([true, true]);
  expect(takeAll()).toEqual(['a1', 'b1', 'a2']);
  expect(queue).toMatchObject({ length: 0 });
  expect(queue.hasOther('a')).toBe(false);
  expect(queue.drop(moved)).toBe(false);
});

test('small jobs of a client are taken together, up to the first other one', () => {
  const { queue, add } = setUp();
  const small: Job = { kind: 'times', file: { textBytes: 100 } as never, runs: [0, 1], startBytes: 0, endBytes: 100 };
  const large: Job = { ...small, file: { textBytes: 10 ** 9 } as never };
  const first = ['a1', 'a2', 'a3'].map((name) => add(name, 'a', small));
  add('a4', 'a', large);
  add('a5', 'a', small);
  add('b1', 'b', small);
  expect(queue.takeSmall('a', 2)).toEqual(first.slice(0, 2));
  expect(queue.takeSmall('a', 9)).toEqual(first.slice(2));
  expect(queue.takeSmall('a', 9)).toEqual([]);
  expect(queue.length).toBe(3);
});
