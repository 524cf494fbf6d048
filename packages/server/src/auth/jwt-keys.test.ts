import type { JSONWebKeySet } from 'jose';
import { describe, expect, it } from 'vitest';
import { JwtKeys } from './jwt-keys.ts';

const first: JSONWebKeySet = { keys: [{ kty: 'EC', kid: 'one' }] };
const second: JSONWebKeySet = { keys: [{ kty: 'EC', kid: 'two' }] };
const MINUTE_MS = 60_000;

/** Keys that a test turns over, with a clock of its own. */
function createKeys() {
  const world = { nowMs: 0, answer: first as JSONWebKeySet | Error, fetches: 0, failures: 0 };
  const keys = new JwtKeys({
    fetchKeys: async () => {
      world.fetches++;
      if (world.answer instanceof Error) throw world.answer;
      return structuredClone(world.answer);
    },
    refetchMs: 30_000,
    keepMs: 60 * MINUTE_MS,
    onFailure: () => world.failures++,
    now: () => world.nowMs,
  });
  return { world, keys };
}

describe('keys from an address', () => {
  it('are fetched once for concurrent requests', async () => {
    const { world, keys } = createKeys();
    const all = await Promise.all([keys.current(), keys.current(), keys.renew()]);
    expect(all).toEqual([first, first, first]);
    expect(world.fetches).toBe(1);
  });

  it('are the same object while they are the same', async () => {
    const { world, keys } = createKeys();
    const before = await keys.current();
    world.nowMs += 31_000;
    expect(await keys.renew()).toBe(before);
    expect(world.fetches).toBe(2);
  });

  it('a flood of unknown keys fetches at most once in the time set', async () => {
    const { world, keys } = createKeys();
    await keys.current();
    world.nowMs += 31_000;
    for (let count = 0; count < 1000; count++) await keys.renew();
    expect(world.fetches).toBe(2);
    world.nowMs += 29_000;
    await keys.renew();
    expect(world.fetches).toBe(2);
    world.nowMs += 2_000;
    await keys.renew();
    expect(world.fetches).toBe(3);
  });

  it('that were rotated are there after the next unknown one', async () => {
    const { world, keys } = createKeys();
    await keys.current();
    world.answer = second;
    world.nowMs += 31_000;
    expect(await keys.renew()).toEqual(second);
  });

  it('that were withdrawn stop to count without anyone asking for it', async () => {
    const { world, keys } = createKeys();
    await keys.current();
    world.answer = second;
    world.nowMs += 11 * MINUTE_MS;
    await keys.current(); // fetches, while the old ones still answer
    await keys.renew();
    expect(await keys.current()).toEqual(second);
  });

  it('stay valid for a limited time when the address does not respond, which is reported once', async () => {
    const { world, keys } = createKeys();
    await keys.current();
    world.answer = new Error('no answer');
    for (let minute = 0; minute < 59; minute++) {
      world.nowMs += MINUTE_MS;
      expect(await keys.current()).toEqual(first);
    }
    expect(keys.failure).toBe('no answer');
    expect(world.failures).toBe(1);
    world.nowMs += 2 * MINUTE_MS;
    expect(await keys.current()).toBeUndefined();
    world.answer = first;
    world.nowMs += MINUTE_MS;
    expect(await keys.current()).toEqual(first);
    expect(keys.failure).toBeUndefined();
  });
});
