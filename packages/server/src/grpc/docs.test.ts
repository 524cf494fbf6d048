import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRoute } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { loadServiceDefinition, METHOD_ROUTES, type MethodName } from './service-definition.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/grpc.md'), 'utf8');

describe('docs/grpc.md', () => {
  it('lists exactly the methods of the service, their responses and the route of each', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| (one message|a stream) \| `(\S+)` \|/gm)];
    const documented = rows.map(([, method, kind, route]) => `${method} ${kind} ${route}`);
    const actual = Object.entries(loadServiceDefinition()).map(([name, { responseStream }]) => {
      const { path } = getRoute(METHOD_ROUTES[name as MethodName]);
      return `${name} ${responseStream ? 'a stream' : 'one message'} ${path}`;
    });
    expect(documented.sort()).toEqual(actual.sort());
  });

  it('names settings that exist', async () => {
    const { SETTING_DEFINITIONS } = await import('../settings/settings.ts');
    const keys = new Set(SETTING_DEFINITIONS.map(({ key }) => key));
    const named = [...page.matchAll(/`((?:http|grpc|tls|node)\.[a-z-]+)`/g)].map(([, key = '']) => key);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((key) => !keys.has(key))).toEqual([]);
  });
});
