import { startTestEtcd } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { ClusterProcess, writeRecord } from './testing/cluster-process.ts';
import { BINARY, tempDir } from './testing/program.ts';

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
  write('heard again');
  await areThere();
});
