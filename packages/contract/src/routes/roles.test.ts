import { expect, it } from 'vitest';
import { isRole, mayUse, type Role, type RouteRole } from './route.ts';

it.each<[Role[], RouteRole[]]>([
  [[], ['none', 'any']],
  [['viewer'], ['none', 'any', 'viewer']],
  [['config'], ['none', 'any', 'config']],
  [
    ['viewer', 'config'],
    ['none', 'any', 'viewer', 'config'],
  ],
  [['admin'], ['none', 'any', 'viewer', 'config', 'admin']],
])('the roles %j open %j', (roles, opened) => {
  const all: RouteRole[] = ['none', 'any', 'viewer', 'config', 'admin'];
  expect(all.filter((wanted) => mayUse(roles, wanted))).toEqual(opened);
});

it('only the names of the list are roles', () => {
  expect(['viewer', 'config', 'admin', 'any', 'none', 'Admin', ''].filter(isRole)).toEqual([
    'viewer',
    'config',
    'admin',
  ]);
});
