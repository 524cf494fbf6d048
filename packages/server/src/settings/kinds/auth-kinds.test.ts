import { describeKind } from '../testing/describe-kind.ts';
import { algorithm, certificateRule, claimPath, filePattern, keysUrl, roleRule } from './auth-kinds.ts';

const same = (...texts: string[]) => texts.map((text): [string, string] => [text, text]);

describeKind('algorithm', {
  kind: algorithm(),
  text: same('RS256', 'PS512', 'ES384', 'EdDSA'),
  toml: same('ES256'),
  refusedText: ['', 'none', 'None', 'HS256', 'HS384', 'HS512', 'rs256', 'RSA1_5', 'dir'],
  refusedToml: [1n, true, ['RS256']],
});

describeKind('role rule', {
  kind: roleRule(),
  text: same('ops=viewer', 'ops-*=viewer+config', 'a=b=admin', '*=viewer', '/team/a b=config'),
  toml: same('ops=admin'),
  refusedText: ['', 'ops', '=viewer', 'ops=', 'ops=root', 'ops=viewer+', 'ops=viewer,config', 'ops=Viewer', 'ops=none'],
  refusedToml: [1n, ['ops=viewer']],
});

describeKind('certificate rule', {
  kind: certificateRule(),
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
  kind: filePattern(),
  text: same('audit*.log', 'a?.log', '*', 'ä b.log'),
  toml: same('audit.log'),
  refusedText: ['', ' ', 'a/b', '/etc/passwd', '../x'],
  refusedToml: [1n],
});

describeKind('URL of keys', {
  kind: keysUrl(),
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
  kind: claimPath(),
  text: same('groups', 'realm_access.roles', 'https://x/groups'),
  toml: same('sub'),
  refusedText: ['', 'a..b', '.a', 'a.', 'a b', 'a.b.c.d.e.f.g.h.i'],
  refusedToml: [1n],
});
