import { describe, expect, it } from 'vitest';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { fieldActions, missingActions, valueActions } from './field-actions.tsx';

/** The change of the action with this label. */
function run(actions: typeof valueActions, field: string, value: string, label: string, view = ALL_LOGS) {
  let changed: Partial<LogsView> = {};
  const found = actions(field, value, { view, change: (change) => (changed = change) });
  const action = found.find((candidate) => candidate.label === label);
  if (!action) throw new Error(`only ${found.map((other) => other.label).join(', ')}`);
  action.run();
  return changed;
}

describe('a value', () => {
  it.each([
    ['shard', '13', 'Only records with shard = 13', 'shard=13'],
    ['shard', '13', 'Without shard = 13', '-shard=13'],
    ['source', 'query/exec.go:12', 'Only records with source = query/exec.go:12', 'source=query/exec.go:12'],
    ['component', 'Query Leaf', 'Without component = Query Leaf', '-component="Query Leaf"'],
    ['context.level', 'a*', 'Only records with context.level = a*', 'context.level="a*"'],
    ['k8s.io/name', 'x', 'Only records with k8s.io/name = x', '"k8s.io/name"=x'],
    ['note', '', 'Only records with note = ""', 'note=""'],
    ['note', '") OR level=error', 'Only records with note = ") OR level=error', 'note="\\") OR level=error"'],
  ])('%s = %j: %s', (field, value, label, query) => {
    expect(run(valueActions, field, value, label)).toEqual({ query });
  });

  it('is added to the query once; including and excluding it replace each other', () => {
    const view = { ...ALL_LOGS, query: 'level>=warn shard=13' };
    expect(run(valueActions, 'shard', '13', 'Only records with shard = 13', view)).toEqual({ query: view.query });
    expect(run(valueActions, 'shard', '13', 'Without shard = 13', view)).toEqual({ query: 'level>=warn -shard=13' });
  });

  it('is cut in labels, and is no condition if it is very long', () => {
    const labels = (value: string) =>
      valueActions('a', value, { view: ALL_LOGS, change() {} }).map(({ label }) => label);
    expect(labels('x\n'.repeat(50))[0]).toBe(`Only records with a = ${'x↵'.repeat(30)}…`);
    expect(labels('x'.repeat(501))).toEqual(['Count by a', 'Show a as column', 'Pin a to the facets']);
  });
});

it('records without a field are selected by its absence', () => {
  const missing = (field: string, _value: string, deps: Parameters<typeof missingActions>[1]) =>
    missingActions(field, deps);
  expect(run(missing, 'shard', '', 'Only records without shard')).toEqual({ query: '-shard:*' });
  expect(run(missing, 'shard', '', 'Only records with shard')).toEqual({ query: 'shard:*' });
});

it('a field is counted in the field list, and shown as a column or not', () => {
  const ofField = (field: string, _value: string, deps: Parameters<typeof fieldActions>[1]) =>
    fieldActions(field, deps);
  const view = { ...ALL_LOGS, columns: ['a'], countedBy: ['a'] };
  expect(run(ofField, 'b', '', 'Count by b', view)).toEqual({ hasFields: true, countedBy: ['a', 'b'] });
  expect(run(ofField, 'a', '', 'Count by a', view)).toEqual({ hasFields: true, countedBy: ['a'] });
  expect(run(ofField, 'b', '', 'Show b as column', view)).toEqual({ columns: ['a', 'b'] });
  expect(run(ofField, 'a', '', 'Remove column a', view)).toEqual({ columns: [] });
});
