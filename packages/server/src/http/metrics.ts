import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { RequestCounts, type RequestOutcome } from './request-counts.ts';

/** Sampling of the event-loop delay; finer costs idle CPU, coarser misses short stalls. */
const LOOP_SAMPLE_MS = 20;

export interface NodeMetrics {
  countRequest(outcome: RequestOutcome): void;
  /** An answer that ended before its last byte: the reader stalled, the client left, or the source failed. */
  countCut(reason: 'stalled' | 'client' | 'source'): void;
  render(): Promise<string>;
  close(): void;
}

/** What a gauge shows is asked for when the metrics are read. */
export interface MetricSources {
  openStreams(): number;
  openFiles(): number;
  ownLog(): { written: number; dropped: number; errors: number };
}

export function createMetrics(sources: MetricSources): NodeMetrics {
  const registry = new Registry();
  const requests = new RequestCounts();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  const cuts = new Counter({
    name: 'porthole_http_cut_answers_total',
    help: 'Answers that ended before their last byte, by reason: stalled, client, source.',
    labelNames: ['reason'],
    registers: [registry],
  });
  addGauges(registry, sources);
  return {
    countRequest: (outcome) => requests.count(outcome),
    countCut: (reason) => cuts.inc({ reason }),
    render: async () => requests.render() + (await registry.metrics()),
    close: () => registry.clear(),
  };
}

function addGauges(registry: Registry, { openStreams, openFiles, ownLog }: MetricSources): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge('porthole_open_streams', 'Answers being streamed now.', openStreams);
  gauge('porthole_open_log_files', 'Descriptors of log files open now.', openFiles);
  gauge('porthole_own_log_records', 'Records written to the own log since start.', () => ownLog().written);
  gauge(
    'porthole_own_log_dropped_records',
    'Records of the own log lost to a full queue since start.',
    () => ownLog().dropped,
  );
  gauge('porthole_own_log_errors', 'Failed writes of the own log since start.', () => ownLog().errors);
}
