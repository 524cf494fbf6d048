import { expect, test } from 'vitest';
import { keyGroups } from './key-groups.ts';

test('every meaning stands once in its group, with all keys that do it', () => {
  for (const { keys } of keyGroups()) {
    const meanings = keys.map(({ meaning }) => meaning);
    expect(new Set(meanings).size).toBe(meanings.length);
  }
  const [, logKeys] = keyGroups();
  expect(logKeys?.keys).toContainEqual({ shown: 'j ↓', meaning: 'next line' });
});
