import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../schemas/schema-builders.ts';
import { SCHEMAS } from '../schemas/schemas.ts';
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
    const reading = ROUTE_IDS.filter((id) => getRoute(id).parameters.some(({ name }) => name === 'file'));
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

  it('let fields be absent, or be anything, only in files, records, counts, secrets, values of settings, without an archive and where a response is partial', () => {
    const notWhole = Object.entries<JsonSchema>(SCHEMAS)
      .filter(([, { type, properties, required }]) => {
        const fields = Object.keys(properties ?? {});
        return type === 'object' && JSON.stringify(fields) !== JSON.stringify(required);
      })
      .map(([name]) => name);
    expect(notWhole).toEqual([
      'LogFile',
      'StepChange',
      'FoundRecord',
      'SearchEnd',
      'ScanReport',
      'DigestGroup',
      'DigestBaseline',
      'Digest',
      'TopValue',
      'Top',
      'ClusterFields',
      'ClusterTop',
      'MemberReport',
      'ClusterNode',
      'ClusterLogFile',
      'ClusterRecord',
      'ClusterEnd',
      'ClusterHistogram',
      'ClusterDigest',
      'NodeDescription',
      'Setting',
      'NodeSettings',
      'Problem',
    ]);
  });

  it("have the contract's fields", () => {
    expect(SCHEMAS.NodeConfig.required).toEqual(['config', 'node']);
    expect(SCHEMAS.Node.required).toEqual(['hostIp', 'hostName', 'grpcPort', 'httpPort', 'version', 'onlineTime']);
    expect(SCHEMAS.LogEntry.required).toEqual(['name', 'size']);
  });
});
