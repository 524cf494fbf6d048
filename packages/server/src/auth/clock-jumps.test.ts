import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRateLimit } from '../transport/request-policy.ts';
import { createFailureLimit } from './access.ts';
import { DownloadTickets } from './download-tickets.ts';
import { JwtCheck } from './jwt-check.ts';
import { JwtKeys } from './jwt-keys.ts';
import { AUDIENCE, createSigner, ISSUER, signJwt, toKeySet } from './testing/jwt-maker.ts';
import { hashSecret } from './tokens.ts';

const START_MS = Date.UTC(2026, 10, 15, 5);
const DAY_MS = 86_400_000;

/** Only the time of day is set: the clock that does not jump goes on as ever. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

function refused(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}

describe.each([
  ['a day forward', DAY_MS],
  ['a day back', -DAY_MS],
  ['a year forward', 365 * DAY_MS],
])('a clock that jumps %s', (_, byMs) => {
  const jump = () => vi.setSystemTime(START_MS + byMs);

  it('neither adds requests to a limit nor takes any away', () => {
    const check = createRateLimit(2);
    expect([refused(() => check('a')), refused(() => check('a')), refused(() => check('a'))]).toEqual([
      ...[false, false, true],
    ]);
    jump();
    expect([refused(() => check('a')), refused(() => check('b'))]).toEqual([true, false]);
  });

  it('forgives no failed attempts, and holds them no longer', () => {
    const count = createFailureLimit(1);
    count('a');
    jump();
    expect(refused(() => count('a'))).toBe(true);
    expect(() => count('a')).toThrow(expect.objectContaining({ retryAfterSeconds: 60 }));
  });

  it('neither ends a download ticket nor keeps one', () => {
    const tickets = new DownloadTickets();
    const { ticket } = tickets.issue({ client: 'token:ann', authorization: 'Bearer a', target: '/' });
    jump();
    expect(tickets.redeem(`/?ticket=${ticket}`)).toBe('Bearer a');
  });

  it('does not affect when JWT keys are fetched or expire', async () => {
    let fetches = 0;
    const fetchKeys = async () => {
      fetches++;
      return { keys: [{ kty: 'EC' }] };
    };
    const keys = new JwtKeys({ fetchKeys, refetchMs: 30_000, keepMs: 60_000, onFailure() {} });
    const first = await keys.current();
    const { usableUntilMs } = keys;
    jump();
    expect([await keys.current(), await keys.renew(), fetches, keys.usableUntilMs]).toEqual([
      ...[first, first, 1, usableUntilMs],
    ]);
  });

  it('changes nothing about a JWT but whether it has ended', async () => {
    const signer = await createSigner('key');
    const set = toKeySet(signer);
    const keys = { current: async () => set, renew: async () => set, usableUntilMs: Number.POSITIVE_INFINITY };
    const options = {
      issuer: ISSUER,
      audience: AUDIENCE,
      algorithms: ['ES256'],
      clockToleranceMs: 0,
      nameClaim: 'sub',
    };
    const roles = { rolesClaim: 'groups', roles: ['*=viewer'] };
    let runningMs = 0;
    const check = new JwtCheck({ keys, ...options, ...roles, running: () => runningMs });
    const token = await signJwt(signer, { nowMs: START_MS, exp: START_MS / 1000 + 3600 });
    expect(await check.check(token, hashSecret(token))).toHaveProperty('identity');
    jump();
    expect(check.known(hashSecret(token)) === undefined).toBe(byMs > 0);
    vi.setSystemTime(START_MS + byMs);
    runningMs += 5 * 60_000;
    expect(check.known(hashSecret(token))).toBeUndefined();
  });
});
