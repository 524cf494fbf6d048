import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterConfigHistory, ClusterEnd, ClusterRecord, MemberReport } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode, startWithSharedThreads, testSettings } from '../testing/test-node.ts';

async function readJson<T>(port: number, path: string): Promise<T> {
  const { body } = await sendRequest(port, path, { headers: { accept: 'application/json' } });
  return JSON.parse(body.toString()) as T;
}

async function eventsOf(port: number) {
  const { records, end } = await readJson<{ records: ClusterRecord[]; end: ClusterEnd }>(
    port,
    '/api/v1/events?nodes=*',
  );
  const kinds = records.filter(({ node }) => node === 'b').map(({ context }) => (context as { kind: string }).kind);
  return { kinds: kinds.reverse(), report: end.members.find(({ id }) => id === 'b') as MemberReport };
}

it('of a member that is gone, its events and the values of its configuration stay known', async () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'logs'));
  const configFile = join(dir, 'service.toml');
  const write = (wal: string) => writeFileSync(configFile, `password = "hunter2"\n[storage]\nwal = "${wal}"\n`);
  write('/var/lib/wal');
  const b = await startWithSharedThreads({ settings: testSettings(dir, { service: { configFile } }) });
  onTestFinished(() => b.stop());
  const cluster = { nodeId: 'a', members: [`b=http://127.0.0.1:${b.node.httpPort}`], refreshMs: 200 };
  const { port, dir: own } = await startTestNode({ settings: { cluster } });
  await eventually(async () => expect((await eventsOf(port)).kinds).toEqual(['started']));
  write('/mnt/small');
  await eventually(async () => expect((await eventsOf(port)).kinds).toEqual(['started', 'config-changed']));
  const recorded = join(own, 'recorded', 'b');
  await eventually(() => expect(readdirSync(join(recorded, 'config-history'))).toHaveLength(2));
  await b.stop();

  await eventually(async () => {
    const { kinds, report } = await eventsOf(port);
    expect(kinds.slice(0, 2)).toEqual(['started', 'config-changed']);
    expect(report).toMatchObject({ outcome: 'refused', recordedBy: 'a' });
  });
  const { nodes, members } = await readJson<ClusterConfigHistory>(port, '/api/v1/config/history?nodes=b');
  expect(nodes[0]?.history?.periods[0]).toMatchObject({
    changes: [{ key: 'storage.wal', before: '/var/lib/wal', after: '/mnt/small' }],
    toMs: null,
  });
  expect(members[0]).toMatchObject({ id: 'b', outcome: 'refused', recordedBy: 'a' });
  const [name = ''] = readdirSync(join(recorded, 'config-history'));
  expect(statSync(join(recorded, 'config-history', name)).mode & 0o777).toBe(0o600);
  const version = await readJson(port, `/api/v1/member/recordings/b/config/history/${name.slice(0, 16)}`);
  expect(version).toMatchObject({ version: name.slice(0, 16) });
  expect(JSON.stringify(version)).not.toContain('hunter2');
});
