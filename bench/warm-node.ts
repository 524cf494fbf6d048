import type { BenchContext } from './context.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { fetchHistogram, type Query, searchNode } from './send-request.ts';

/** A log in the folder, of the same kind as those that are asked about but never one of them. */
export const WARM_UP_FILE = 'warm-up.log';

const MINUTE_MS = 60_000;

/** The bench writes its times in UTC, wherever it runs. */
const ZONE_FLAGS = ['--node-time-zone', 'UTC'];

/** One question of each kind that is measured. */
const WARM_UP_QUERIES: readonly Query[] = [
  { q: 'no line says so', case: 'sensitive' },
  { q: 'no line says so' },
  { level: 'error' },
  { level: 'error' },
  { regex: 'took":"[0-9]{3}ms.*family', case: 'sensitive' },
  { order: 'oldest', time: Date.UTC(2026, 0, 1) + MINUTE_MS },
  { order: 'oldest', time: Date.UTC(2026, 0, 1) + 5 * MINUTE_MS },
  { from: Date.UTC(2026, 0, 1) + MINUTE_MS, to: Date.UTC(2026, 0, 1) + 2 * MINUTE_MS },
];

/**
 * A new node whose threads run and have compiled their code, but which knows nothing of any file except the one that was
 * used for this.
 */
export async function startWarmNode(
  context: BenchContext,
  dir: string,
  flags: readonly string[] = [],
): Promise<PortholeServer> {
  const server = await startPorthole(context, dir, [...ZONE_FLAGS, ...flags]);
  for (let times = 0; times < context.effort.warmUpTimes; times++) {
    for (const query of WARM_UP_QUERIES)
      await searchNode(server.url, { src: `=${WARM_UP_FILE}`, limit: 1000, ...query });
    await fetchHistogram(server.url, { src: `=${WARM_UP_FILE}` });
  }
  return server;
}
