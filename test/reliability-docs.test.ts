import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

it('every test that docs/reliability.md names is there', () => {
  const text = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
  const named = [...text.matchAll(/`((?:e2e|test|packages)\/[^`]+\.test\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
