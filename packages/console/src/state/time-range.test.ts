import { expect, it } from 'vitest';
import { resolveRange } from './time-range.ts';

it.each([
  [null, {}],
  [{ kind: 'last', spanMs: 1000 } as const, { fromMs: 9000 }],
  [{ kind: 'fixed', fromMs: 1, toMs: null } as const, { fromMs: 1 }],
  [{ kind: 'fixed', fromMs: null, toMs: 2 } as const, { toMs: 2 }],
  [{ kind: 'fixed', fromMs: 1, toMs: 2 } as const, { fromMs: 1, toMs: 2 }],
])('the range %j is the filter %j', (range, filter) => {
  expect(resolveRange(range, 10_000)).toEqual(filter);
});
