import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metric } from './prometheus-text.ts';

/** Sampling of the event-loop delay; finer costs idle CPU, coarser misses short stalls. */
const LOOP_SAMPLE_MS = 20;

const NANOSECONDS = 1e-9;
const MICROSECONDS = 1e-6;

export interface ProcessMetrics {
  /** Resets the event-loop delay. */
  metrics(): Promise<Metric[]>;
  close(): void;
}

/** Process metrics, under the names that dashboards for Node.js expect. */
export function startProcessMetrics(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: LOOP_SAMPLE_MS });
  delay.enable();
  return {
    async metrics() {
      const openFds = await countOpenFds();
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      const delays = [0.5, 0.9, 0.99].map((quantile) => ({
        labels: { quantile },
        value: delay.percentile(quantile * 100) * NANOSECONDS,
      }));
      const longest = delay.max * NANOSECONDS;
      delay.reset();
      return [
        metric('counter', 'process_cpu_seconds_total', 'User and system CPU time.', (user + system) * MICROSECONDS),
        metric('gauge', 'process_start_time_seconds', 'Start of the process, in seconds since 1970.', startSeconds()),
        metric('gauge', 'process_resident_memory_bytes', 'Resident memory.', rss),
        ...(openFds === undefined ? [] : [metric('gauge', 'process_open_fds', 'Open file descriptors.', openFds)]),
        metric('gauge', 'nodejs_heap_size_used_bytes', 'Used heap of the JavaScript engine.', heapUsed),
        metric('gauge', 'nodejs_heap_size_total_bytes', 'Heap of the JavaScript engine.', heapTotal),
        metric('gauge', 'nodejs_external_memory_bytes', 'Memory of buffers and the like, outside the heap.', external),
        {
          name: 'nodejs_eventloop_delay_seconds',
          type: 'summary',
          help: 'Delay of the event loop since the metrics were last read.',
          samples: delays,
        },
        metric('gauge', 'nodejs_eventloop_delay_max_seconds', 'Longest such delay.', longest),
      ];
    },
    close: () => delay.disable(),
  };
}

function metric(type: Metric['type'], name: string, help: string, value: number): Metric {
  return { name, type, help, samples: [{ value }] };
}

function startSeconds(): number {
  return Math.round(performance.timeOrigin / 1000);
}

/** Known only on Linux. */
async function countOpenFds(): Promise<number | undefined> {
  try {
    return (await readdir('/proc/self/fd')).length;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return undefined;
  }
}
