import { isIP } from 'node:net';
import { codeOf } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAddress } from './member-address.ts';
import { createMemberNetworks } from './member-networks.ts';

const isRefused = (host: string, networks: readonly string[] = []): boolean => {
  try {
    createMemberNetworks(networks).check(host);
    return false;
  } catch (error) {
    expect(codeOf(error)).toBe('MEMBER_REFUSED');
    return true;
  }
};

describe('addresses of members', () => {
  it.each([
    ...['169.254.169.254', '0xa9fea9fe', '0251.0376.0251.0376', '2852039166', '169.254.43518', '１６９.254.169.254'],
    ...['[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[0:0:0:0:0:ffff:a9fe:a9fe]', '[::169.254.169.254]'],
    ...['[64:ff9b::169.254.169.254]', '[2002:a9fe:a9fe::1]', '[fd00:ec2::254]', '100.100.100.200'],
    ...['0', '0.0.0.0', '0.1.2.3', '[::]', '[::0.0.0.0]', '[fe80::1]', '[febf::1]', '255.255.255.255', '240.0.0.1'],
    ...['224.0.0.1', '239.255.255.250', '[ff02::1]'],
  ])('%s is refused however it is written', (host) => {
    expect(isRefused(readAddress(`http://${host}:80`).host)).toBe(true);
  });

  it.each([
    '10.0.0.7',
    '127.0.0.1',
    '[::1]',
    '192.168.1.1',
    '8.8.8.8',
    '[fd00::7]',
    '[2001:db8::1]',
    'db-7.example.org',
  ])('%s is accepted', (host) => {
    expect(isRefused(readAddress(`http://${host}:80`).host)).toBe(false);
  });

  it('are those of the networks that are set, and no others', () => {
    const networks = ['10.1.0.0/16', 'fd00::/8', '169.254.7.7'];
    for (const host of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '169.254.7.7']) {
      expect(isRefused(host, networks)).toBe(false);
    }
    for (const host of ['10.2.0.1', '::ffff:10.2.0.1', '127.0.0.1', '::1', '2001:db8::1', '169.254.7.8']) {
      expect(isRefused(host, networks)).toBe(true);
    }
  });

  it('agree with comparing the bits, for any IPv4 address and network', () => {
    const address = fc.tuple(...Array.from({ length: 4 }, () => fc.nat(255)));
    const bits = (parts: readonly number[]) => parts.map((part) => part.toString(2).padStart(8, '0')).join('');
    fc.assert(
      fc.property(address, address, fc.integer({ min: 1, max: 32 }), (network, host, length) => {
        const isInside = bits(network).slice(0, length) === bits(host).slice(0, length);
        expect(isRefused(host.join('.'), [`${network.join('.')}/${length}`])).toBe(!isInside);
      }),
      { seed: 7, numRuns: runs(100) },
    );
  });

  it('are checked when a name is resolved: only those that are allowed are connected to', async () => {
    const resolve = (networks: readonly string[]) =>
      new Promise<string>((done) => {
        createMemberNetworks(networks).lookup('localhost', { all: true }, (error, found) => {
          const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
          done(error ? codeOf(error) : addresses.every((address) => isIP(address) !== 0) ? 'resolved' : 'nothing');
        });
      });
    expect(await resolve([])).toBe('resolved');
    expect(await resolve(['127.0.0.0/8', '::1'])).toBe('resolved');
    expect(await resolve(['10.0.0.0/8'])).toBe('MEMBER_REFUSED');
  });
});
