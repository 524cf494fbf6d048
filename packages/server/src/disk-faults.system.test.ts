import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { canMount, mountSmallDisk, remount } from '@porthole/archive/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownDirs } from './own-dirs.ts';
import { requestJson, sendRequest } from './testing/send-request.ts';
import { startWithSharedThreads, testSettings } from './testing/test-node.ts';

interface Ready {
  status: string;
  checks: { name: string; ok: boolean; detail: string }[];
}

/** 4194304 is above the highest process id of Linux. */
const KILLED = `4194304-${crypto.randomUUID()}.tmp`;
const RUNNING = `${process.ppid}-${crypto.randomUUID()}.tmp`;

/** A node whose data is on a disk of its own; what it shows is elsewhere. */
async function startOn(disk: string) {
  const dir = tempDir();
  mkdirSync(join(dir, 'logs'));
  const settings = testSettings(dir, { logging: { dir: join(disk, 'own') } });
  const node = await startWithSharedThreads({ settings });
  onTestFinished(() => node.stop());
  const { httpPort: port } = node.node;
  const failing = async () => {
    const { checks } = await requestJson<Ready>(port, '/health/ready');
    return checks.filter(({ ok }) => !ok).map(({ name }) => name);
  };
  return { node, port, failing };
}

function fill(path: string): void {
  for (let size = 2 ** 20; size >= 512; size /= 2) {
    try {
      writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // what fits has been written
    }
  }
}

describe.skipIf(!canMount())('a disk for the data of a node', () => {
  it.each([
    ['full', (disk: string) => fill(join(disk, 'filler')), (disk: string) => rmSync(join(disk, 'filler'))],
    ['read-only', (disk: string) => remount(disk, 'ro'), (disk: string) => remount(disk, 'rw')],
  ])(
    'that is %s at the start has all events and configurations once it can be written',
    async (_what, breakIt, mend) => {
      const disk = join(tempDir(), 'data');
      mountSmallDisk(disk, '512k');
      breakIt(disk);
      const { node, port, failing } = await startOn(disk);
      expect(node.warnings.join()).not.toContain('events.max-size');
      await eventually(async () =>
        expect(await failing()).toEqual(expect.arrayContaining(['own log', 'events', 'config history'])),
      );
      expect(await requestJson(port, '/api/v1/config/history')).toMatchObject({
        nodes: [{ history: { isComplete: false } }],
      });
      mend(disk);
      await eventually(async () => expect(await failing()).toEqual([]));
      const events = (await sendRequest(port, '/api/v1/events')).body.toString();
      expect(events).toContain('the node started');
      const history = await requestJson(port, '/api/v1/config/history');
      expect(history).toMatchObject({ nodes: [{ history: { isComplete: true, periods: [{}] } }] });
      await eventually(() => expect(existsSync(join(disk, 'events', 'own', 'running.json'))).toBe(true));
    },
  );
});

it('what a killed process has left half-written is removed at the next start, and that of a living one is not', async () => {
  const data = tempDir();
  const { recorded, ...dirs } = ownDirs({ logging: { dir: join(data, 'own') }, cluster: { recordDir: '' } } as never);
  const begun = [...Object.values(dirs), join(recorded, 'm')].map((dir) => join(dir, 'state.json'));
  for (const path of begun) {
    mkdirSync(dirname(path), { recursive: true });
    for (const end of [KILLED, RUNNING]) writeFileSync(`${path}.${end}`, 'half');
  }
  await startOn(data);
  await eventually(() => {
    expect(begun.filter((path) => existsSync(`${path}.${KILLED}`))).toEqual([]);
  });
  expect(begun.filter((path) => existsSync(`${path}.${RUNNING}`))).toEqual(begun);
});
