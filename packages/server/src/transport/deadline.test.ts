import { describe, expect, it } from 'vitest';
import { Deadline, DeadlineTimer } from './deadline.ts';

const HOUR_MS = 3_600_000;

describe('a deadline', () => {
  it('settles like the work when that is in time', async () => {
    const deadline = new Deadline(HOUR_MS);
    expect(await deadline.race(Promise.resolve(1), () => {})).toBe(1);
    await expect(deadline.race(Promise.reject(new Error('failed')), () => {})).rejects.toThrow('failed');
    deadline.met();
  });

  it('hands what comes too late to be closed', async () => {
    const deadline = new Deadline(HOUR_MS);
    const late: string[] = [];
    let finish: (value: string) => void = () => {};
    const work = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const raced = deadline.race(work, (value) => late.push(value));
    deadline.abort(new Error('the client has gone'));
    await expect(raced).rejects.toThrow('the client has gone');
    expect(deadline.signal.aborted).toBe(true);
    finish('opened too late');
    await work;
    expect(late).toEqual(['opened too late']);
    deadline.met();
  });

  it('fires by itself, naming the setting', async () => {
    const deadline = new Deadline(1);
    await expect(deadline.race(new Promise(() => {}), () => {})).rejects.toThrow('http.answer-timeout');
  });

  it('fires in its turn when it shares a timer, unless it was met', async () => {
    const timer = new DeadlineTimer(20);
    const ended: string[] = [];
    const race = (name: string) => {
      const deadline = new Deadline(timer);
      const raced = deadline.race(new Promise(() => {}), () => {}).catch(() => ended.push(name));
      return { deadline, raced };
    };
    const first = race('first');
    const met = race('met');
    await first.raced;
    const [second, third] = [race('second'), race('third')];
    met.deadline.met();
    await Promise.all([second.raced, third.raced]);
    await race('fourth').raced;
    expect(ended.filter((name) => name !== 'met')).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('fires when it begins while the timer runs for nothing else', async () => {
    const timer = new DeadlineTimer(20);
    new Deadline(timer).met();
    const [met, late] = [new Deadline(timer), new Deadline(timer)];
    met.met();
    await expect(late.race(new Promise(() => {}), () => {})).rejects.toThrow('no response within 20 ms');
  });

  it('takes no time from the others when it is met', async () => {
    const timer = new DeadlineTimer(20);
    const met = new Deadline(timer);
    const other = new Deadline(timer);
    met.met();
    met.met();
    await expect(other.race(new Promise(() => {}), () => {})).rejects.toThrow('no response within 20 ms');
  });
});
