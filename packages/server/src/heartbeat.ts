import type { Logger } from './own-log/logger.ts';

/** Often enough to see when a node was well, seldom enough to be lost in a day's log. */
const PERIOD_MS = 60_000;

/** Writes how the process is to the own log once a minute; returns what ends it. */
export function startHeartbeat(log: Logger, facts: () => Record<string, number>): () => void {
  const timer = setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    const toMiB = (bytes: number) => Math.round(bytes / 1_048_576);
    log.info('heartbeat', 'still well', { rssMiB: toMiB(rss), heapMiB: toMiB(heapUsed), ...facts() });
  }, PERIOD_MS).unref();
  return () => clearInterval(timer);
}
