import { expect, test } from 'vitest';
import { Actions } from './notice.ts';

test('actions of a page are available while it is mounted', () => {
  const actions = new Actions();
  const names = () => actions.list.value.map(({ name }) => name);
  const leaveFirst = actions.put([{ name: 'Copy link', run() {} }]);
  const leaveSecond = actions.put([{ name: 'Follow', keys: 'f', run() {} }]);
  expect(names()).toEqual(['Copy link', 'Follow']);
  leaveFirst();
  expect(names()).toEqual(['Follow']);
  leaveSecond();
  expect(names()).toEqual([]);
});
