import { describeKind } from '../testing/describe-kind.ts';
import { choice, host, ip, keyPattern, origin, path, string, zone } from './text-kinds.ts';

const HOSTS: [string, string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['::', '::'],
  ['[::1]', '::1'],
  ['FD00::7', 'fd00::7'],
  ['localhost', 'localhost'],
  ['Db-07.Example.org', 'db-07.example.org'],
  ['db_1', 'db_1'],
  ['db.example.org.', 'db.example.org.'],
];

describeKind('string', {
  kind: string(),
  text: [
    ['', ''],
    ['node 7', 'node 7'],
    ['grüße 🚀', 'grüße 🚀'],
    ['a,b', 'a,b'],
  ],
  toml: [['x', 'x']],
  refusedText: ['a\u0000b', 'a\nb', '\u001b[31m', '\ud800', 'x'.repeat(4097)],
  refusedToml: [1n, 1.5, true, ['x'], {}],
});

describeKind('path', {
  kind: path(),
  text: [
    ['', ''],
    ['logs', '/base/logs'],
    ['../logs', '/logs'],
    ['/var/log/', '/var/log'],
    ['a~/b', '/base/a~/b'],
  ],
  toml: [['logs', '/base/logs']],
  refusedText: ['~', '~/logs', 'a\u0000b'],
  refusedToml: [1n, ['x']],
});

describeKind('host', {
  kind: host(),
  text: HOSTS,
  toml: HOSTS,
  refusedText: [
    '',
    ' ',
    'http://x',
    'x:80',
    '[::1]:80',
    '[127.0.0.1]',
    '127.0.0.256',
    '127.1',
    '80',
    '-x',
    'x-',
    'a..b',
    'ä',
    'a b',
    'x'.repeat(254),
  ],
  refusedToml: [0n, false],
});

describeKind('IP address', {
  kind: ip(),
  text: [
    ['', ''],
    ['10.0.0.7', '10.0.0.7'],
    ['fd00::7', 'fd00::7'],
  ],
  toml: [['10.0.0.7', '10.0.0.7']],
  refusedText: ['0.0.0.0', '::', '0:0::0', 'db-7', '10.0.0', '10.0.0.7/24'],
  refusedToml: [10n],
});

describeKind('time zone', {
  kind: zone(),
  text: [
    ['', ''],
    ['UTC', 'UTC'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ],
  toml: [['Asia/Shanghai', 'Asia/Shanghai']],
  refusedText: ['Mars/Olympus', '+01:00', 'local', ' UTC', '2'],
  refusedToml: [2n],
});

describeKind('origin', {
  kind: origin(),
  text: [
    ['*', '*'],
    ['https://ops.example.org', 'https://ops.example.org'],
    ['HTTPS://Ops.example.org:443', 'https://ops.example.org'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://[::1]:80', 'http://[::1]'],
  ],
  toml: [['https://x', 'https://x']],
  refusedText: [
    '',
    'null',
    'x',
    'ops.example.org',
    'https://x/',
    'https://x/path',
    'https://u@x',
    'ftp://x',
    'https://',
    'https://*.x',
    'https://x:99999',
  ],
  refusedToml: [true],
});

describeKind('key pattern', {
  kind: keyPattern(),
  text: [
    ['*-cookie', '*-cookie'],
    ['a b', 'a b'],
  ],
  toml: [['x', 'x']],
  refusedText: ['', '  '],
  refusedToml: [1n],
});

describeKind('choice', {
  kind: choice(['debug', 'info']),
  text: [
    ['debug', 'debug'],
    ['INFO', 'info'],
  ],
  toml: [['info', 'info']],
  refusedText: ['', 'trace', 'inf', ' info'],
  refusedToml: [1n, true],
});
