import { choice, text } from './setting-kinds.ts';
import { describeKind } from './testing/describe-kind.ts';

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
  kind: text.string,
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

describeKind('base path', {
  kind: text.basePath,
  text: [
    ['', ''],
    ['/', ''],
    ['/ops', '/ops'],
    ['/ops/logs/', '/ops/logs'],
  ],
  toml: [['/a.b~c_d-e', '/a.b~c_d-e']],
  refusedText: ['ops', '//ops', '/ops//', '/../ops', '/ops/.', '/a b', '/a?b', '/a%20b', '/a"b', 'http://a/ops'],
  refusedToml: [1n],
});

describeKind('path', {
  kind: text.path,
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
  kind: text.host,
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
  kind: text.ip,
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
  kind: text.timeZone,
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
  kind: text.origin,
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
  kind: text.keyPattern,
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

const same = (...texts: string[]) => texts.map((text): [string, string] => [text, text]);

describeKind('algorithm', {
  kind: text.algorithm,
  text: same('RS256', 'PS512', 'ES384', 'EdDSA'),
  toml: same('ES256'),
  refusedText: ['', 'none', 'None', 'HS256', 'HS384', 'HS512', 'rs256', 'RSA1_5', 'dir'],
  refusedToml: [1n, true, ['RS256']],
});

describeKind('role rule', {
  kind: text.roleRule,
  text: same('ops=viewer', 'ops-*=viewer+config', 'a=b=admin', '*=viewer', '/team/a b=config'),
  toml: same('ops=admin'),
  refusedText: ['', 'ops', '=viewer', 'ops=', 'ops=root', 'ops=viewer+', 'ops=viewer,config', 'ops=Viewer', 'ops=none'],
  refusedToml: [1n, ['ops=viewer']],
});

describeKind('certificate rule', {
  kind: text.certificateRule,
  text: same(
    'CN:ops-*=viewer',
    'DNS:*.example.org=admin',
    'URI:spiffe://a/b=config',
    'EMAIL:a@b=viewer',
    'IP:10.*=admin',
  ),
  toml: same('CN:x=viewer+config'),
  refusedText: ['', 'ops=viewer', 'CN:=viewer', 'CN:ops', 'cn:ops=viewer', 'OU:ops=viewer', 'CN:ops=root'],
  refusedToml: [1n],
});

describeKind('file pattern', {
  kind: text.filePattern,
  text: same('audit*.log', 'a?.log', '*', 'ä b.log'),
  toml: same('audit.log'),
  refusedText: ['', ' ', 'a/b', '/etc/passwd', '../x'],
  refusedToml: [1n],
});

describeKind('URL of keys', {
  kind: text.keysUrl,
  text: same('', 'https://id.example.org/keys?x=1', 'http://127.0.0.1:8080/.well-known/jwks.json'),
  toml: same('https://id.example.org/keys'),
  refusedText: [
    'id.example.org/keys',
    'ftp://a/b',
    'file:///etc/keys',
    'https://',
    'https://u:p@a/keys',
    'https://a/#x',
  ],
  refusedToml: [1n],
});

describeKind('claim', {
  kind: text.claimPath,
  text: same('groups', 'realm_access.roles', 'https://x/groups'),
  toml: same('sub'),
  refusedText: ['', 'a..b', '.a', 'a.', 'a b', 'a.b.c.d.e.f.g.h.i'],
  refusedToml: [1n],
});

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
  kind: text.clusterName,
  text: [
    ['porthole', 'porthole'],
    ['Prod_7.eu-1', 'Prod_7.eu-1'],
  ],
  toml: [['node', 'node']],
  refusedText: ['', ' ', 'a b', 'a/b', 'ä', '*', 'x'.repeat(65)],
  refusedToml: [1n, true, ['x']],
});

describeKind('role', {
  kind: text.role,
  text: [
    ['node', 'node'],
    ['Broker_7-a', 'Broker_7-a'],
  ],
  toml: [['storage', 'storage']],
  refusedText: ['', ' ', 'a.b', 'a/b', 'ä', '*', 'x'.repeat(33)],
  refusedToml: [1n, true, ['x']],
});

describeKind('member id', {
  kind: text.memberId,
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
  kind: text.endpoint,
  text: ENDPOINTS,
  toml: ENDPOINTS,
  refusedText: [...NO_ENDPOINTS, 'e=http://a:1'],
  refusedToml: [1n, ['http://a:1']],
});

describeKind('member address', {
  kind: text.memberAddress,
  text: [
    ...ENDPOINTS,
    ['broker-1=http://10.0.0.7:7300/', 'broker-1=http://10.0.0.7:7300'],
    ['http://10.0.0.7:8080/ops/', 'http://10.0.0.7:8080/ops'],
  ],
  toml: [...ENDPOINTS, ['b:1=https://b', 'b:1=https://b']],
  refusedText: [
    ...NO_ENDPOINTS.filter((text) => text !== 'http://a:1/path'),
    'http://a:1/../b',
    '=http://a:1',
    '..=http://a:1',
    'a/b=http://a:1',
    'a=b=http://a:1',
    'a=',
  ],
  refusedToml: [1n, ['http://a:1']],
});

describeKind('network', {
  kind: text.network,
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

describeKind('zone of members', {
  kind: text.memberZone,
  text: [
    ['lindb-1=Asia/Shanghai', 'lindb-1=Asia/Shanghai'],
    ['10.0.0.7:3000=UTC', '10.0.0.7:3000=UTC'],
    ['lindb-*=America/St_Johns', 'lindb-*=America/St_Johns'],
  ],
  toml: [['*=Europe/Berlin', '*=Europe/Berlin']],
  refusedText: ['', 'lindb-1', 'lindb-1=', '=UTC', 'a/b=UTC', 'lindb-1=+08:00', 'lindb-1=Asia/Shangai', 'a=b=UTC'],
  refusedToml: [8n, true, ['a=UTC']],
});
