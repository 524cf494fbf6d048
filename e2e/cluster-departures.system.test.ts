import { setTimeout as delay } from 'node:timers/promises';
import { startTestEtcd, type TestEtcd } from '@porthole/cluster/testing';
import type {
  ClusterConfigDiff,
  ClusterDigest,
  ClusterHistogram,
  ClusterLogFiles,
  MemberReport,
} from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { ClusterProcess, writeRecord } from './testing/cluster-process.ts';
import { TerminalProgram } from './testing/pseudo-terminal.ts';

const TEXT = 'written before the end';

interface Cluster {
  n1: ClusterProcess;
  n2: ClusterProcess;
  n3: ClusterProcess;
}

/** One cluster for all of it: starting nodes takes longer than the rest. */
it('a member that departs is failed, left or unknown, and what was recorded of it is in every operation', async () => {
  const etcd = await startTestEtcd();
  const flags = ['--cluster-etcd', etcd.url];
  const [n1, n2, n3] = await Promise.all(
    ['n1', 'n2', 'n3'].map((id) => ClusterProcess.start(id, { cwd: dirWithRecords(id), flags })),
  );
  if (!n1 || !n2 || !n3) throw new Error('not started');
  const returned = () => ClusterProcess.start('n3', { cwd: n3.cwd, flags });
  await expectAllUp(n1, n2);
  await oneIsKilled({ n1, n2, n3 });
  const again = await returned();
  await expectAllUp(n1, n2);
  await oneStops({ n1, n3: again });
  const last = await returned();
  await expectAllUp(n1, n2);
  await oneIsKilledWithoutRegistry({ n1, n2, n3: last }, etcd);
});

/** It is in every operation, once, from what was recorded, until it is forgotten. */
async function oneIsKilled({ n1, n2, n3 }: Cluster): Promise<void> {
  await waitForRecordingOf(n1, n3);
  await waitForRecordingOf(n2, n3);
  const states = watchStates(n1);
  await n3.kill();
  await eventually(async () => expect(await statesBy(n1)).toEqual({ n1: 'up', n2: 'up', n3: 'failed' }));
  // Not listed twice at any time, and never left.
  for (const seen of await states.stop()) expect(seen).toMatch(/^n1 n2 n3:(?:up|unreachable|failed)$/);

  const { nodes } = await n1.nodes();
  expect(nodes[2]).toMatchObject({ id: 'n3', sinceMs: expect.any(Number), lastSeenMs: expect.any(Number) });
  for (const [operation, members] of Object.entries(await reportsBy(n1)))
    expect({ operation, report: members.filter(({ id }) => id === 'n3') }).toEqual({
      operation,
      report: [
        expect.objectContaining({
          outcome: 'gone',
          state: 'failed',
          sinceMs: nodes[2]?.sinceMs,
          asOfMs: expect.any(Number),
          count: expect.any(Number),
        }),
      ],
    });
  await expectMemberData(n1);
  expect((await n1.cli('nodes')).code).toBe(3);
  expect((await n1.cli('logs', '--all', '-o', 'json')).code).toBe(3);

  // Forgotten through one node, it is on none.
  const refused = { code: 2, stderr: expect.stringContaining('member') };
  expect(await n2.cli('nodes', 'forget', 'n1', '--yes')).toMatchObject(refused);
  // Not without being asked, or informed.
  const loss =
    /n3 \(failed\): what was recorded of it until \d{4}-\S+Z will be deleted on every node: [1-9]\d* records?, the list of [1-9]/;
  const unasked = await n2.cli('nodes', 'forget', 'n3');
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringMatching(loss) });
  expect(unasked.stderr).toContain('--yes');
  for (const { answer, code } of [
    { answer: '\n', code: 1 },
    { answer: 'no\n', code: 1 },
    { answer: '\u0004', code: 1 },
    { answer: '\u0003', code: 130 },
  ]) {
    const asked = new TerminalProgram(['nodes', 'forget', 'n3', '--url', n2.url], { cwd: n2.cwd, columns: 200 });
    await eventually(() => expect(asked.output).toContain('Forget n3? [y/N]'));
    asked.type(answer);
    const ended = await asked.end();
    expect({ answer, code: ended.code }).toEqual({ answer, code });
    expect(ended.output).toMatch(loss);
  }
  for (const node of [n1, n2]) expect(await statesBy(node)).toEqual({ n1: 'up', n2: 'up', n3: 'failed' });
  const asked = new TerminalProgram(['nodes', 'forget', 'n3', '--url', n2.url], { cwd: n2.cwd });
  await eventually(() => expect(asked.output).toContain('Forget n3? [y/N]'));
  asked.type('y\n');
  expect(await asked.end()).toMatchObject({ code: 0 });
  for (const node of [n1, n2]) expect(await statesBy(node)).toEqual({ n1: 'up', n2: 'up' });
  expect((await n1.cli('nodes')).code).toBe(0);
  expect(await n2.cli('nodes', 'forget', 'n3', '--yes')).toMatchObject({ code: 2 });
}

/** In order: it has left, which is no failure. */
async function oneStops({ n1, n3 }: Omit<Cluster, 'n2'>): Promise<void> {
  await waitForRecordingOf(n1, n3);
  const followed = await n1.follow();
  n3.program.kill('SIGTERM');
  expect(await n3.program.end()).toMatchObject({ code: 0 });
  await eventually(async () => expect(await statesBy(n1)).toEqual({ n1: 'up', n2: 'up', n3: 'left' }));
  for (const [operation, members] of Object.entries(await reportsBy(n1)))
    expect({ operation, report: members.find(({ id }) => id === 'n3') }).toMatchObject({
      operation,
      report: { outcome: 'left', state: 'left', sinceMs: expect.any(Number) },
    });
  await expectMemberData(n1);
  await eventually(() => expect(followed.memberOutcomes('n3').at(-1)).toBe('left'));
  expect(await n1.cli('nodes')).toMatchObject({ code: 0, stderr: '' });
  // No failure, but not all that it has ever logged.
  const stderr = expect.stringMatching(
    /^porthole: n3: left the cluster at \S+; recorded by n[12], until [\d:.]+; shown as of \S+\n$/,
  );
  // Whoever asked before its recorder had noticed remembers that for some seconds.
  for (const words of [
    ['logs', '--all', '-o', 'json'],
    ['logs', 'ls', '--all'],
    ['logs', 'histogram', '--all'],
  ])
    await eventually(async () =>
      expect({ words, ...(await n1.cli(...words)) }).toMatchObject({ words, code: 0, stderr }),
    );
}

/** Nobody can say of a member whether it has departed while the registry is away. */
async function oneIsKilledWithoutRegistry({ n1, n2, n3 }: Cluster, etcd: TestEtcd): Promise<void> {
  await waitForRecordingOf(n1, n2);
  await waitForRecordingOf(n1, n3);
  await n1.kill();
  await etcd.stop();
  await n3.kill();
  const again = await ClusterProcess.start('n1', { cwd: n1.cwd, flags: ['--cluster-etcd', etcd.url] });
  const { nodes, membership } = await again.nodes();
  expect(membership.state).toBe('stale');
  expect(nodes.map(({ id, state, report }) => [id, state, report.outcome])).toEqual([
    ['n1', 'up', 'ok'],
    ['n2', 'up', 'ok'],
    ['n3', 'unknown', 'refused'],
  ]);
  n2.write('written while the registry is away');
  // A search may come before what was recorded can be read; each one that has none of it says so.
  const unsaid: MemberReport[] = [];
  await eventually(async () => {
    const { messages, outcomes, end } = await again.search();
    const report = end.members.find(({ id }) => id === 'n3');
    const isThere = messages.includes(`${TEXT} by n3`);
    if (report && !isThere && report.asOfMs !== null) unsaid.push(report);
    expect(outcomes).toEqual({ n1: 'ok', n2: 'ok', n3: 'refused' });
    expect(messages).toEqual(expect.arrayContaining([`${TEXT} by n3`, 'written while the registry is away']));
  });
  expect(unsaid).toEqual([]);
  expect(await again.cli('nodes', 'forget', 'n3', '--yes')).toMatchObject({ code: 2 });
  await etcd.start();
  await eventually(async () => expect(await statesBy(again)).toEqual({ n1: 'up', n2: 'up', n3: 'failed' }));
}

it('a member of a static list has the role it says, not that of the node that asks', async () => {
  const ports = await freePorts(3);
  const roles = ['broker', 'storage', 'storage'];
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`).join(',');
  const flags = (index: number) => ['--cluster-members', members, '--cluster-role', roles[index] ?? ''];
  const start = (index: number, cwd = dirWithRecords(`n${index + 1}`)) =>
    ClusterProcess.start(`n${index + 1}`, {
      cwd,
      flags: [...flags(index), '--http-port', String(ports[index])],
    });
  const n1 = await start(0);
  expect((await n1.nodes()).nodes.map(({ role }) => role)).toEqual(['broker', 'unknown', 'unknown']);
  const [n2, n3] = await Promise.all([start(1), start(2)]);
  await eventually(async () => {
    const { nodes } = await n1.nodes();
    expect(nodes.map(({ id, role }) => `${id} ${role}`)).toEqual(['n1 broker', 'n2 storage', 'n3 storage']);
  });
  // A member that is too busy to respond in time is left out, and reported.
  const unsaid: ClusterConfigDiff[] = [];
  await eventually(async () => {
    const diff = await n1.json<ClusterConfigDiff>('/config/diff');
    const compared = new Set(diff.roles.flatMap(({ nodes }) => nodes));
    if (diff.members.some(({ id, outcome }) => outcome === 'ok' && !compared.has(id))) unsaid.push(diff);
    expect(diff.roles.map(({ role, nodes }) => ({ role, nodes }))).toEqual([
      { role: 'broker', nodes: ['n1'] },
      { role: 'storage', nodes: ['n2', 'n3'] },
    ]);
  });
  expect(unsaid).toEqual([]);
  n2.write('from storage');
  expect((await n1.search({ role: 'storage' })).outcomes).toEqual({ n2: 'ok', n3: 'ok' });
  // What it said is known to the next run of this node, although the member does not respond to that.
  await waitForRecordingOf(n1, n3);
  await eventually(() => expect(n1.kept('n3')?.member).toMatchObject({ role: 'storage' }));
  await n3.kill();
  n1.program.kill('SIGTERM');
  await n1.program.end();
  const again = await start(0, n1.cwd);
  expect((await again.nodes()).nodes.map(({ id, role, state }) => `${id} ${role} ${state}`)).toEqual([
    'n1 broker up',
    'n2 storage up',
    'n3 storage unreachable',
  ]);
});

async function expectAllUp(...nodes: readonly ClusterProcess[]): Promise<void> {
  for (const node of nodes)
    await eventually(async () => expect(await statesBy(node)).toEqual({ n1: 'up', n2: 'up', n3: 'up' }));
}

/** What is kept of members is written to disk now and then only: what it is to hold is there before the first. */
function dirWithRecords(id: string): string {
  const cwd = tempDir();
  for (const count of [3, 2, 1]) writeRecord(cwd, `${TEXT} by ${id}`, { timeMs: Date.now() - count });
  return cwd;
}

async function statesBy(node: ClusterProcess): Promise<Record<string, string>> {
  return Object.fromEntries((await node.nodes()).nodes.map(({ id, state }) => [id, state]));
}

/** What is kept on disk, of this run of it, has configuration, records and files. */
async function waitForRecordingOf(node: ClusterProcess, { id, url }: ClusterProcess): Promise<void> {
  await eventually(() => {
    const kept = node.kept(id);
    expect(kept).toMatchObject({
      member: { url },
      config: { config: expect.stringContaining(`name = "${id}"`) },
      files: [{ name: 'service.log' }],
    });
    expect(kept?.text.split('\n').length).toBeGreaterThan(3);
  });
}

/** Which members were listed, and what the last of them was, at any time until it is stopped. */
function watchStates(node: ClusterProcess) {
  const seen = new Set<string>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { nodes } = await node.nodes();
      seen.add(`${nodes.map(({ id }) => id).join(' ')}:${nodes.at(-1)?.state}`);
      await delay(50); // pause: between two looks
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      return seen;
    },
  };
}

/** The reports of every operation that has them. */
async function reportsBy(node: ClusterProcess): Promise<Record<string, MemberReport[]>> {
  const { nodes } = await node.nodes();
  const { configs } = await node.json<{ configs: { report: MemberReport }[] }>('/config/settings');
  const timeMs = Date.now();
  const around = await node.lines<{ members: MemberReport[] }>(`/log/around?time=${timeMs}&before=1h`);
  return {
    nodes: nodes.map(({ report }) => report),
    config: configs.map(({ report }) => report),
    diff: (await node.json<ClusterConfigDiff>('/config/diff')).members,
    files: (await node.json<ClusterLogFiles>('/log/files')).members,
    histogram: (await node.json<ClusterHistogram>('/log/histogram')).members,
    digest: (await node.json<ClusterDigest>('/log/digest')).members,
    search: (await node.search()).end.members,
    around: around.at(-1)?.members ?? [],
  };
}

/** What a member that departed wrote and was configured to do is in every operation. */
async function expectMemberData(node: ClusterProcess): Promise<void> {
  const { configs } = await node.json<{ configs: { id: string; config: { config: string } }[] }>(
    '/config/settings?nodes=n3',
  );
  expect(configs[0]?.config.config).toContain('name = "n3"');
  const diff = await node.json<ClusterConfigDiff>('/config/diff?nodes=n1&nodes=n3');
  expect(diff.roles[0]?.nodes).toEqual(['n1', 'n3']);
  const { files } = await node.json<ClusterLogFiles>('/log/files');
  expect(files.find((file) => file.node === 'n3')).toMatchObject({ name: 'service.log' });
  const { buckets } = await node.json<ClusterHistogram>('/log/histogram');
  expect(buckets.reduce((sum, { nodes }) => sum + (nodes.n3 ?? 0), 0)).toBe(3);
  const { groups } = await node.json<ClusterDigest>('/log/digest');
  expect(groups.find(({ source }) => source === 'main.go:1')?.nodes).toEqual({ n1: 3, n2: 3, n3: 3 });
  const around = await node.lines<{ node?: string }>(`/log/around?time=${Date.now()}&before=1h`);
  expect(around.filter((item) => item.node === 'n3')).toHaveLength(3);
  // Page by page as well: what does not fit on the first comes with the next.
  let cursor: string | undefined;
  const found: string[] = [];
  const reports: (MemberReport | undefined)[] = [];
  do {
    const page = await node.search({ limit: 2, ...(cursor !== undefined && { cursor }) });
    found.push(...page.records.map((record) => `${record.node} ${record.offset}`));
    reports.push(page.end.members.find(({ id }) => id === 'n3'));
    cursor = page.end.cursor ?? undefined;
  } while (cursor !== undefined);
  const foundOfIt = found.filter((each) => each.startsWith('n3'));
  expect(foundOfIt, JSON.stringify(reports)).toHaveLength(3);
  expect(found).toEqual([...new Set(found)]);
  // And asked for by itself, it is not said to be up.
  const alone = await node.lines<{ members?: MemberReport[] }>('/log/search?nodes=n3');
  expect(alone.at(-1)?.members?.[0]).toMatchObject({ id: 'n3', outcome: expect.stringMatching(/^(gone|left)$/) });
  const kept = await node.client.node('n3').config();
  expect(kept.config).toContain('name = "n3"');
}
