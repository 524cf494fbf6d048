import { describe, expect, it } from 'vitest';
import { createFailureLimit, TooManyFailures } from './access.ts';
import { clientNetwork, plainAddress } from './identity.ts';

describe('failures of one client', () => {
  it('are allowed up to the limit of a minute, then refused until it is over', () => {
    let nowMs = 0;
    const count = createFailureLimit(2, () => nowMs);
    count('10.0.0.1');
    count('10.0.0.1');
    nowMs = 20_500;
    expect(failure(() => count('10.0.0.1'))).toMatchObject({ retryAfterSeconds: 40, isFirst: true });
    expect(failure(() => count('10.0.0.1'))).toMatchObject({ code: 'RATE_LIMITED', isFirst: false });
    count('10.0.0.2');
    nowMs = 60_000;
    count('10.0.0.1');
  });

  it('are counted for the whole /64 of an IPv6 address', () => {
    const count = createFailureLimit(1, () => 0);
    count('2001:db8:1:2::1');
    expect(() => count('2001:db8:1:2:ffff::9')).toThrow('auth.max-failures-per-minute');
    count('2001:db8:1:3::1');
  });

  it('take bounded memory: the first network makes room', () => {
    const count = createFailureLimit(1, () => 0);
    count('a');
    for (let index = 0; index < 10_000; index++) count(`10.${index >> 8}.${index & 255}.1`);
    count('a');
    expect(() => count('10.39.15.1')).toThrow(TooManyFailures);
  });

  it('are not limited by 0', () => {
    const count = createFailureLimit(0);
    expect(() => {
      for (let index = 0; index < 1000; index++) count('10.0.0.1');
    }).not.toThrow();
  });
});

it.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['nonsense', 'nonsense'],
])('the network of %s is %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});

it.each([
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['[::1]', '::1'],
  [undefined, ''],
])('the address %s is written %s', (address, plain) => {
  expect(plainAddress(address)).toBe(plain);
});

function failure(act: () => void): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}
