import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  type ClusterConfigHistory,
  getMemberRoute,
  getRoute,
  MEMBER_ROUTE_IDS,
  PATHS,
  ROUTE_IDS,
  type Route,
} from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { shareTestNode, startTestNode } from '../testing/test-node.ts';
import { schemaProblems } from './testing/schema-problems.ts';

const FILES = {
  'a.log': '2026-01-02 03:04:05.678\tINFO\tmain.go:1\t[Node] [Start]: ready\n',
  'b.log.gz': gzipSync('text\n'),
  'bad.gz': 'no gzip',
  binary: Buffer.from([0, 1, 2]),
  empty: '',
};

const jsonRoutes = ROUTE_IDS.flatMap((id) => {
  const { path, response: answer, method } = getRoute(id);
  return answer.schema && !answer.each && !method ? [{ path, schema: answer.schema }] : [];
});

/** What some cannot do without; a file that events do not have. */
const REQUESTS = '?file=a.log&time=0&for=/api/v1/log/raw&by=level';

/** The request of a route; the version is that of the newest configuration. */
async function target(port: number, path: string): Promise<string> {
  if (path.endsWith('/events')) return path;
  const { nodes } = await requestJson<ClusterConfigHistory>(port, '/api/v1/config/history');
  return `${path.replace('{version}', nodes[0]?.history?.periods[0]?.version ?? '')}${REQUESTS}`;
}

const node = shareTestNode({ files: FILES });

describe('the answer of', () => {
  it.each(jsonRoutes)('$path is exactly a $schema', async ({ path, schema }) => {
    const { port } = node;
    expect(schemaProblems(await requestJson(port, await target(port, path)), schema)).toEqual([]);
  });

  it('every route is exactly of its schema beside a service, too', async () => {
    const configFile = join(tempDir(), 'service.toml');
    writeFileSync(
      configFile,
      'text = "x"\nnumber = 1.5\nlist = [1, { a = true }]\npassword = "p"\n[table]\nwhen = 2026-01-02\n',
    );
    const { port } = await startTestNode({ files: FILES, settings: { service: { configFile } } });
    for (const { path, schema } of jsonRoutes)
      expect(schemaProblems(await requestJson(port, await target(port, path)), schema), path).toEqual([]);
  });

  it.each(['/api/v1/log/view', '/api/v1/log/raw?file=no', '/none'])(
    '%s, an error, is exactly a Problem',
    async (path) => {
      expect(schemaProblems(await requestJson(node.port, path), 'Problem')).toEqual([]);
    },
  );

  // A WebSocket has no content type.
  const isPlain = ({ path, method }: Route) => !path.includes('{') && method === undefined && path !== PATHS.lokiTail;

  it.each(ROUTE_IDS.map(getRoute).filter(isPlain))(
    '$path has the content type of the table',
    async ({ path, response: answer }) => {
      const { port } = node;
      // The head alone: not every answer ends by itself.
      const { status, headers } = await sendRequest(port, await target(port, path), { method: 'HEAD' });
      expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: answer.contentType });
    },
  );
});

describe('the contract', () => {
  it('has these fields and no others, in words of its own', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'text' } });
    const config = await requestJson<{ node: object }>(port, '/api/v1/config');
    expect(Object.keys(config).sort()).toEqual(['config', 'node']);
    const fields = Object.entries(config.node).map(
      ([name, value]) => `${name} ${Number.isInteger(value) ? 'integer' : typeof value}`,
    );
    expect(fields.sort()).toEqual([
      'grpcPort integer',
      'hostIp string',
      'hostName string',
      'httpPort integer',
      'onlineTime integer',
      'version string',
    ]);
    expect(await requestJson(port, '/api/v1/log/list')).toEqual([{ name: 'a.log', size: 4 }]);
  });

  it('is checked by schemas that reject an extra field, a missing field and a non-integer', () => {
    expect(schemaProblems({ name: 'a', size: 1 }, 'LogEntry')).toEqual([]);
    expect(schemaProblems({ name: 'a', size: 1, extra: 1 }, 'LogEntry')).not.toEqual([]);
    expect(schemaProblems({ name: 'a' }, 'LogEntry')).not.toEqual([]);
    expect(schemaProblems({ name: 'a', size: 1.5 }, 'LogEntry')).not.toEqual([]);
  });
});

describe('the OpenAPI document', () => {
  it('is served, and every path in it is a route of this node', async () => {
    const { port } = node;
    const { openapi, paths } = await requestJson<{ openapi: string; paths: Record<string, unknown> }>(
      port,
      '/openapi.json',
    );
    expect(openapi).toBe('3.1.0');
    const wanted = ROUTE_IDS.map(getRoute).filter(({ page }) => !page);
    const ofMembers = MEMBER_ROUTE_IDS.map(getMemberRoute);
    const wantedPaths = new Set([...wanted, ...ofMembers].map(({ path }) => path));
    expect(Object.keys(paths).sort()).toEqual([...wantedPaths].sort());
    for (const { path } of wanted.filter((route) => !route.path.includes('{version}')))
      expect((await sendRequest(port, path, { method: 'HEAD' })).status).not.toBe(404);
    for (const { path } of ofMembers) {
      const { code } = await requestJson<{ code: string }>(port, path.replace('{id}', 'none'));
      expect(code).not.toBe('ROUTE_NOT_FOUND');
    }
  });
});
