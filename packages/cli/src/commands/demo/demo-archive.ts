import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@porthole/client';
import type { PartialSettings } from '@porthole/server';
import { initArchive } from '@porthole/server/archive';
import { startDemoClickHouse } from './demo-clickhouse.ts';
import { freePorts } from './free-ports.ts';

/** How often it is checked whether the history was shipped. */
const LOOK_MS = 1000;

/** What is older is only in the archive. */
const KEEP_MS = 3_600_000;

export interface DemoArchive {
  /** Of each node. */
  settings: Pick<PartialSettings, 'archive'>;
  /** Deletes older files once they were shipped, so that there is a past to look at. Ends when that is done. */
  forgetOld(logDirs: readonly string[], url: string, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a ClickHouse server and makes the tables. */
export async function openDemoArchive(dir: string): Promise<DemoArchive> {
  mkdirSync(dir, { recursive: true });
  const server = await startDemoClickHouse(dir, { ports: await freePorts(3) });
  const settings = { archive: { url: server.url } };
  await initArchive({ options: settings }, { dryRun: false }).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  return {
    settings,
    stop: () => server.stop(),
    async forgetOld(logDirs, url, signal) {
      const client = createClient({ url });
      while (!signal.aborted) {
        await delay(LOOK_MS, undefined, { signal }).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
        if (signal.aborted || !(await isShipped(client, logDirs.length))) continue;
        for (const logDir of logDirs) removeOld(logDir);
        return;
      }
    },
  };
}

/** Whether all nodes have shipped what they had when they started. */
async function isShipped(client: ReturnType<typeof createClient>, nodes: number): Promise<boolean> {
  const query = { order: 'newest', limit: 1, before: 0, after: 0, store: 'archive', fromMs: 0, toMs: 1 } as const;
  for await (const items of client.cluster.searchLogs(query))
    for (const item of items) {
      if (item.type !== 'end') continue;
      const recentMs = Date.now() - 60_000;
      return item.members.filter(({ asOfMs }) => asOfMs !== null && asOfMs > recentMs).length === nodes;
    }
  return false;
}

/** Rotated files whose last record is older. */
function removeOld(dir: string): void {
  for (const name of readdirSync(dir)) {
    const isRotated = /\d/.test(name);
    if (isRotated && statSync(join(dir, name)).mtimeMs < Date.now() - KEEP_MS) rmSync(join(dir, name));
  }
}
