import { expect, it } from 'vitest';
import { flattenToml } from './fetch-settings.ts';

it('every value is under its whole path, spelt as the settings of a node are', () => {
  const text = `
top = 1
big = 9223372036854775807
rate = inf
day = 2026-11-15
list = [1, "two", [true]]
[a."b c".d]
key = 'value'
[[servers]]
host = "x"
[[servers]]
host = "y"
inner = { port = 1 }
[empty]
`;
  expect(Object.fromEntries(flattenToml(text))).toEqual({
    top: 1,
    big: '9223372036854775807',
    rate: 'inf',
    day: '2026-11-15',
    list: [1, 'two', [true]],
    'a."b c".d.key': 'value',
    'servers[0].host': 'x',
    'servers[1].host': 'y',
    'servers[1].inner.port': 1,
  });
});

it('a key that looks like part of every object is one like any other', () => {
  const settings = flattenToml('[__proto__]\npolluted = 1\n[constructor]\nname = "x"\n');
  expect([...settings.keys()]).toEqual(['__proto__.polluted', 'constructor.name']);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

it('what is not TOML, or nested without end, is refused', () => {
  expect(() => flattenToml('a = ')).toThrow();
  expect(() => flattenToml(`a = ${'['.repeat(500)}${']'.repeat(500)}`)).toThrow();
  expect(() => flattenToml(`[${'a.'.repeat(100)}a]\nb = 1`)).toThrow();
});
