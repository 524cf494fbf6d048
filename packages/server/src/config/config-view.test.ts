import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { viewConfig } from './config-view.ts';
import { FORMAT_CORPUS } from './testing/format-corpus.ts';
import { unmark } from './testing/redaction-corpus.ts';

/** The settings of a text, as an object; a key of several lines is short for a table. */
async function settingsOf(path: string, text: string) {
  const { settings, format } = await viewConfig([{ path, text }], []);
  return { format, ...Object.fromEntries(settings.flat.map(({ key, value }) => [key, value])) };
}

describe('of a file in any format the secrets are masked, and nothing else is', () => {
  it.each(FORMAT_CORPUS)('$name', async ({ format, path, marked }) => {
    const { toml: text, redacted } = unmark(marked);
    const view = await viewConfig([{ path, text }], []);
    expect(view.format).toBe(format);
    expect(view.source).toBe(redacted);
    expect((await viewConfig([{ path, text: redacted }], [])).source).toBe(redacted);
  });

  it.each(FORMAT_CORPUS)('$name, as TOML and by key', async ({ path, marked }) => {
    const { toml: text, secrets } = unmark(marked);
    const { toml, settings } = await viewConfig([{ path, text }], []);
    const shown = toml + JSON.stringify(settings.flat);
    expect(secrets.filter((secret) => secret.length > 5 && shown.includes(secret))).toEqual([]);
    expect(Object.keys(parse(toml)).length).toBeGreaterThan(0);
  });
});

it('docs/security.md states the size and the results of the corpus of formats', async () => {
  const formats = [...new Set(FORMAT_CORPUS.map(({ format }) => format))];
  const rows = await Promise.all(
    formats.map(async (format) => {
      const shapes = FORMAT_CORPUS.filter((shape) => shape.format === format);
      let [secrets, masked] = [0, 0];
      for (const { path, marked } of shapes) {
        const before = unmark(marked);
        const { source } = await viewConfig([{ path, text: before.toml }], []);
        secrets += before.secrets.length;
        masked += before.secrets.filter((secret) => source === before.redacted || !source.includes(secret)).length;
      }
      return `| ${format} | ${shapes.length} | ${secrets} | ${((masked / secrets) * 100).toFixed(1)} % |`;
    }),
  );
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/security.md'), 'utf8');
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});

describe('settings are those of the format', () => {
  it('YAML: types, lists, aliases and merged keys', async () => {
    const text =
      'a: 1\nb: yes\nc: "1"\nbig: 12345678901234567890\nnone:\nlist: [1, x]\nbase: &base {x: 1, y: 2}\nuse:\n  <<: *base\n  y: 3\n';
    expect(await settingsOf('x.yaml', text)).toEqual({
      ...{ format: 'yaml', a: 1, b: 'yes', c: '1', big: '12345678901234567890', none: '', list: [1, 'x'] },
      ...{ 'base.x': 1, 'base.y': 2, 'use.x': 1, 'use.y': 3 },
    });
  });

  it('INI: sections, flags, comments, the last of two, lines that continue', async () => {
    const text =
      'top = 1\n[a]\nx = 1 # one\nskip-it\nx = 2\npath = "C:\\\\dir"\nlist =\n  one\n  two\n[b c]\nk: v # w\n  flag\n';
    expect(await settingsOf('x.ini', text)).toEqual({
      ...{ format: 'ini', top: 1, 'a.x': 2, 'a.skip-it': true, 'a.path': 'C:\\dir', 'a.list': 'one\n  two' },
      '"b c".k': 'v # w\n  flag',
    });
  });

  it('properties: a value that is also a table', async () => {
    expect(await settingsOf('x.properties', 'a.b=1\na.b.c=2\nd\\:e = \\u0041\\\n  B\n')).toEqual({
      ...{ format: 'properties', 'a.b': 1, 'a."b.c"': 2, '"d:e"': 'AB' },
    });
  });

  it('Redis: keys that are given again', async () => {
    expect(await settingsOf('redis.conf', 'save 900 1\nsave 300 10\nport 6379\nlogfile ""\ndir "/a b"\n')).toEqual({
      ...{ format: 'key-value', save: ['900 1', '300 10'], port: 6379, logfile: '', dir: '/a b' },
    });
  });

  it('nginx: blocks and their names', async () => {
    const text =
      'http { server { listen 80; location /a { root /x; } location /b { root /y; } } server { listen 81; } gzip on; }';
    expect(await settingsOf('nginx.conf', text)).toEqual({
      format: 'nginx',
      'http.server[0].listen': 80,
      'http.server[0].location."/a".root': '/x',
      'http.server[0].location."/b".root': '/y',
      'http.server[1].listen': 81,
      'http.gzip': 'on',
    });
  });

  it('XML: the root has no name, repeated elements are a list, a property is a key', async () => {
    const text = '<c a="1"><x>1</x><x>2 &lt; 3</x><property><name>k.v</name><value>w</value></property><e/></c>';
    expect(await settingsOf('c.xml', text)).toEqual({
      ...{ format: 'xml', a: '1', x: [1, '2 < 3'], '"k.v"': 'w', e: '' },
    });
  });
});

describe('without a name, the content decides', () => {
  it.each([
    ['toml', 'a = 1\n[b]\nc = "x"\n'],
    ['json', '// x\n{"a": 1}'],
    ['yaml', 'a: 1\nb:\n  - c\n'],
    ['xml', '<?xml version="1.0"?>\n<a><b>1</b></a>'],
    ['nginx', 'user www;\nhttp {\n  gzip on;\n}\n'],
    ['env', 'A=1\nB_C=some words\n'],
    ['properties', 'a.b=x\nc.d=y z\n'],
    ['ini', '[a]\nb = x y\nflag\n'],
    ['ini', 'b = x y\nc = z\n'],
    ['key-value', 'port 6379\nbind 127.0.0.1 ::1\n'],
    ['text', 'This is a sentence.\nAnd this is: another one.\n'],
    ['text', '\u0000\u0001\u0002'],
  ])('%s', async (format, text) => {
    expect((await viewConfig([{ path: '/etc/service', text }], [])).format).toBe(format);
  });
});

describe('several files', () => {
  it('are one configuration, each setting with its file and line', async () => {
    const files = [
      { path: '/etc/my.cnf', text: '[mysqld]\nport = 3306\npassword = Several-1\n' },
      { path: '/etc/conf.d/a.cnf', text: '# Several-1\n[mysqld]\nport = 3307\n' },
    ];
    const { settings, source, toml } = await viewConfig(files, []);
    expect(settings.flat).toMatchObject([
      { key: 'mysqld.port', value: 3307, file: '/etc/conf.d/a.cnf', line: 3 },
      { key: 'mysqld.password', value: '******', secret: true, file: '/etc/my.cnf', line: 3 },
    ]);
    expect(source).toBe(
      '==> /etc/my.cnf <==\n[mysqld]\nport = 3306\npassword = ******\n\n==> /etc/conf.d/a.cnf <==\n# ******\n[mysqld]\nport = 3307\n',
    );
    expect(parse(toml)).toEqual({ mysqld: { port: 3307, password: '******' } });
  });

  it('replace what an earlier one has below a key, and keep the rest', async () => {
    const files = [
      { path: 'a.yaml', text: 'a: {x: 1, y: 2}\nlist: [1, 2]\n' },
      { path: 'b.json', text: '{"a": {"y": 3}, "list": [3]}' },
    ];
    expect(parse((await viewConfig(files, [])).toml)).toEqual({ a: { x: 1, y: 3 }, list: [3] });
  });
});

describe('hostile input', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'.replace(/./g, (name) => `${name}: &${name} [${`*${String.fromCharCode(name.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`;
  it.each([
    ['aliases of aliases', 'x.yaml', bomb],
    ['an alias of itself', 'x.yaml', 'a: &a\n  b: *a\n'],
    ['an unknown alias', 'x.yaml', 'a: *b\n'],
    ['deep YAML', 'x.yaml', `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['broken YAML', 'x.yaml', 'a: [1\nb: 2\n'],
    ['deep JSON', 'x.json', `{"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['broken JSON', 'x.json', '{"a": }'],
    ['deep blocks', 'nginx.conf', `${'a {'.repeat(20_000)}${'}'.repeat(20_000)}`],
    ['an open block', 'nginx.conf', 'a { b c;'],
    ['deep XML', 'x.xml', `${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}`],
    ['XML that is not closed', 'x.xml', '<a><b>1</a>'],
    ['many values', 'x.ini', 'k\n'.repeat(50_001)],
  ])('is shown as text, with its reason and its secrets masked: %s', async (_what, path, text) => {
    const view = await viewConfig([{ path, text: `${text}\n# password = Hostile-1-secret\n` }], []);
    expect(view.format).toBe('text');
    expect(view.problems).toEqual([expect.stringContaining(`${path}: it cannot be read as`)]);
    expect(view.toml + view.source).not.toContain('Hostile-1');
    expect(Object.keys(parse(view.toml))).toEqual(['text']);
  });

  it('of an XML document type is never expanded', async () => {
    const text = '<!DOCTYPE a [<!ENTITY x "expanded"><!ENTITY y SYSTEM "file:///etc/passwd">]><a><b>&x;&y;</b></a>';
    const { toml } = await viewConfig([{ path: 'a.xml', text }], []);
    expect(parse(toml)).toEqual({ b: '&x;&y;' });
  });

  it.each([
    ['x.yaml', '__proto__: {a: 1}\nconstructor: 2\n'],
    ['x.json', '{"__proto__": {"a": 1}, "constructor": 2}'],
    ['x.ini', '[__proto__]\na = 1\n[x]\nconstructor = 2\n'],
    ['x.xml', '<r><__proto__><a>1</a></__proto__><constructor>2</constructor></r>'],
    ['x.properties', '__proto__.a=1\nconstructor=2\n'],
  ])('in names is a plain key: %s', async (path, text) => {
    const { settings, toml } = await viewConfig([{ path, text }], []);
    expect(settings.flat.map(({ key }) => key)).toContain('__proto__.a');
    expect(toml).toContain('__proto__');
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });
});
