import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startTestEtcd } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { ClusterProcess, renderRecord, writeRecord } from './testing/cluster-process.ts';
import { BINARY } from './testing/program.ts';

/** How far the clock of the member that joins is ahead. */
const AHEAD_MS = 7000;

it('a member whose clock is ahead joins a running follow, is restarted, and the node that is asked is killed: no line is lost or given twice', async () => {
  const etcd = await startTestEtcd();
  const [port = 0] = await freePorts(1);
  const flags = ['--cluster-etcd', etcd.url];
  const startAsked = (cwd?: string) =>
    ClusterProcess.start('asked', { flags: [...flags, '--http-port', String(port)], ...(cwd && { cwd }) });
  const startFast = (cwd: string) =>
    ClusterProcess.start('fast', {
      flags,
      // programs: faketime
      through: ['faketime', '-f', `+${AHEAD_MS / 1000}s`, process.execPath, BINARY],
      cwd,
    });
  const asked = await startAsked();
  const followed = await asked.follow();
  const cwd = tempDir();
  writeRecord(cwd, 'long ago', { timeMs: Date.now() - 3_600_000 });
  const fast = await startFast(cwd);

  const written: string[] = [];
  const write = (text: string) => {
    written.push(`${text} ${written.length}`);
    fast.write(written.at(-1) ?? '', { timeMs: Date.now() + AHEAD_MS });
  };
  const ofFast = () => followed.messages.filter((message) => written.includes(message));
  const areThere = () => eventually(() => expect(ofFast()).toEqual(written));

  // It is followed from when it came online; its times are corrected from its first line on. On a busy machine it may be
  // late at first.
  await eventually(() => expect(followed.memberOutcomes('fast').at(-1)).toBe('ok'));
  for (const text of ['joined', 'joined', 'joined']) write(text);
  await areThere();
  for (const item of followed.items)
    if (item.type === 'record' && item.node === 'fast') expect(item.atMs).toBeLessThan(Date.now() + 2000);

  fast.program.kill('SIGKILL');
  await fast.program.end();
  write('while it was down');
  await startFast(fast.cwd);
  write('back');
  await areThere();
  await eventually(() => expect(followed.memberOutcomes('fast').at(-1)).toBe('ok'));

  // Its connection is gone, and with it whatever the node knew of where it was.
  await asked.kill();
  for (const text of ['unheard', 'unheard', 'unheard']) write(text);
  await startAsked(asked.cwd);
  write('received again');
  await areThere();
});

it('the lines of one file never change their order, while several members write fast and one of them is paused', async () => {
  const etcd = await startTestEtcd();
  const flags = ['--cluster-etcd', etcd.url];
  const members = await Promise.all(['a', 'b', 'c'].map((id) => ClusterProcess.start(id, { flags })));
  const [asked, , paused] = members as [ClusterProcess, ClusterProcess, ClusterProcess];
  await eventually(async () => expect((await asked.nodes()).nodes).toHaveLength(3));
  const followed = await asked.follow();

  const written = new Map<string, string[]>();
  /** A few hundred lines in each file, their times spread over the last moments as if they were written one by one. */
  const writeAll = () => {
    for (const { id, cwd } of members)
      for (const file of ['first.log', 'second.log']) {
        const numbers = written.get(`${id} ${file}`) ?? [];
        written.set(`${id} ${file}`, numbers);
        const nowMs = Date.now();
        const lines = Array.from({ length: 200 }, (_, index) => {
          numbers.push(String(numbers.length));
          return renderRecord(numbers.at(-1) ?? '', { timeMs: nowMs - 20 + index / 10 });
        });
        appendFileSync(join(cwd, 'logs', file), lines.join(''));
      }
  };
  for (let round = 0; round < 60; round++) {
    if (round === 15) paused.program.kill('SIGSTOP');
    if (round === 45) paused.program.kill('SIGCONT');
    writeAll();
    await setTimeout(50); // pause: the pace of the writers
  }
  const received = () => {
    const numbers = new Map<string, string[]>();
    for (const item of followed.items) {
      if (item.type !== 'record') continue;
      const key = `${item.node} ${item.file}`;
      const known = numbers.get(key) ?? [];
      known.push(item.message);
      numbers.set(key, known);
    }
    return numbers;
  };
  const count = (numbers: ReadonlyMap<string, string[]>) => [...numbers.values()].flat().length;
  await eventually(() => expect(count(received())).toBe(count(written)));
  for (const [key, numbers] of written) expect([key, received().get(key)]).toEqual([key, numbers]);
  expect(followed.items.filter(({ type }) => type === 'gap')).toEqual([]);
});
