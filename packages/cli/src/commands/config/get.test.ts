import { flattenToml } from '@porthole/server/config';
import { expect, test } from 'vitest';
import { isWithin, nestSettings, parseKeyPath, selectSettings } from './get.ts';

const TEXT = `
top = 1
[a."b.c"]
list = [1, [2]]
inline = { x = 1, y = { z = "2" } }
[[servers]]
name = "one"
[[servers]]
name = "two"
[__proto__]
polluted = true
`;

function nested(...keys: string[]): unknown {
  return JSON.parse(JSON.stringify(nestSettings(selectSettings(flattenToml(TEXT), keys).settings)));
}

test('settings become tables within tables, whatever they are called', () => {
  expect(JSON.stringify(nested())).toBe(
    JSON.stringify({
      top: 1,
      a: { 'b.c': { list: [1, [2]], inline: { x: 1, y: { z: '2' } } } },
      servers: [{ name: 'one' }, { name: 'two' }],
      ['__proto__']: { polluted: true },
    }),
  );
  expect('polluted' in {}).toBe(false);
});

test('of an array of tables only those that are wanted are there', () => {
  expect(nested('servers[1]')).toEqual({ servers: [{ name: 'two' }] });
  expect(nested('a."b.c".inline.y')).toEqual({ a: { 'b.c': { inline: { y: { z: '2' } } } } });
});

test('unknown keys are reported with similar ones', () => {
  const { settings, unknown } = selectSettings(flattenToml('[http]\nport = 1\n'), ['http.prot', 'nothing']);
  expect({ settings, unknown }).toEqual({
    settings: [],
    unknown: [
      { key: 'http.prot', near: ['http.port'] },
      { key: 'nothing', near: [] },
    ],
  });
});

test.each([
  ['http', ['http']],
  ['http.max-streams', ['http', 'max-streams']],
  ['servers[0]."host name".port', ['servers', 0, 'host name', 'port']],
  ['a[1][2]', ['a', 1, 2]],
  ['"a.b"', ['a.b']],
  ['"say \\"hi\\""', ['say "hi"']],
  ['', undefined],
  ['.a', ['a']],
  ['a..b', undefined],
  ['a.', undefined],
  ['a b', undefined],
  ['a[x]', undefined],
  ['"open', undefined],
])('%s is read as %j', (text, path) => {
  expect(parseKeyPath(text)).toEqual(path);
});

test('a path is within itself and what it begins with, part by part', () => {
  expect(isWithin(['http', 'port'], ['http'])).toBe(true);
  expect(isWithin(['http', 'port'], ['http', 'port'])).toBe(true);
  expect(isWithin(['https', 'port'], ['http'])).toBe(false);
  expect(isWithin(['http'], ['http', 'port'])).toBe(false);
});
