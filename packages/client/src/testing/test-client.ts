import { type ClientOptions, strictOptions } from '../client-options.ts';
import { HttpClient } from '../http-client.ts';
import { HttpMember } from '../member.ts';
import type { Clock } from '../retry.ts';

/** A clock on which waiting takes no time and random numbers are the largest. */
export interface TestClock extends Clock {
  waits: number[];
  nowMs: number;
}

export function testClock(): TestClock {
  const clock: TestClock = {
    waits: [],
    nowMs: Date.UTC(2026, 10, 15, 12),
    now: () => clock.nowMs,
    random: () => 0.999999999,
    wait: async (ms, signal) => {
      signal?.throwIfAborted();
      clock.waits.push(ms);
      clock.nowMs += ms;
      // One turn of the event loop, for the sockets.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
  return clock;
}

/** A client whose delays are only recorded. */
export function testClient(options: ClientOptions, clock: Clock = testClock()): HttpClient {
  return new HttpClient({ options: strictOptions(options), clock });
}

/** The same for a member. */
export function testMember(options: ClientOptions, clock: Clock = testClock()): HttpMember {
  return new HttpMember({ options: strictOptions(options), clock });
}
