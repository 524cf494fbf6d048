import { expect, test } from 'vitest';
import { checkNodeVersion } from './check-node-version.ts';
import { THIS_SYSTEM } from './system-facts.ts';

test.each([
  ['18.20.4', 'problem'],
  ['20.18.3', 'problem'],
  ['20.19.0', 'warning'],
  ['22.1.0', 'ok'],
  ['24.11.1', 'ok'],
] as const)('Node.js %s is %s', (nodeVersion, state) => {
  expect(checkNodeVersion({ ...THIS_SYSTEM, nodeVersion }).state).toBe(state);
});
