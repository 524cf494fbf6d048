import { expect, test } from 'vitest';
import { Preferences } from '../../state/preferences.ts';
import { rememberQuery } from './typed-query.ts';

test('the last queries are remembered once each, newest first, and not all', () => {
  const kept = new Preferences(undefined);
  for (let number = 0; number < 100; number++) rememberQuery(`a=${number} `, kept);
  rememberQuery('x'.repeat(5000), kept);
  rememberQuery(' ', kept);
  rememberQuery('a=98', kept);
  expect(kept.queries.value).toHaveLength(30);
  expect(kept.queries.value.slice(0, 3)).toEqual(['a=98', 'a=99', 'a=97']);
});
