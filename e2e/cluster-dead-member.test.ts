import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestEtcd } from '@porthole/cluster/testing';
import { type Coverage, coverageOf, gapsText, type MemberReport, missingText } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { GrpcConnection, readBundle } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { ClusterProcess } from './testing/cluster-process.ts';

const LINE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\tINFO\tmain\.go:1\t\[Test\]: /;

it('a call site is new only if every member says that it has no older record of it', async () => {
  const etcd = await startTestEtcd();
  const flags = ['--cluster-etcd', etcd.url];
  const start = (id: string) => ClusterProcess.start(id, { flags });
  const [n1, n2] = await Promise.all([start('n1'), start('n2')]);
  const site = (hoursAgo: number, source: string) => {
    const stamp = new Date(Date.now() - hoursAgo * 3_600_000).toISOString().replace('T', ' ').slice(0, 23);
    return `${stamp}\tERROR\t${source}\t[Test]: failed\n`;
  };
  writeFileSync(join(n1.cwd, 'logs', 'a.log'), site(0.5, 'early.go:1') + site(0.5, 'fresh.go:2'));
  writeFileSync(join(n2.cwd, 'logs', 'a.log'), site(50, 'early.go:1'));
  await eventually(async () => expect((await n1.search()).outcomes).toEqual({ n1: 'ok', n2: 'ok' }));
  const digest = async () => {
    const { code, stdout, stderr } = await n1.cli('logs', 'digest', '--all', '-S', '2h', '--new-since', '1h');
    const rows = stdout.split('\n').flatMap((row) => /(?:[*?] )?\w+\.go:\d/.exec(row)?.[0] ?? []);
    return { code, rows: rows.toSorted(), stderr };
  };
  expect(await digest()).toEqual({
    code: 0,
    rows: ['* fresh.go:2', 'early.go:1'],
    stderr: expect.stringMatching(/\* marks new groups; compared with records since \d{4}/),
  });

  await n2.kill();
  const { code, rows, stderr } = await digest();
  // That it is old is known if it was recorded in the meantime.
  expect({ code, rows: rows.map((row) => row.replace(/^\? early/, 'early')).toSorted() }).toEqual({
    code: 3,
    rows: ['? fresh.go:2', 'early.go:1'],
  });
  expect(stderr).toMatch(/\? marks groups that may be new\n/);
  expect(stderr).toMatch(/older records were not all read: n2: /);
});

it('while a member is dead, every client says so in the same words, and shows what was kept of it', async () => {
  const etcd = await startTestEtcd();
  const token = join(tempDir(), 'token');
  writeFileSync(token, 'one-token-for-all-members-0123456789', { mode: 0o600 });
  const flags = ['--cluster-etcd', etcd.url, '--cluster-token-file', token];
  const start = (id: string) => ClusterProcess.start(id, { flags });
  const [n1, n2, n3] = await Promise.all([start('n1'), start('n2'), start('n3')]);
  for (const node of [n1, n2, n3]) node.write(`written by ${node.id}`);
  await n3.waitForRecording(n1);
  await n3.kill();
  // At once, while it is still registered; and when its lease has ended.
  await expectKeptLines(n1);
  await expectReported(n1);
  await eventually(async () => expect((await n1.search()).outcomes.n3).toBe('gone'));
  await expectKeptLines(n1);
  await expectReported(n1);
  await expectSameCause(n1);
  await expectComparedSecrets(n1);
});

/** The lines of the others and the kept ones of the dead one, a warning and exit code 3, whatever the limit. */
async function expectKeptLines(n1: ClusterProcess): Promise<void> {
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await n1.cli(...args);
    return { code, lines: stdout.split('\n').slice(0, -1), stderr };
  };
  const all = await run('logs', '--all', '-S', '5m', '-l', 'info', '--prefix', 'never');
  expect({ ...all, lines: all.lines.map((line) => line.replace(LINE, '')).toSorted() }).toEqual({
    code: 3,
    lines: ['written by n1', 'written by n2', 'written by n3'],
    stderr: expect.stringMatching(/^porthole: warning: n3: /),
  });
  for (const args of [['--all', '-n', '1'], ['search', 'written', '--all', '-n', '1'], ['n3:']]) {
    const { code, lines, stderr } = await run('logs', ...args, '--prefix', 'never');
    expect({ args, code, count: lines.length }).toEqual({ args, code: 3, count: 1 });
    expect(lines[0]).toMatch(LINE);
    expect(stderr).toMatch(/^porthole: warning: n3: /);
  }
  expect(await run('config', 'get', 'n3:', 'service.name', '-o', 'flat')).toEqual({
    code: 3,
    lines: ['service.name = "n3"'],
    stderr: expect.stringMatching(/^porthole: warning: n3: .* as of \d{4}-/),
  });
}

/** Every response says who has recorded the dead member, until when, and how much is missing. */
async function expectReported(n1: ClusterProcess): Promise<void> {
  const { node } = await n1.client.describe();
  const grpc = new GrpcConnection(node.grpcPort);
  const scope = { selection: { nodes: ['*'], role: '', labels: [], store: '' } };
  type Answer = { members?: readonly Partial<MemberReport>[] | undefined };
  const responses: Record<string, () => Promise<Answer | undefined>> = {
    search: async () => (await n1.lines<Answer>('/log/search')).at(-1),
    around: async () => (await n1.lines<Answer>(`/log/around?time=@${Date.now()}`)).at(-1),
    follow: async () => {
      for await (const items of n1.client.follow({ nodes: ['*'], start: 'end' }))
        for (const item of items) if (item.type === 'member' && item.node === 'n3') return { members: [item.report] };
      return undefined;
    },
    histogram: () => n1.json('/log/histogram'),
    digest: () => n1.json('/log/digest'),
    fields: () => n1.json('/log/fields'),
    top: () => n1.json('/log/top?by=level'),
    files: () => n1.json('/log/files'),
    config: async () => ({ members: (await n1.client.settings({ nodes: ['*'] })).configs.map(({ report }) => report) }),
    'config diff': () => n1.json('/config/diff'),
    bundle: async () => {
      const response = await fetch(`${n1.url}/api/v1/bundle?nodes=*&since=5m`);
      return readBundle(Buffer.from(await response.arrayBuffer())).manifest;
    },
    'gRPC search': async () => {
      const asked = { order: '', cursor: '', record: '', until: '', raw: false, fields: [], ...scope };
      for await (const message of grpc.stream('SearchLogs', asked, {}))
        for (const { end } of message?.items ?? []) if (end) return end.cluster as Answer;
      return undefined;
    },
    'gRPC histogram': async () => (await grpc.call('CountLogs', scope, {})).cluster as Answer,
    'gRPC digest': async () => (await grpc.call('DigestLogs', { onlyNew: false, ...scope }, {})).cluster as Answer,
    'gRPC fields': async () => (await grpc.call('ListFields', scope, {})).cluster as Answer,
    'gRPC top': async () =>
      (await grpc.call('CountValues', { by: 'level', values: [], ...scope }, {})).cluster as Answer,
  };
  for (const [name, request] of Object.entries(responses)) {
    const report = (await request())?.members?.find(({ id }) => id === 'n3');
    expect({ name, report }).toEqual({
      name,
      report: expect.objectContaining({
        detail: expect.stringMatching(/; recorded by n[12], until [\d:.]+ \([\d.]+ s before it was lost\)$/),
        asOfMs: expect.any(Number),
        recordedBy: expect.stringMatching(/^n[12]$/),
        missingMs: expect.any(Number),
        isPartial: true,
      }),
    });
    expect(report?.missingMs, name).toBeGreaterThan(0);
  }
  grpc.close();
  // Plain text says it in its last line.
  const { body } = await n1.request('/api/v1/log/download?nodes=*');
  expect(body.trimEnd().split('\n').at(-1)).toMatch(/^# porthole: INCOMPLETE · .*; recorded by n[12], until /);
}

/** The same cause as every other client, and never that there is no match. */
async function expectSameCause(n1: ClusterProcess): Promise<void> {
  const said =
    /^n3: registration expired: not registered since .*; recorded by n[12], until [\d:.]+ \([\d.]+ s before it was lost\); shown as of /;

  const responses = ['histogram', 'digest?limit=1', 'fields', 'top?by=level', 'files'].map((route) => `/log/${route}`);
  for (const path of [...responses, '/config/diff']) {
    const { coverage } = await n1.json<{ coverage: Coverage }>(path);
    expect([path, coverage.isComplete, coverage.missing.map((part) => missingText(part))]).toEqual([
      path,
      false,
      [expect.stringMatching(said)],
    ]);
  }
  const { end } = await n1.search();
  expect(gapsText(coverageOf(end))).toMatch(said);

  for await (const items of n1.client.node('n3').search({ terms: ['nobody'] })) {
    const last = items.at(-1);
    if (last?.type === 'end') expect(gapsText(coverageOf(last))).toMatch(said);
  }

  const records = n1.client.records({ nodes: ['*'], terms: ['nobody wrote this'] });
  const { value } = await records.next();
  expect(value).toMatchObject({ isComplete: false, missing: [{ node: 'n3', reason: 'gone' }] });

  const searched = await n1.cli('logs', 'search', 'nobody wrote this', '--all');
  expect({ ...searched, stderr: searched.stderr.replace('porthole: warning: ', '') }).toEqual({
    code: 3,
    signal: null,
    stdout: '',
    stderr: expect.stringMatching(said),
  });
  const { body } = await n1.request('/api/v1/log/download?nodes=*');
  expect(body.trimEnd().split('\n').at(-1)).toMatch(/^# porthole: INCOMPLETE · .* · n3: registration expired: /);
}

/** Secrets that differ between living members are reported, those of the dead one cannot be compared. */
async function expectComparedSecrets(n1: ClusterProcess): Promise<void> {
  const diff = async () => (await n1.client.configDiff({})).roles[0];
  await eventually(async () => expect((await diff())?.withoutFingerprint).toEqual({ 'service.password': ['n3'] }));
  const password = (await diff())?.differences.find(({ key }) => key === 'service.password');
  expect(password?.values.map(({ nodes, isNotCompared = false }) => [nodes, isNotCompared]).toSorted()).toEqual([
    [['n1'], false],
    [['n2'], false],
    [['n3'], true],
  ]);
  const { code, stderr } = await n1.cli('config', 'diff');
  expect(code).toBe(1);
  expect(stderr).toContain('not compared (secret): service.password (no fingerprint of n3)');
}
