import { expect, it } from 'vitest';
import { webhookList } from './setting-kinds.ts';
import { parseWebhooks } from './webhooks.ts';

const OPS = { name: 'ops', url: 'https://chat.example.org/hooks/1' };

it('webhooks have defaults, and paths are those of the settings file', () => {
  const { webhooks, problems } = parseWebhooks([OPS, { name: 'chat', 'url-file': 'url', level: 'error' }], '/etc/node');
  expect(problems).toEqual([]);
  expect(webhooks).toEqual([
    { ...OPS, kinds: [], level: 'warn', format: 'json' },
    { name: 'chat', 'url-file': '/etc/node/url', kinds: [], level: 'error', format: 'json' },
  ]);
});

it('a flag has them as JSON, and a file as tables', () => {
  const read = webhookList.read(`${JSON.stringify(OPS)},{"name":"b","url":"http://b"}`, { form: 'text', baseDir: '/' });
  expect(read).toEqual({ value: [expect.stringContaining('"ops"'), expect.stringContaining('"b"')] });
  const texts = 'value' in read ? read.value : [];
  expect(webhookList.toToml?.(texts)).toMatch(/^\[\{ name = "ops", url = "https:/);
  expect(webhookList.read('{', { form: 'text', baseDir: '/' })).toEqual({ refused: 'not valid JSON' });
});

it.each<[unknown, string]>([
  [{ ...OPS, name: '../x' }, 'name must be'],
  [{ name: 'a' }, 'a needs url or url-file'],
  [{ ...OPS, 'url-file': 'x' }, 'not both'],
  [{ ...OPS, url: 'file:///etc/passwd' }, 'url of ops must be'],
  [{ ...OPS, url: 'https://user:word@host/' }, 'without a user and a password'],
  [{ ...OPS, kinds: ['nothing'] }, 'kinds of ops must be'],
  [{ ...OPS, level: 'loud' }, 'level of ops'],
  [{ ...OPS, format: 'xml' }, 'format of ops'],
  [{ ...OPS, secret: 'in clear' }, 'unknown key "secret"'],
  [{ ...OPS, 'secret-file': 7 }, 'secret-file of ops must be a path'],
  ['no webhook', 'name must be'],
])('refuses %j', (entry, problem) => {
  expect(parseWebhooks([entry], '/').problems.join()).toContain(problem);
});

it('names are unique, and there are not too many', () => {
  expect(parseWebhooks([OPS, OPS], '/').problems).toEqual(['two webhooks have the same name']);
  const many = Array.from({ length: 17 }, (_, index) => ({ ...OPS, name: `n${index}` }));
  expect(parseWebhooks(many, '/').problems).toEqual(['there are more than 16 webhooks']);
});
