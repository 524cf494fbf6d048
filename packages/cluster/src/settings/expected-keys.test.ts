import { describe, expect, it } from 'vitest';
import { NODE } from '../state/testing/fake-node.ts';
import { EXPECTED_KEYS, isExpectedKey, withoutOwnNames } from './expected-keys.ts';

describe('keys that are expected to differ', () => {
  it.each([
    'node.host-ip',
    'node.host-name',
    'node.labels',
    'http.host',
    'http.port',
    'grpc.port',
    'broker.grpc.port',
    'service.log-dir',
    'logging.dir',
    'storage.tsdb.dir',
    'storage.indicator',
    'monitor.url',
    'server.advertiseAddr',
    'server."listen address"',
    'servers[0].host',
    'node_id',
    'tls.cert-file',
  ])('%s', (key) => expect(isExpectedKey(key, ['a', 'b', 'c'])).toBe(true));

  it.each([
    'coordinator.namespace',
    'coordinator.endpoints',
    'http.allowed-hosts',
    'http.cors-origins',
    'http.idle-timeout',
    'node.time-zone',
    'cluster.name',
    'database-name',
    'auth.username',
    'query.query-concurrency',
    'logging.level',
    'export',
  ])('not %s', (key) => expect(isExpectedKey(key, ['a', 'b', 'c'])).toBe(false));

  it('ports and paths do not if most nodes have the same; the rest does', () => {
    const isExpected = (key: string) => isExpectedKey(key, ['a', 'a', 'b']);
    expect(['storage.wal.dir', 'http.port', 'tls.cert-file'].map(isExpected)).toEqual([false, false, false]);
    expect(['node.zone', 'http.host', 'node_id'].map(isExpected)).toEqual([true, true, true]);
    expect(isExpectedKey('storage.wal.dir', ['a', 'b'])).toBe(true);
    expect(isExpectedKey('storage.wal.dir', ['a', 'a', 'b', 'b'])).toBe(true);
  });

  it('each row has a reason', () => {
    for (const { ends, why } of EXPECTED_KEYS) expect([ends.length > 0, why.length > 0]).toEqual([true, true]);
  });
});

it("a node's own name and address are taken out of a value, but not parts of others", () => {
  expect(withoutOwnNames('http://10.8.0.21:9000', NODE)).toBe('"http://{host ip}:9000"');
  expect(withoutOwnNames(['broker-0:1', 'broker-01:1'], NODE)).toBe('["{host name}:1","broker-01:1"]');
  expect(withoutOwnNames('110.8.0.21', NODE)).toBe('"110.8.0.21"');
});
