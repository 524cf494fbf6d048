import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Incident } from '@porthole/contract';
import { eventually, scaled } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { shareTestNode, startTestNode } from '../testing/test-node.ts';
import { schemaProblems } from './testing/schema-problems.ts';

const AT = Date.parse('2026-11-17T03:10:00Z');
const RANGE = 'from=2026-11-17T03:00:00Z&to=2026-11-17T04:00:00Z';

function lines(): string {
  const at = (timeMs: number) => new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '');
  const usual = Array.from(
    { length: 200 },
    (_, index) => `${at(AT - 4_000_000 + index * 30_000)}\tINFO\ta.go:1\twork\n`,
  );
  const errors = Array.from(
    { length: 60 },
    (_, index) => `${at(AT + index * 1000)}\tERROR\tb.go:2\t<b>failed</b> shard=7\n`,
  );
  return [...usual, ...errors].sort().join('');
}

const node = shareTestNode({ files: { 'a.log': lines() }, settings: { node: { timeZone: 'UTC' } } });

it.each(['/api/v1/incident', '/api/v1/incident?nodes=*'])('%s reports what happened', async (path) => {
  const incident = await requestJson<Incident>(node.port, `${path}${path.includes('?') ? '&' : '?'}${RANGE}`);
  expect(schemaProblems(incident, 'Incident')).toEqual([]);
  expect(incident.headline).toMatch(/^New errors on [^ ]+$/);
  expect(incident.standouts[0]).toMatchObject({ pattern: 'b.go:2', counts: { during: 60, before: 0 } });
  const [path0 = ''] = incident.standouts[0]?.paths ?? [];
  const { groups } = await requestJson<{ groups: { count: number }[] }>(node.port, path0);
  expect(groups.map(({ count }) => count)).toEqual([60]);
  const found = await sendRequest(node.port, incident.steps[0]?.path ?? '');
  expect(
    found.body
      .toString()
      .split('\n')
      .filter((line) => line.includes('"type":"record"')),
  ).toHaveLength(60);
});

it.each([
  ['html', 'text/html; charset=utf-8', '&#60;b&#62;failed&#60;/b&#62;'],
  ['markdown', 'text/markdown; charset=utf-8', '`ERROR <b>failed</b> shard=7`'],
])('the report as %s is a file to download', async (format, type, text) => {
  const { headers, body } = await sendRequest(node.port, `/api/v1/incident?${RANGE}&format=${format}`);
  expect(headers['content-type']).toBe(type);
  expect(headers['content-disposition']).toMatch(/^attachment; filename="incident-2026-11-17\.(html|md)"$/);
  expect(body.toString()).toContain(text);
});

it.each(['from=4&to=2', 'format=pdf', 'query=(', 'from=nonsense'])('%s is refused', async (query) => {
  expect((await sendRequest(node.port, `/api/v1/incident?${query}`)).status).toBe(400);
});

it(
  'values of settings are for the role config only',
  async () => {
    const dir = tempDir();
    const configFile = join(dir, 'service.toml');
    writeFileSync(configFile, 'dir = "/data/wal"\n');
    const [viewer, config] = [createToken('ann', ['viewer']), createToken('bob', ['viewer', 'config'])];
    const tokenFile = join(dir, 'tokens');
    writeFileSync(tokenFile, `${viewer.line}\n${config.line}\n`, { mode: 0o600 });
    const settings = { service: { configFile }, auth: { tokenFile } };
    const { port, logDir } = await startTestNode({ files: { 'a.log': '' }, settings });
    writeFileSync(configFile, 'dir = "/mnt/wal"\n');
    const asked = async <T>(path: string, { token }: { token: string }) =>
      requestJson<T>(port, path, { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } });
    const changes = async (whose: { token: string }) => {
      const { steps } = await asked<Incident>('/api/v1/incident', whose);
      return steps.flatMap((step) => step.changes);
    };
    await eventually(
      async () => expect(JSON.stringify(await asked('/api/v1/events', viewer))).toContain('config-changed'),
      { withinMs: 15_000 },
    );
    writeFileSync(join(logDir, 'a.log'), `${new Date().toISOString()} ERROR failed\n`.repeat(60));
    expect(await changes(viewer)).toEqual([{ key: 'dir' }]);
    expect(await changes(config)).toEqual([{ key: 'dir', before: '/data/wal', after: '/mnt/wal' }]);
  },
  scaled(30_000),
);
