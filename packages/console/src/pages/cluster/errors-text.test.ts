import { expect, test } from 'vitest';
import { errorsText } from './errors-text.ts';

const up = { state: 'up' } as const;
const failed = { state: 'failed' } as const;
const left = { state: 'left' } as const;

test.each([
  [[up], null, 'Errors on this node', false],
  [[up, up], null, 'Errors across the cluster', false],
  [[up], { errors: 0, counted: 1 }, 'No errors on this node', false],
  [[up, up, left], { errors: 0, counted: 2 }, 'No errors on all 2 nodes', false],
  [[up, up, failed], { errors: 0, counted: 2 }, 'No errors on 2 of 3 nodes', true],
  [[up, up], { errors: 1, counted: 2 }, '1 error on all 2 nodes', true],
  [[up, failed], { errors: 1200, counted: 1 }, '1,200 errors on 1 of 2 nodes', true],
  [[up], { errors: 0, counted: 0 }, 'Errors not counted', true],
  [[up, failed], { errors: 0, counted: 0 }, 'Errors not counted on any node', true],
])('%j with %j: %s', (nodes, counts, text, isAlarm) => {
  expect(errorsText(nodes, counts)).toEqual({ text, isAlarm });
});
