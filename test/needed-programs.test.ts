import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { neededPrograms } from '../scripts/needed-programs.mjs';
import { PACKAGES } from '../scripts/programs.mjs';

const ROOT = join(import.meta.dirname, '..');

test('a test file needs what it starts, and what the modules that it imports start', () => {
  const needed = neededPrograms([
    'packages/cli/src/man-page.test.ts',
    'packages/cluster/src/membership/etcd-members.test.ts',
    'packages/contract/src/query/parse-query.test.ts',
  ]);
  expect(Object.fromEntries(needed)).toEqual({
    'packages/cli/src/man-page.test.ts': ['mandoc'],
    'packages/cluster/src/membership/etcd-members.test.ts': ['etcd'],
    'packages/contract/src/query/parse-query.test.ts': [],
  });
});

test('every program that a module says it starts has a Debian package', () => {
  const files = ['packages', 'test', 'e2e'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(ROOT, folder, path)),
  );
  const sources = files.filter((path) => path.endsWith('.ts') && !path.includes('node_modules'));
  const marked = sources.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/^ *\/\/ programs: (.+)$/gm)]);
  const names = marked.flatMap(([, list = '']) => list.split(' '));
  expect(names).toContain('clickhouse-server');
  expect(names.filter((name) => !Object.hasOwn(PACKAGES, name))).toEqual([]);
});
