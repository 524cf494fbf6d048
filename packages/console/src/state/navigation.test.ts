import { expect, test } from 'vitest';
import { Navigation } from './navigation.ts';
import { ALL_LOGS } from './view.ts';

test('without a window it only remembers where it went', () => {
  const navigation = new Navigation(undefined);
  navigation.start();
  expect(navigation.view.value).toEqual({ page: 'cluster' });
  navigation.go({ ...ALL_LOGS, text: 'slow' });
  expect(navigation.view.value).toMatchObject({ page: 'logs', text: 'slow' });
});
