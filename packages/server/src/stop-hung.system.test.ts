import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, scaled } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import type { PartialSettings } from './settings/settings.ts';
import { startWithSharedThreads, testSettings } from './testing/test-node.ts';

const LINE = '2026-11-15 05:00:00.000\tERROR\ta.go:1\t[A]: text\n';

/** What a stop waits for all that a node is connected to. */
const STOP_MS = 5000;

/** Accepts connections and answers none. */
async function startHole(): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, sockets };
}

const CLUSTERS: [string, (port: number) => PartialSettings['cluster']][] = [
  ['an etcd', (port) => ({ etcd: [`http://127.0.0.1:${port}`] })],
  ['a member', (port) => ({ members: [`m=http://127.0.0.1:${port}`] })],
];

it.each(CLUSTERS)(
  'a stop waits at most five seconds for %s, an archive, a receiver and a webhook together',
  async (_what, cluster) => {
    const dir = tempDir();
    mkdirSync(join(dir, 'logs'));
    writeFileSync(join(dir, 'logs', 'a.log'), LINE);
    const [joined, archive, otlp, webhook] = await Promise.all([startHole(), startHole(), startHole(), startHole()]);
    const url = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
    const node = await startWithSharedThreads({
      settings: testSettings(dir, {
        cluster: { nodeId: 'n', ...cluster(joined.port) },
        archive: { url: url(archive), intervalMs: 100 },
        ship: { otlp: url(otlp), otlpIntervalMs: 100 },
        notify: { webhook: [JSON.stringify({ name: 'ops', url: url(webhook), level: 'info' })] },
      }),
    });
    appendFileSync(join(dir, 'logs', 'a.log'), LINE);
    // Each of them is waited for when the node is told to stop.
    for (const { sockets } of [joined, archive, otlp, webhook])
      await eventually(() => expect(sockets.size).toBeGreaterThan(0));
    const stopped = node.stop().then(() => 'stopped');
    expect(await Promise.race([stopped, delay(scaled(STOP_MS + 1000), 'still stopping', { ref: false })])).toBe(
      'stopped',
    );
  },
);
