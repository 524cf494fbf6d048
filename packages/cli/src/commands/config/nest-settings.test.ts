import { flattenToml } from '@porthole/server/config';
import { expect, test } from 'vitest';
import { nestSettings } from './nest-settings.ts';
import { selectSettings } from './select-settings.ts';

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

test('keys that nothing has are told with those that are near', () => {
  const { settings, unknown } = selectSettings(flattenToml('[http]\nport = 1\n'), ['http.prot', 'nothing']);
  expect({ settings, unknown }).toEqual({
    settings: [],
    unknown: [
      { key: 'http.prot', near: ['http.port'] },
      { key: 'nothing', near: [] },
    ],
  });
});
