import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { canMount, mountSmallDisk } from '@porthole/archive/testing';
import type { ClusterEnd, ClusterRecord, MemberReport } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { type ClusterProcess, renderRecord, startCluster } from './testing/cluster-process.ts';
import { fakeClock } from './testing/program.ts';

/** How often a node is killed: `KILLS=100` for the whole distribution. */
const KILLS = Number(process.env.KILLS ?? 2);

const LINES_PER_SECOND = 1000;

const IDS = ['n1', 'n2', 'n3'];

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

/** Resolves when another node has what a node wrote after the call. */
async function untilRecorded(by: ClusterProcess, id: string): Promise<void> {
  const calledMs = Date.now();
  await eventually(async () => {
    const { status, body } = await by.request(`/api/v1/member/recordings/${id}`);
    expect(status).toBe(200);
    const { lostAgeMs, lastRecordMs } = JSON.parse(body);
    expect(lostAgeMs).toBeNull();
    expect(lastRecordMs).toBeGreaterThan(calledMs);
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
  const { nodes, start } = await startCluster('static', IDS);
  const [n1, n2] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
  let n3 = nodes[2] as ClusterProcess;
  const missing: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const writer = new Writer(n3);
    await untilRecorded(n1, 'n3');
    await delay(300 + Math.random() * 500); // pause: at any moment of its work
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
    n3 = await start('n3');
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
  const { nodes, start } = await startCluster('static', IDS);
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
  await expectBoth(await start('n1'));
});

/** Lines that are numbered across all nodes, and written whether their node runs or not, as a service does. */
class Service {
  readonly written: string[] = [];
  /** What the clock of a node is off by. */
  readonly offsetMs = new Map<string, number>();

  write({ id, cwd }: ClusterProcess, lines = 20): void {
    const timeMs = Date.now() + (this.offsetMs.get(id) ?? 0);
    let text = '';
    for (let line = 0; line < lines; line++) {
      this.written.push(`${id} wrote ${this.written.length}`);
      text += renderRecord(this.written.at(-1) ?? '', { timeMs });
    }
    appendFileSync(join(cwd, 'logs', 'service.log'), text);
  }
}

describe.each(['static', 'etcd'] as const)('a follow of a cluster, %s', (kind) => {
  it('has every line once, while clocks are set and members are killed, restarted and wiped', async () => {
    const clock = join(tempDir(), 'clock');
    const faked = fakeClock(clock);
    const env = (id: string): Record<string, string> => (id === 'n2' ? faked : {});
    const { nodes, start } = await startCluster(kind, IDS, { env });
    const [n1, n2, n3] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
    const service = new Service();
    for (const node of nodes) service.write(node);
    for (const node of [n2, n3]) await node.waitForRecording(n1);
    const early = service.written.length;
    const followed = await n1.follow();
    await eventually(() => expect(followed.memberOutcomes('n3')).not.toContain('refused'));
    const expectAll = () =>
      eventually(() => expect(followed.messages.toSorted()).toEqual(service.written.slice(early).toSorted()));
    const writeAll = () => nodes.forEach((node) => void service.write(node));
    writeAll();
    await expectAll();

    for (const [offset, noticed] of [
      ['+90', /set forward by (?:89|90)/],
      ['-90', /set back by 1(?:79|80)/],
    ] as const) {
      writeFileSync(clock, offset);
      service.offsetMs.set('n2', Number(offset) * 1000);
      writeAll();
      await expectAll();
      await eventually(async () => {
        const { body } = await n1.request('/api/v1/events?kind=clock-stepped&nodes=n2');
        expect(body).toMatch(noticed);
      });
    }

    await n2.kill();
    writeAll();
    const second = await start('n2');
    writeAll();
    await expectAll();
    await n3.waitForRecording(n1);
    await Promise.all([second, n3].map((node) => node.kill()));
    writeAll();
    const [, third] = (await Promise.all(['n2', 'n3'].map(start))) as [ClusterProcess, ClusterProcess];
    writeAll();
    await expectAll();

    // A disk that is lost with everything on it.
    await n3.waitForRecording(n1);
    await third.kill();
    for (const name of ['logs', 'data']) rmSync(join(n3.cwd, name), { recursive: true });
    const lost = service.written.filter((message) => message.startsWith('n3'));
    const hasGap = () =>
      expect(followed.items).toContainEqual(expect.objectContaining({ type: 'gap', node: 'n3', reason: 'gone' }));
    // The service may be back before its node, or only when the follow has found nothing.
    const restore = () => mkdirSync(join(n3.cwd, 'logs'), { recursive: true });
    if (kind === 'static') {
      restore();
      service.write(n3, 1);
    }
    await start('n3');
    if (kind === 'etcd') {
      await eventually(hasGap);
      restore();
    }
    // The follow reports that its position is gone, and goes on with what it finds; it is not said when.
    await eventually(async () => {
      service.write(n3, 1);
      const [message] = service.written.slice(-1);
      await eventually(() => expect(followed.messages).toContain(message), { withinMs: 1000 });
    });
    hasGap();
    expect(new Set(followed.messages).size).toBe(followed.messages.length);
    const { body } = await n1.request('/api/v1/member/recordings/n3/log/search?order=oldest&limit=1000');
    const items = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const messages = (items.slice(0, -1) as ClusterRecord[]).map(({ message }) => message);
    expect(messages).toEqual(expect.arrayContaining(lost));
    expect(new Set(messages).size).toBe(messages.length);
    expect((items.at(-1) as { limits?: string }).limits).toMatch(/^recorded by n[12], until /);
  });
});

// Without the right to mount there is no such disk; recorder.test.ts has one that only says so.
it.skipIf(!canMount())('a recorder whose disk is full says so and stops; its node and the others go on', async () => {
  const prepare = (id: string, cwd: string) => {
    if (id === 'n1') mountSmallDisk(join(cwd, 'data', 'recorded'), '160m');
  };
  const { nodes } = await startCluster('static', IDS, { prepare });
  const [n1, n2, n3] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
  n3.write('before');
  for (const by of [n1, n2]) await n3.waitForRecording(by);
  const fill = () => writeFileSync(join(n1.cwd, 'data', 'recorded', 'filler'), Buffer.alloc(161 * 2 ** 20));
  expect(fill).toThrow('ENOSPC');
  n3.write('after');
  await eventually(async () => {
    const { body } = await n1.request('/api/v1/events?kind=recorder-stopped');
    expect(body).toContain('members are not recorded: ');
  });
  await eventually(async () =>
    expect(JSON.parse((await n1.request('/health/ready')).body)).toMatchObject({ status: 'degraded' }),
  );
  for (const node of nodes) expect((await node.search()).messages).toEqual(['before', 'after']);
  await delay(1000); // pause: what the other one has ends later, by more than clocks differ
  n3.write('later');
  await n3.waitForRecording(n2);
  await n3.kill();
  await eventually(async () => {
    const { messages, end } = await n1.search();
    expect(messages).toEqual(['before', 'after', 'later']);
    expect(end.members.find(({ id }) => id === 'n3')).toMatchObject({ outcome: 'refused', recordedBy: 'n2' });
  });
});
