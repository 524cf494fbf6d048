import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { canMount, mountSmallDisk, remount } from '@porthole/archive/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';

const RECORD =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\t(DEBUG|INFO|WARN|ERROR)\t[^\t]+:\d+\t\[[^\]]+\] \[[^\]]+\]: [^\t]+(\t\{.*\})?$/;

/** Every request becomes a record of the own log, with an id of its own. */
const DEBUG = ['--log-level', 'debug'];

async function sendRequests(node: AttackedNode, times: number): Promise<void> {
  for (let number = 0; number < times; number++) await node.request('api/v1/log/list');
}

/** The ids of the requests that `ask` has sent. */
function idsIn(lines: readonly string[]): string[] {
  const found = lines.filter((line) => line.includes('answered') && line.includes('"route":"/api/v1/log/list"'));
  return [...new Set(found.map((line) => /"id":"([^"]+)"/.exec(line)?.[1] ?? ''))];
}

async function readiness(node: AttackedNode): Promise<string> {
  return (JSON.parse((await node.request('health/ready')).text) as { status: string }).status;
}

// Without the right to mount there is no disk to fill; own-log/disk-full.test.ts fills a file instead.
describe.skipIf(!canMount())('a disk for the own log', () => {
  it('that is full stops nothing, is reported, and is written to again once there is room', async () => {
    const cwd = tempDir();
    mountSmallDisk(join(cwd, 'data'), '256k');
    const node = await AttackedNode.start({ cwd, flags: DEBUG });
    await sendRequests(node, 20);
    await eventually(() => expect(idsIn(node.ownLines)).toHaveLength(20));
    fill(join(cwd, 'data', 'filler'));
    await sendRequests(node, 40);
    await eventually(async () => expect(await readiness(node)).toBe('degraded'));
    rmSync(join(cwd, 'data', 'filler'));
    await eventually(async () => expect(await readiness(node)).toBe('ready'));
    await eventually(() => expect(idsIn(node.ownLines)).toHaveLength(60));
    for (const line of node.ownLines) expect(line).toMatch(RECORD);
    await node.expectHealthy();
  });

  it('that is read-only does not keep the node from starting, and has all of it once it can be written', async () => {
    const cwd = tempDir();
    const disk = join(cwd, 'data');
    mountSmallDisk(disk, '4m');
    remount(disk, 'ro');
    const node = await AttackedNode.start({ cwd, flags: DEBUG });
    expect(node.program.stderr).toContain('the own log cannot be written');
    await sendRequests(node, 40);
    expect(await readiness(node)).toBe('degraded');
    remount(disk, 'rw');
    await eventually(async () => expect(await readiness(node)).toBe('ready'));
    await eventually(() => expect(idsIn(node.ownLines)).toHaveLength(40));
    expect(node.ownLines[0]).toContain('the node is starting');
    await node.expectHealthy();
  });
});

function fill(path: string): void {
  for (let size = 16 * 1024 * 1024; size >= 1024; size /= 2) {
    try {
      writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // what fits has been written
    }
  }
}

describe('a node that is killed at any moment', () => {
  it('has every record in its log that was there when somebody looked, and no half one is left in the way', async () => {
    const cwd = tempDir();
    let known: string[] = [];
    for (let life = 0; life < 5; life++) {
      const node = await AttackedNode.start({ cwd, flags: DEBUG });
      const asking = sendRequests(node, 1000).catch(() => {});
      await eventually(() => expect(idsIn(node.ownLines).length).toBeGreaterThan(known.length + 10 * life + 3));
      known = idsIn(node.ownLines);
      node.program.kill('SIGKILL');
      await Promise.all([asking, node.program.end()]);
    }
    const last = await AttackedNode.start({ cwd, flags: ['--log-dir', 'data/log'] });
    expect(idsIn(last.ownLines)).toEqual(expect.arrayContaining(known));
    const torn = last.ownLines.filter((line) => !RECORD.test(line));
    expect(torn.length).toBeLessThanOrEqual(5); // at most the one that was being written, each time
    const found = await last.request('api/v1/log/search?src==porthole.log&order=oldest&limit=10000');
    expect(found.text.split('\n').filter((line) => line.includes('the node is starting'))).toHaveLength(6);
    await last.expectHealthy();
  });

  it.each(['SIGHUP', 'SIGTERM'] as const)('takes %s in the middle of its work', async (signal) => {
    const node = await AttackedNode.start({ flags: DEBUG });
    const asking = sendRequests(node, 500).catch(() => {});
    for (let times = 0; times < 5; times++) {
      await delay(20); // pause: any moment will do
      if (signal === 'SIGHUP') node.program.kill(signal);
    }
    await node.expectHealthy();
    if (signal === 'SIGHUP') await asking;
    node.program.kill('SIGTERM');
    expect(await node.program.end()).toMatchObject({ code: 0, signal: null });
    expect(node.ownLines.at(-1)).toContain('the node has stopped');
    for (const line of node.ownLines) expect(line).toMatch(RECORD);
  });
});
