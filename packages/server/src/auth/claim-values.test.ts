import { expect, it } from 'vitest';
import { claimValues } from './claim-values.ts';

it.each([
  [{ groups: ['a', 'b'] }, 'groups', ['a', 'b']],
  [{ groups: 'a' }, 'groups', ['a']],
  [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
  [{ 'https://x.org/groups': ['a'] }, 'https://x.org/groups', ['a']],
  [{ groups: ['a', 1, null, { b: 1 }] }, 'groups', ['a']],
  [{ groups: 7 }, 'groups', []],
  [{}, 'groups', []],
  [{ a: null }, 'a.b', []],
  [{ a: 'text' }, 'a.length', []],
  [{}, '__proto__.constructor.name', []],
])('of %j at %s: %j', (claims, path, values) => {
  expect(claimValues(claims, path)).toEqual(values);
});
