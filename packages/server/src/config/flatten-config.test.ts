import { expect, it } from 'vitest';
import { flattenToml } from './flatten-config.ts';
import { TomlError } from './formats/toml-error.ts';

function flat(toml: string, secretKeys: readonly string[] = []): unknown[] {
  return flattenToml(toml, { secretKeys }).map(({ key, value, secret }) =>
    secret ? [key, value, 'secret'] : [key, value],
  );
}

it('every value is given under its whole path, in the order of the text', () => {
  const toml = 'a.b = 1\n"c d" = "x"\n[e."f.g"]\nh = { i = [1, [2]], j = {} }\n[e]\nk = []\n[empty]\n';
  expect(flat(toml)).toEqual([
    ['a.b', 1],
    ['"c d"', 'x'],
    ['e."f.g".h.i', [1, [2]]],
    ['e."f.g".h.j', {}],
    ['e.k', []],
  ]);
});

it('tables in arrays are numbered', () => {
  const toml =
    '[[s]]\nhost = "a"\n[[s]]\nhost = "b"\n[[s.t]]\nx = 1\n[[s.t]]\nx = 2\n[u]\nv = [{ w = 1 }, { w = 2 }, 3]\n';
  expect(flat(toml)).toEqual([
    ['s[0].host', 'a'],
    ['s[1].host', 'b'],
    ['s[1].t[0].x', 1],
    ['s[1].t[1].x', 2],
    ['u.v[0].w', 1],
    ['u.v[1].w', 2],
    ['u.v[2]', 3],
  ]);
});

it('values that JSON does not know are given as they are written', () => {
  const toml =
    'a = 1979-05-27T07:32:00Z\nb = 07:32:00\nc = 9223372036854775807\nd = -inf\ne = nan\nf = 0xff\ng = 1_000\nh = 1.5\ni = true\n';
  expect(flat(toml)).toEqual([
    ['a', '1979-05-27T07:32:00Z'],
    ['b', '07:32:00'],
    ['c', '9223372036854775807'],
    ['d', '-inf'],
    ['e', 'nan'],
    ['f', 255],
    ['g', 1000],
    ['h', 1.5],
    ['i', true],
  ]);
});

it('secrets are masked, empty ones stay empty, and booleans are not secret', () => {
  const toml =
    'password = "hunter2"\npwd = ""\npin-token = 5\nuse-token = true\ntokens = ["a", ""]\n[secrets]\na = { b = "c" }\n';
  expect(flat(toml)).toEqual([
    ['password', '******', 'secret'],
    ['pwd', '', 'secret'],
    ['pin-token', '******', 'secret'],
    ['use-token', true],
    ['tokens', ['******', ''], 'secret'],
    ['secrets.a.b', '******', 'secret'],
  ]);
  expect(flat('motto = "x"', ['motto'])).toEqual([['motto', '******', 'secret']]);
});

it('credentials and copies of secrets within other values are masked', () => {
  expect(flat('url = "pg://u:pw@h"\ncmd = "login hunter2"\npassword = "hunter2"\n')).toEqual([
    ['url', 'pg://u:******@h'],
    ['cmd', 'login ******'],
    ['password', '******', 'secret'],
  ]);
});

it('names of object internals are names like others', () => {
  expect(flat('__proto__.x = 1\nconstructor = 2\n')).toEqual([
    ['__proto__.x', 1],
    ['constructor', 2],
  ]);
});

it('a text that is not TOML is refused', () => {
  expect(() => flattenToml('a = ')).toThrow(TomlError);
});
