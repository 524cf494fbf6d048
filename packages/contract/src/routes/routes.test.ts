import { LEVELS } from '@porthole/logs/query';
import { describe, expect, it } from 'vitest';
import { SCHEMAS, type SchemaName } from '../schemas/generated/schemas.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { getRoute, ROUTE_IDS, ROUTES } from './routes.ts';

describe('the route table', () => {
  it('keeps the paths of the contract', () => {
    expect([ROUTES.config.path, ROUTES.logList.path, ROUTES.logView.path]).toEqual([
      '/api/v1/config',
      '/api/v1/log/list',
      '/api/v1/log/view',
    ]);
  });

  it('has each path once for a method, below /api/v1 unless it is about running the node or a page', () => {
    const paths = ROUTE_IDS.map(getRoute).flatMap(({ path, aliases = [] }) => [path, ...aliases]);
    const operations = ROUTE_IDS.map(getRoute).map(({ path, method }) => `${method} ${path}`);
    expect(new Set(operations).size).toBe(operations.length);
    const others = paths.filter((path) => !path.startsWith('/api/v1/'));
    expect(others.sort()).toEqual([
      '/',
      '/assets/porthole.css',
      '/assets/porthole.svg',
      '/assets/{name}',
      '/config',
      '/docs',
      '/health/live',
      '/health/ready',
      '/incidents',
      '/logs',
      '/loki/api/v1/tail',
      '/loki/api/v1/{operation}',
      '/mcp',
      '/metrics',
      '/nodes',
      '/nodes/{id}',
      '/openapi.json',
    ]);
  });

  it('requires credentials for logs and configurations', () => {
    expect(ROUTE_IDS.filter((id) => getRoute(id).role === 'none')).toEqual([
      'live',
      'ready',
      'console',
      'asset',
      'style',
      'icon',
    ]);
  });

  it('requires the role config for configurations', () => {
    const roles = ROUTE_IDS.filter((id) => /config|setting/i.test(id)).map((id) => getRoute(id).role);
    expect(new Set(roles)).toEqual(new Set(['config']));
    expect(ROUTE_IDS.filter((id) => getRoute(id).role === 'any')).toEqual([
      'session',
      'downloadTicket',
      'metrics',
      'mcp',
      'openapi',
      'docs',
    ]);
  });

  it('counts every response that reads a log file as a stream', () => {
    const reading = ROUTE_IDS.filter((id) =>
      getRoute(id).parameters.some(({ name }) => name === 'file' || name === 'src'),
    );
    // Only both ends of one file are read, which the list without a name does of every file.
    expect(reading.filter((id) => !getRoute(id).stream)).toEqual(['logFiles']);
  });
});

describe('the schemas', () => {
  it('are exact: every object names its fields and allows no others, unless it says that it holds any', () => {
    const loose: unknown[] = [];
    const visit = (schema: unknown) => {
      if (typeof schema !== 'object' || schema === null) return;
      const { type, properties, required, additionalProperties } = schema as JsonSchema;
      const fields = Object.keys(properties ?? {});
      const isExact = additionalProperties === false && (required as string[]).every((name) => fields.includes(name));
      const isOpen = additionalProperties === true && properties === undefined;
      // Any name is allowed, but each value has a schema.
      const isMap = typeof additionalProperties === 'object' && properties === undefined;
      if (type === 'object' && !isExact && !isOpen && !isMap) loose.push(schema);
      for (const value of Object.values(schema)) visit(value);
    };
    visit(SCHEMAS);
    expect(loose).toEqual([]);
  });

  it('say what the types say, and what their comments add', () => {
    const fieldOf = (name: SchemaName, field: string) =>
      (SCHEMAS[name].properties as Record<string, JsonSchema | undefined>)[field];
    expect(fieldOf('LogEntry', 'size')).toMatchObject({ type: 'integer', minimum: 0, description: 'Size in bytes.' });
    expect(fieldOf('ClusterRecord', 'atMs')).toMatchObject({ type: 'number' });
    expect(fieldOf('LogFileDetails', 'firstTimeMs')).toMatchObject({ type: ['integer', 'null'] });
    expect(fieldOf('FoundRecord', 'level')).toMatchObject({ type: 'string', enum: LEVELS });
    expect(fieldOf('FoundRecord', 'cut')).toMatchObject({ const: true });
    expect(fieldOf('FoundRecord', 'before')).toMatchObject({ items: { $ref: '#/components/schemas/FoundRecord' } });
    expect(fieldOf('ClusterNode', 'clock')?.oneOf).toEqual([
      { $ref: '#/components/schemas/MemberClock' },
      { type: 'null' },
    ]);
    expect(SCHEMAS.FoundRecord.required).toEqual(['type', 'file', 'offset', 'bytes', 'cursor', 'message']);
    // Earlier versions leave it out, this one does not.
    expect(SCHEMAS.MemberReport.required).toContain('state');
  });

  it("have the contract's fields", () => {
    expect(SCHEMAS.NodeConfig.required).toEqual(['config', 'node']);
    expect(SCHEMAS.NodeObject.required).toEqual([
      'hostIp',
      'hostName',
      'grpcPort',
      'httpPort',
      'version',
      'onlineTime',
    ]);
    expect(SCHEMAS.LogEntry.required).toEqual(['name', 'size']);
  });
});
