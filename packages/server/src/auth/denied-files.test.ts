import { appendFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { getMemberRoute, getRoute, MEMBER_ROUTE_IDS, ROUTE_IDS, type Route } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { connect } from '../grpc/testing/connect.ts';
import { freePorts } from '../testing/free-ports.ts';
import { openRequest, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';

const line = (text: string) => `2026-11-15 05:00:00.000\tERROR\ta.go:1\t[A]: ${text}\n`;

/** `hush` is in denied files only; each is of the family `audit.log`. */
const FILES = {
  'app.log': line('shown'),
  'audit.log': line('hush'),
  'audit.log.1': line('hush'),
  'audit.log.2.gz': gzipSync(line('hush')),
  'audit-2026-11-14.log': line('hush'),
};
const DENIED = { deniedFiles: ['audit.log'] };

async function startDenying(): Promise<TestNode> {
  const node = await startTestNode({ files: FILES, settings: { auth: DENIED, cluster: { nodeId: 'me' } } });
  symlinkSync('audit.log', join(node.logDir, 'innocent.log'));
  return node;
}

const REQUESTS = [
  '',
  'file=audit.log',
  'file=audit.log.1',
  'file=audit.log.2.gz',
  'file=innocent.log',
  'family=audit.log',
];

/** Parameters that routes want besides a file: a moment needs its time, counts by value their field. */
const ALWAYS = 'limit=100&time=2026-11-15T05:00:00Z&by=message';

function toTarget({ path }: Route, query: string): string {
  return `${path.replace('{id}', 'me')}?${query}&${ALWAYS}`;
}

/** The output of a follow until the visible line appears. */
async function followed(port: number, target: string, write: () => void): Promise<string> {
  const response = await openRequest(port, target);
  write();
  let text = '';
  for await (const part of response) {
    text += part;
    if (text.includes('shown again') || response.statusCode !== 200) break;
  }
  response.destroy();
  return text;
}

describe('a denied log', () => {
  const routes = [...ROUTE_IDS.map(getRoute), ...MEMBER_ROUTE_IDS.map(getMemberRoute)].filter(({ path }) =>
    path.includes('/log/'),
  );

  it('is in no response of any route, by any of its names, nor is its name', async () => {
    const { port } = await startDenying();
    for (const route of routes.filter(({ path }) => !path.endsWith('/follow'))) {
      for (const query of REQUESTS) {
        const { status, body } = await sendRequest(port, toTarget(route, query));
        const text = body.toString();
        // Only where a file must be named is the question without one refused.
        const needsFile = route.parameters.some(({ name, required }) => name === 'file' && required);
        if (query === '') expect(`${route.path} ${status}`).toBe(`${route.path} ${needsFile ? 400 : 200}`);
        expect(`${route.path} ${query}: ${text}`).not.toContain('hush');
        if (query === '') expect(`${route.path}: ${text}`).not.toMatch(/audit|innocent/);
      }
    }
  });

  it('is not followed, as one of all or by name', async () => {
    const { port, logDir } = await startDenying();
    const write = () => {
      for (const name of ['audit.log', 'audit.log.1']) appendFileSync(join(logDir, name), line('hush'));
      appendFileSync(join(logDir, 'app.log'), line('shown again'));
    };
    for (const route of routes.filter(({ path }) => path.endsWith('/follow'))) {
      const all = await followed(port, toTarget(route, 'lines=100'), write);
      expect(all).toContain('shown again');
      expect(all).not.toMatch(/hush|audit|innocent/);
    }
    for (const query of REQUESTS.slice(1)) {
      const { status, code } = await requestProblem(port, `/api/v1/log/follow?${query}`);
      expect({ status, found: /NOT_FOUND$/.test(code) }).toEqual({ status: 404, found: true });
    }
  });

  it('looks like a file that never existed, without any hint', async () => {
    const { port } = await startDenying();
    const problem = async (file: string) => {
      const { status, code, detail } = await requestProblem(port, `/api/v1/log/view?file=${file}`);
      return { status, code, detail: detail.replace(JSON.stringify(file), '') };
    };
    const absent = await problem('zzzzz.log');
    for (const file of ['audit.log', 'audit.log.1', 'audit-2026-11-14.log', 'innocent.log', 'audit.lo', 'audit.log.99'])
      expect(await problem(file)).toEqual(absent);
    const { detail } = await requestProblem(port, '/api/v1/log/search?src=audit.lo');
    expect(detail).not.toContain('audit.log');
  });

  it('is not there over gRPC either', async () => {
    const { running } = await startDenying();
    const connection = connect(running.node.grpcPort);
    expect((await connection.call('ListLogs', {})).logs.map(({ name }) => name)).toEqual(['app.log']);
    expect((await connection.call('DescribeLogs', { src: [] })).logs.map(({ name }) => name)).toEqual(['app.log']);
    for (const file of ['audit.log', 'audit.log.2.gz', 'innocent.log']) {
      await expect(connection.call('StatLog', { file })).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
      await expect(connection.stream('ViewLog', { file }).next()).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
    }
  });

  it('is not in what was recorded of a member that died', async () => {
    const ports = await freePorts(2);
    const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
    const [first, second] = await Promise.all(
      ports.map((port, index) =>
        startTestNode({
          files: FILES,
          settings: { http: { port }, auth: DENIED, cluster: { nodeId: `n${index + 1}`, members, refreshMs: 100 } },
        }),
      ),
    );
    await eventually(() => expect(readdirSync(join(first?.dir ?? '', 'recorded', 'n2', 'log'))).toHaveLength(1));
    await second?.running.stop();
    const { body } = await sendRequest(first?.port ?? 0, '/api/v1/log/search?nodes=*&limit=100');
    expect(body.toString()).toMatch(/"node":"n2".*shown/);
    expect(body.toString()).not.toContain('hush');
  });
});
