import type { NodeClient } from '@porthole/client';
import type { NodeDescription } from '@porthole/contract';
import { expect, it } from 'vitest';
import { type FlagValue, Invocation } from '../invocation.ts';
import type { Terminal } from '../output/terminal.ts';
import { requireQueries } from './source-flags.ts';

const check = (flags: Record<string, FlagValue>, capabilities: string[]) => () =>
  requireQueries(
    new Invocation([], flags, {} as Terminal),
    { url: 'http://old' } as NodeClient,
    { capabilities } as NodeDescription,
  );

it('a node that would ignore a query is not asked', () => {
  expect(check({ query: 'shard=13' }, ['logSearch'])).toThrow('the node at http://old does not support --query');
  expect(check({ query: 'shard=13' }, ['logSearch', 'logTop'])).not.toThrow();
  expect(check({ level: 'warn' }, ['logSearch'])).not.toThrow();
});
