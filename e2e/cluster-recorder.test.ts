import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterEnd, ClusterRecord, MemberReport } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { ClusterProcess } from './testing/cluster-process.ts';

/** How often a node is killed: `KILLS=100` for the whole distribution. */
const KILLS = Number(process.env.KILLS ?? 2);

const LINES_PER_SECOND = 1000;

/** What may be missing at the end of a recording. The machine may do much else. */
const MOST_MISSING_MS = KILLS > 10 ? 1000 : 3000;

/** Writes numbered lines to the log of a node, each with its time. */
class Writer {
  readonly #file: string;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #startedMs = Date.now();
  #lines = 0;

  constructor({ cwd }: ClusterProcess) {
    this.#file = join(cwd, 'logs', 'busy.log');
    this.#timer = setInterval(() => this.#write(), 5);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #write(): void {
    const due = Math.floor(((Date.now() - this.#startedMs) * LINES_PER_SECOND) / 1000);
    const time = new Date().toISOString().replace('T', ' ').slice(0, 23);
    let text = '';
    for (; this.#lines < due; this.#lines++)
      text += `${time}\tINFO\tbusy.go:1\t[Busy]: line ${this.#lines} of a node that does quite some work\n`;
    if (text !== '') appendFileSync(this.#file, text);
  }
}

async function startNodes(): Promise<{ nodes: ClusterProcess[]; start(index: number): Promise<ClusterProcess> }> {
  const ports = await freePorts(3);
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`).join(',');
  const dirs: string[] = [];
  const start = async (index: number) => {
    const flags = ['--cluster-members', members, '--http-port', String(ports[index])];
    const cwd = dirs[index];
    const node = await ClusterProcess.start(`n${index + 1}`, { flags, ...(cwd !== undefined && { cwd }) });
    dirs[index] = node.cwd;
    return node;
  };
  return { nodes: await Promise.all(ports.map((_, index) => start(index))), start };
}

/** Resolves when what a node writes arrives at another one as it is written. */
async function untilRecorded(by: ClusterProcess, id: string): Promise<void> {
  await eventually(async () => {
    const { status, body } = await by.request(`/api/v1/cluster/recordings/${id}`);
    expect(status).toBe(200);
    const { ageMs, lostAgeMs, lastRecordMs } = JSON.parse(body);
    expect(lostAgeMs).toBeNull();
    expect(ageMs).toBeLessThan(1500);
    expect(Date.now() - lastRecordMs).toBeLessThan(1500);
  });
}

async function newestOf(
  asked: ClusterProcess,
  id: string,
): Promise<{ last: ClusterRecord | undefined; report: MemberReport }> {
  const items = await asked.lines<ClusterRecord | ClusterEnd>(`/log/search?nodes=${id}&limit=1`);
  const end = items.at(-1) as ClusterEnd;
  const report = end.members.find((member) => member.id === id) as MemberReport;
  return { last: items.length > 1 ? (items[0] as ClusterRecord) : undefined, report };
}

/** The times of the lines that a node has written until it was killed. */
function writtenUntil({ cwd }: ClusterProcess, killedMs: number): number[] {
  const lines = readFileSync(join(cwd, 'logs', 'busy.log'), 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines
    .map((line) => Date.parse(`${line.slice(0, 23).replace(' ', 'T')}Z`))
    .filter((timeMs) => timeMs <= killedMs);
}

it(`what a busy node wrote until a moment before it was killed is there, ${KILLS} times`, async () => {
  const { nodes, start } = await startNodes();
  const [n1, n2] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
  let n3 = nodes[2] as ClusterProcess;
  const missing: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const writer = new Writer(n3);
    await untilRecorded(n1, 'n3');
    await delay(300 + Math.random() * 500);
    const killedMs = Date.now();
    await n3.kill();
    writer.stop();
    const asked = kill % 2 === 0 ? n1 : n2;
    let found: Awaited<ReturnType<typeof newestOf>> | undefined;
    await eventually(async () => {
      found = await newestOf(asked, 'n3');
      expect(found.report).toMatchObject({
        outcome: 'refused',
        isPartial: true,
        recordedBy: expect.stringMatching(/^n[12]$/),
      });
      expect(found.report.detail).toMatch(/recorded by n[12], until [\d:.]+ \([\d.]+ s before it was lost\)$/);
    });
    const lastMs = found?.last?.timeMs ?? 0;
    const written = writtenUntil(n3, killedMs);
    missing.push((written.at(-1) ?? 0) - lastMs);
    // What is said to be complete is: of what was written before, nothing is missing.
    const { asOfMs } = found?.report ?? {};
    expect(lastMs).toBeGreaterThanOrEqual(written.findLast((timeMs) => timeMs < (asOfMs ?? 0) - 250) ?? 0);
    n3 = await start(2);
  }
  const sorted = missing.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  console.log(
    `missing of ${KILLS} kills, ms: median ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, most ${sorted.at(-1)}`,
  );
  const good = sorted.filter((ms) => ms <= MOST_MISSING_MS).length;
  expect(good / KILLS).toBeGreaterThanOrEqual(0.99);
});

it('of two nodes that are killed at the same moment, both are read from the third, also after it was killed itself', async () => {
  const { nodes, start } = await startNodes();
  const [n1, n2, n3] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
  const writers = [n2, n3].map((node) => new Writer(node));
  for (const id of ['n2', 'n3']) await untilRecorded(n1, id);
  await Promise.all([n2.kill(), n3.kill()]);
  for (const writer of writers) writer.stop();
  const expectBoth = async (asked: ClusterProcess) =>
    eventually(async () => {
      for (const id of ['n2', 'n3']) {
        const { last, report } = await newestOf(asked, id);
        expect(report).toMatchObject({ outcome: 'refused', recordedBy: 'n1', isPartial: true });
        expect(last?.message).toMatch(/^line \d+ of a node/);
      }
    });
  await expectBoth(n1);
  await n1.kill();
  await expectBoth(await start(0));
});
