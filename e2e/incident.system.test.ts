import { setTimeout as sleep } from 'node:timers/promises';
import type { Incident, StepKind } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { type ClusterProcess, startCluster } from './testing/cluster-process.ts';
import { breakDown, changeSetting, writePast } from './testing/staged-incident.ts';

/** What the clock of a survivor and the moment of a system call may differ by. */
const CLOCK_MS = 100;

const CHANGE = 'storage.wal_dir: "/data/wal" → "/mnt/slow/wal"';
const FATAL = 'FATAL the write-ahead log is gone, giving up';
const HEADLINE = /^New errors on 2 nodes, first on n3, [\d.]+ (?:s|ms) after its storage\.wal_dir changed$/m;

/** The report says all of it, in the order in which it happened. */
function expectTold(report: string, loss: RegExp): void {
  const parts = ['storage.wal_dir changed on n3', CHANGE, 'First new error, on n3', 'It spread to n1', FATAL];
  const positions = [...parts.map((part) => report.indexOf(part)), report.search(loss)];
  expect(positions, report).not.toContain(-1);
  expect(positions, report).toEqual(positions.toSorted((a, b) => a - b));
  expect(report).not.toMatch(/nothing new|nothing unusual/i);
}

async function reportOf(asked: ClusterProcess): Promise<Incident> {
  return JSON.parse((await asked.cli('incident', '--last', '15m', '-o', 'json')).stdout) as Incident;
}

function stepOf({ steps }: Incident, kind: StepKind, node = 'n3') {
  const found = steps.filter((step) => step.kind === kind && step.nodes.includes(node));
  expect(found).toHaveLength(1);
  return found[0] as Incident['steps'][number];
}

describe.each(['static', 'etcd'] as const)('an incident, %s', (kind) => {
  it('of a node that was killed is told by one command, while it is gone, when it is back, and after all were killed', async () => {
    const { nodes, start } = await startCluster(kind, ['n1', 'n2', 'n3'], { prepare: writePast });
    const [n1, n2, n3] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
    for (const by of [n1, n2]) await n3.waitForRecording(by);
    const changed = await changeSetting(n3);
    await sleep(1000); // pause: a change that is well before what it caused
    await breakDown(n3, n1);
    for (const by of [n1, n2]) await n3.waitForRecording(by);
    const killedMs = Date.now();
    await n3.kill();
    for (const by of [n1, n2]) await by.waitForEvent('member-lost', 'n3');

    const gone = await n1.cli('incident', '--last', '15m');
    expect(gone.stdout).toMatch(HEADLINE);
    expectTold(gone.stdout, /n3 stopped responding/);
    expect(gone.stdout).toMatch(/recorded by n[12], until [\d:.]+ \([\d.]+ s before it was lost\)/);
    // The report itself names what is missing.
    expect(gone.stderr).not.toContain('warning');
    expect(gone.code).toBe(3);

    const report = await reportOf(n2);
    const change = stepOf(report, 'config-changed');
    expect(change.changes).toEqual([{ key: 'storage.wal_dir', before: '/data/wal', after: '/mnt/slow/wal' }]);
    expect(change.timeMs).toBeGreaterThanOrEqual(changed.fromMs);
    expect(change.timeMs).toBeLessThanOrEqual(changed.toMs);
    const lost = stepOf(report, 'member-lost');
    expect(lost.timeMs).toBeGreaterThanOrEqual(killedMs - CLOCK_MS);
    expect(lost.timeMs - lost.uncertaintyMs).toBeLessThanOrEqual(killedMs + CLOCK_MS);

    const markdown = (await n2.cli('incident', '--last', '15m', '-o', 'markdown')).stdout;
    expectTold(markdown.replaceAll('\\', ''), /n3 stopped responding/);

    const again = await start('n3');
    const expectKilled = (asked: ClusterProcess) =>
      eventually(async () => {
        const back = await asked.cli('incident', '--last', '15m');
        expectTold(back.stdout, /n3 was killed/);
        expect(back.stdout).toMatch(HEADLINE);
        expect(back.stdout).toMatch(/back after [\d.]+ s, version/);
        expect(back.stdout).not.toContain('n3 stopped responding');
        expect(back.code).toBe(0);
      });
    await expectKilled(n1);
    const killed = stepOf(await reportOf(n1), 'killed');
    expect(killed.timeMs).toBeGreaterThanOrEqual(killedMs - CLOCK_MS);
    expect(killed.timeMs - killed.uncertaintyMs).toBeLessThanOrEqual(killedMs + CLOCK_MS);

    await sleep(3000); // pause: runs that last for a while
    await Promise.all([n1, n2, again].map((node) => node.kill()));
    const [asked] = (await Promise.all(['n1', 'n2', 'n3'].map(start))) as [ClusterProcess];
    await eventually(async () => {
      const after = await asked.cli('incident', '--last', '15m');
      expectTold(after.stdout, /n3 was killed 2 times/);
      expect(after.stdout).toMatch(HEADLINE);
      expect(after.stdout).toMatch(/n[12] and n[12] were killed/);
      expect(after.code).toBe(0);
    });
    // What was recorded before is still there, for when it is needed.
    expect(asked.kept('n3')?.text).toContain('the write-ahead log is gone');
  });
});
