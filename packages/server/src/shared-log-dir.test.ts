import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNode } from './create-node.ts';
import { checkOwnLog } from './doctor/check-log-files.ts';
import { runCheck } from './doctor/testing/run-check.ts';

/** A directory, and another path to it. */
function logDir(): { dir: string; link: string } {
  const outer = tempDir();
  const [dir, link] = [join(outer, 'own'), join(outer, 'link')];
  mkdirSync(dir);
  symlinkSync(dir, link);
  return { dir, link };
}

async function open(dir: string) {
  const node = await createNode({ settings: { logging: { dir } } });
  onTestFinished(() => node.close());
  return node;
}

/** Another process that has the file open like this, as it knows it. */
async function startHolder(path: string, flags: 'a+' | 'r'): Promise<{ pid: number; kill(): Promise<void> }> {
  const script = `require('node:fs').openSync(process.argv[1], process.argv[2]); console.log(); setInterval(() => {}, 1e6)`;
  const child = spawn(process.execPath, ['-e', script, path, flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { pid: child.pid ?? 0, kill };
}

describe('a node whose logging.dir another one uses', () => {
  it('warns, in its own log too, if that is in the same process and knows it by another path', async () => {
    const { dir, link } = logDir();
    const first = await open(dir);
    expect(first.warnings).toEqual([]);
    const { warnings } = await open(link);
    const warning = `logging.dir: another node (in this process) writes its own log to ${link} too`;
    expect(warnings).toEqual([expect.stringContaining(warning)]);
    await eventually(() => expect(readFileSync(join(dir, 'porthole.log'), 'utf8')).toContain(warning));
    expect(await runCheck(checkOwnLog, { settings: { logging: { dir: link } } })).toContainEqual(
      expect.objectContaining({ state: 'warning', detail: expect.stringContaining('2 nodes write their own log to') }),
    );
  });

  it('warns if that is another process, until it is killed, and not because somebody reads its log', async () => {
    const { dir, link } = logDir();
    await (await open(dir)).close();
    const reader = await startHolder(join(dir, 'porthole.log'), 'r');
    const here = openSync(join(dir, 'porthole.log'), 'r');
    const writer = await startHolder(join(link, 'porthole.log'), 'a+');
    const { warnings, close } = await open(dir);
    expect(warnings).toEqual([expect.stringContaining(`another node (process ${writer.pid}) writes`)]);
    await close();
    await writer.kill();
    const after = await open(dir);
    expect(after.warnings).toEqual([]);
    closeSync(here);
    await reader.kill();
  });
});
