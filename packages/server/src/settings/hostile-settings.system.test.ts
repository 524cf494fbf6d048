import { afterAll, beforeAll, expect, test } from 'vitest';
import { SettingsDir } from './testing/settings-dir.ts';

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

test('names of the object prototype are unknown keys like any other and change nothing', async () => {
  const text =
    '[__proto__]\nport = 1\n[constructor]\nx = 1\n[http]\n__proto__ = 5\ntoString = 6\n[http.constructor]\ny = 1\n';
  expect(await dir.messages(text)).toEqual([
    'porthole.toml:1: unknown table "__proto__"',
    'porthole.toml:3: unknown table "constructor"',
    'porthole.toml:6: unknown key "http.__proto__"',
    'porthole.toml:7: unknown key "http.toString"',
    'porthole.toml:8: unknown key "http.constructor"',
  ]);
  expect({}).not.toHaveProperty('port');
  const options: object = JSON.parse('{"__proto__":{"port":1},"http":{"__proto__":{"port":1},"constructor":1}}');
  expect((await dir.problems({ options })).map(({ message }) => message)).toEqual([
    'option __proto__: unknown section',
    'option http.__proto__: unknown setting',
    'option http.constructor: unknown setting',
  ]);
  const flags = { constructor: 'x', 'toString.call': 'y' };
  expect((await dir.problems({ flags })).map(({ code }) => code)).toEqual(['UNKNOWN_KEY', 'UNKNOWN_KEY']);
});

test('deep nesting ends in a message, not in the end of the stack', async () => {
  const [message] = await dir.messages(`x = ${'['.repeat(100_000)}`);
  expect(message).toMatch(/^porthole\.toml:1:\d+: not valid TOML: .*nested/);
  const dotted = Array.from({ length: 20_000 }, () => 'a').join('.');
  expect(await dir.messages(`${dotted} = 1`)).toEqual(['porthole.toml:1: unknown table "a"']);
  expect(await dir.messages(`[http.${dotted}]`)).toEqual(['porthole.toml:1: unknown key "http.a"']);
});

test('huge numbers are refused in a short message', async () => {
  const digits = '9'.repeat(5000);
  const [inFile = ''] = await dir.messages(`http.port = ${digits}`);
  expect(inFile).toMatch(/^porthole\.toml:1/);
  expect(inFile.length).toBeLessThan(200);
  const [inEnv] = await dir.problems({ env: { PORTHOLE_HTTP_PORT: digits } });
  expect(inEnv?.message).toBe(`environment PORTHOLE_HTTP_PORT: "${'9'.repeat(80)}..." is not a port (0 to 65535)`);
  expect(await dir.messages('http.port = inf')).toEqual([
    'porthole.toml:1: http.port: expected a port, found a float Infinity',
  ]);
});

test('NUL bytes and control characters never reach a path, a name or the terminal', async () => {
  expect(await dir.messages('[logging]\ndir = "a\\u0000b"\n[node]\nhost-name = "a\\u001B[2Jb\\n"\n')).toEqual([
    'porthole.toml:2: logging.dir: "a\\u{0}b" is not a path (at most 4096 characters, no control characters; "~" is not expanded)',
    'porthole.toml:4: node.host-name: "a\\u{1b}[2Jb\\u{a}" is not a string (at most 4096 characters, no control characters)',
  ]);
  expect(await dir.messages('[http]\n"\\u001b[2J\\nporthole: all is well" = 1')).toEqual([
    'porthole.toml:2: unknown key "http.\\u{1b}[2J\\u{a}porthole: all is well"',
  ]);
  expect(await dir.messages('[http]\nport = 1\u0000')).toEqual([
    expect.stringMatching(/^porthole\.toml:2:\d+: not valid TOML: [\x20-\x7e]+$/),
  ]);
});

test('a name from the environment cannot write to the terminal either', async () => {
  const { warnings } = await dir.load({ env: { 'PORTHOLE_HTTP_PORT\u001b': '1' } });
  expect(warnings).toEqual([
    'environment PORTHOLE_HTTP_PORT\\u{1b} is not a setting - did you mean PORTHOLE_HTTP_PORT?',
  ]);
});

test('a file of nothing but unknown keys is reported in full', async () => {
  const keys = Array.from({ length: 3000 }, (_, index) => `max-hedaer-${index} = 1`).join('\n');
  expect(await dir.messages(`[http]\n${keys}`)).toHaveLength(3000);
});
