import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamSlots, type StreamUser } from './stream-slots.ts';

const SEED = 20261115;

const view = (client: string): StreamUser => ({ client, isMember: false, isEndless: false });
const follow = (client: string): StreamUser => ({ client, isMember: false, isEndless: true });
const member: StreamUser = { client: 'token:cluster', isMember: true, isEndless: true };

/** Takes as many as it gets. */
function takeAll(slots: StreamSlots, user: StreamUser): number {
  for (let taken = 0; ; taken++) {
    try {
      slots.take(user);
    } catch {
      return taken;
    }
  }
}

describe('stream slots', () => {
  it('are released once, however often release is called', () => {
    const slots = new StreamSlots({ max: 2, perClient: 2 });
    const [giveFirst] = [slots.take(view('a')), slots.take(view('a'))];
    expect(() => slots.take(view('b'))).toThrow('the limit set by http.max-streams');
    giveFirst();
    giveFirst();
    expect(slots.taken).toBe(1);
    slots.take(view('b'));
    expect(() => slots.take(view('b'))).toThrow('the limit set by http.max-streams');
  });

  it('say when no response is open that ends by itself, and not to wait longer than is asked', async () => {
    const slots = new StreamSlots({ max: 10 });
    slots.take(follow('a'));
    await slots.untilFree(1e6);
    const [release, other] = [slots.take(view('a')), slots.take(view('b'))];
    let isFree = false;
    const waiting = slots.untilFree(1e6).then(() => {
      isFree = true;
    });
    release();
    await slots.untilFree(20);
    expect(isFree).toBe(false);
    other();
    await waiting;
    expect(isFree).toBe(true);
  });

  it('are a quarter for each client, and the error names the setting', () => {
    const slots = new StreamSlots({ max: 128 });
    expect(takeAll(slots, follow('a'))).toBe(32);
    expect(() => slots.take(view('a'))).toThrow('http.max-streams-per-client');
    slots.take(view('b'));
  });

  it('are not all for follows, however many clients there are', () => {
    const slots = new StreamSlots({ max: 128 });
    const clients = Array.from({ length: 10 }, (_, number) => `c${number}`);
    expect(clients.reduce((sum, client) => sum + takeAll(slots, follow(client)), 0)).toBe(96);
    expect(() => slots.take(follow('z'))).toThrow('reserved for responses that end');
    expect(takeAll(slots, view('z'))).toBe(32);
  });

  it('of members are those of no client, and the other way round', () => {
    const slots = new StreamSlots({ max: 128, hasMembers: true });
    for (let number = 0; number < 10; number++) takeAll(slots, view(`c${number}`));
    expect(slots.taken).toBe(96);
    expect(takeAll(slots, { ...member, isEndless: false })).toBe(32);
    const others = new StreamSlots({ max: 128, hasMembers: true });
    expect(takeAll(others, member)).toBe(64);
    expect(() => others.take(member)).toThrow('reserved for clients');
    expect(takeAll(others, view('a'))).toBe(32);
  });

  it('keep their promises whatever is taken and given back', () => {
    const users = fc.record({
      client: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      isMember: fc.boolean(),
      isEndless: fc.boolean(),
    });
    const steps = fc.array(fc.tuple(users, fc.nat({ max: 3 })), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.boolean(), steps, (most, hasMembers, turns) => {
        const slots = new StreamSlots({ max: most, hasMembers });
        const held: { user: StreamUser; give(): void }[] = [];
        for (const [user, kind] of turns) {
          if (kind === 0) held.shift()?.give();
          else
            try {
              held.push({ user, give: slots.take(user) });
            } catch {
              // Refused.
            }
          const count = (is: (held: StreamUser) => boolean) => held.filter((one) => is(one.user)).length;
          expect(slots.taken).toBe(held.length);
          expect(held.length).toBeLessThanOrEqual(most);
          for (const client of 'abcdef')
            expect(count((one) => one.client === client && !one.isMember)).toBeLessThanOrEqual(
              Math.ceil(most / 4) + count((one) => one.client === client && one.isMember),
            );
          expect(count(({ isEndless }) => isEndless)).toBeLessThanOrEqual(most - Math.floor(most / 4));
        }
        for (const { give } of held) give();
        expect(slots.taken).toBe(0);
      }),
      { seed: SEED, numRuns: runs(150) },
    );
  });
});
