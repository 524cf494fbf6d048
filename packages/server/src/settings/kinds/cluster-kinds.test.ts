import { describeKind } from '../testing/describe-kind.ts';
import { clusterName, endpoint, memberAddress, memberId, network, role } from './cluster-kinds.ts';

const ENDPOINTS: [string, string][] = [
  ['http://10.0.0.7:2379', 'http://10.0.0.7:2379'],
  ['HTTPS://Etcd-1.Example.org/', 'https://etcd-1.example.org'],
  ['http://[FD00::7]:2379', 'http://[fd00::7]:2379'],
];

const NO_ENDPOINTS = [
  '',
  'etcd:2379',
  'ftp://etcd',
  'http://',
  'http://a:1/path',
  'http://a:1//',
  'http://a:1?x=1',
  'http://a:1#x',
  'http://user:secret@a:1',
  'http://a:99999',
  'http://a b',
  'http://a\u0000b',
];

describeKind('cluster name', {
  kind: clusterName(),
  text: [
    ['porthole', 'porthole'],
    ['Prod_7.eu-1', 'Prod_7.eu-1'],
  ],
  toml: [['node', 'node']],
  refusedText: ['', ' ', 'a b', 'a/b', 'ä', '*', 'x'.repeat(65)],
  refusedToml: [1n, true, ['x']],
});

describeKind('role', {
  kind: role(),
  text: [
    ['node', 'node'],
    ['Broker_7-a', 'Broker_7-a'],
  ],
  toml: [['storage', 'storage']],
  refusedText: ['', ' ', 'a.b', 'a/b', 'ä', '*', 'x'.repeat(33)],
  refusedToml: [1n, true, ['x']],
});

describeKind('member id', {
  kind: memberId(),
  text: [
    ['', ''],
    ['db-7.example.org:7300', 'db-7.example.org:7300'],
    ['x'.repeat(128), 'x'.repeat(128)],
  ],
  toml: [['broker-1', 'broker-1']],
  refusedText: ['.', '..', 'a/b', 'a%2fb', 'a b', 'a*', 'ä', 'x'.repeat(129)],
  refusedToml: [1n, ['x']],
});

describeKind('endpoint', {
  kind: endpoint(),
  text: ENDPOINTS,
  toml: ENDPOINTS,
  refusedText: [...NO_ENDPOINTS, 'e=http://a:1'],
  refusedToml: [1n, ['http://a:1']],
});

describeKind('member address', {
  kind: memberAddress(),
  text: [...ENDPOINTS, ['broker-1=http://10.0.0.7:7300/', 'broker-1=http://10.0.0.7:7300']],
  toml: [...ENDPOINTS, ['b:1=https://b', 'b:1=https://b']],
  refusedText: [...NO_ENDPOINTS, '=http://a:1', '..=http://a:1', 'a/b=http://a:1', 'a=b=http://a:1', 'a='],
  refusedToml: [1n, ['http://a:1']],
});

describeKind('network', {
  kind: network(),
  text: [
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['FD00::/8', 'fd00::/8'],
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ],
  toml: [['::1/128', '::1/128']],
  refusedText: [
    '',
    'db-7',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0/8',
    'fd00::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
  ],
  refusedToml: [8n, true, ['10.0.0.0/8']],
});
