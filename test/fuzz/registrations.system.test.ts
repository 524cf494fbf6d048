import { encodeEtcdValue, readEtcdValue, readLindbValue } from '@porthole/cluster/testing';
import { expect } from 'vitest';
import { fuzz, tryParse } from './testing/fuzz.ts';

const NODE = { hostIp: '10.8.0.1', hostName: 'n1', grpcPort: 7301, httpPort: 7300, version: '0.1.0', onlineTime: 1 };
const MEMBER = {
  id: 'n1',
  role: 'broker',
  labels: { zone: 'a' },
  url: 'http://10.8.0.1:7300',
  node: NODE,
  isSelf: false,
};

fuzz('registrations', {
  corpus: [
    encodeEtcdValue(MEMBER),
    encodeEtcdValue({ ...MEMBER, url: 'https://[fe80::1]:7300' }),
    '{"id":"n1","role":"x","url":"http://user:pw@evil/#"}',
    '{"hostIp":"10.8.0.1","hostName":"n1","grpcPort":9001,"httpPort":9000,"version":"1","onlineTime":1}',
  ],
  check(input) {
    const member = tryParse(() => readEtcdValue('n1', input));
    if (member) {
      expect(member.id).toBe('n1');
      expect(readEtcdValue('n1', Buffer.from(encodeEtcdValue(member)))).toEqual(member);
      expectPlainAddress(member.url);
    }
    const lindb = tryParse(() => readLindbValue('broker', input));
    if (lindb) expectPlainAddress(lindb.url);
  },
});

/** Nothing but where: no credentials, no path that would be put before ours. */
function expectPlainAddress(text: string): void {
  const { protocol, username, password, hash, search } = new URL(text);
  expect([['http:', 'https:'].includes(protocol), username, password, hash, search]).toEqual([true, '', '', '', '']);
}
