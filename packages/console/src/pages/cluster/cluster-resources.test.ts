import { expect, test } from 'vitest';
import { isUnconfigured } from './cluster-resources.ts';

function entry(key: string, changed: boolean) {
  return { key, value: 1, default: 0, changed, source: 'flag', secret: false } as const;
}

test('a node with nothing but ports set is unconfigured', () => {
  const settings = [entry('http.port', true), entry('grpc.port', true), entry('service.log-dir', false)];
  expect(isUnconfigured({ observes: 'self', settings })).toBe(true);
  expect(isUnconfigured({ observes: 'self', settings: [...settings, entry('logging.level', true)] })).toBe(false);
  expect(isUnconfigured({ observes: 'service', settings: [] })).toBe(false);
});
