import type { Logger } from './own-log/logger.ts';

/** Often enough to see when a node was alive, rare enough not to fill the log. */
const PERIOD_MS = 60_000;

/** Logs the state of the process to the own log once a minute; returns a function that stops it. */
export function startHeartbeat(log: Logger, facts: () => Record<string, number>): () => void {
  const timer = setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    const toMiB = (bytes: number) => Math.round(bytes / 1_048_576);
    log.info('heartbeat', 'heartbeat', { rssMiB: toMiB(rss), heapMiB: toMiB(heapUsed), ...facts() });
  }, PERIOD_MS).unref();
  return () => clearInterval(timer);
}
