import type { LogDir } from '@porthole/logs';
import { startProcessMetrics } from './process-metrics.ts';
import { type Metric, renderMetrics } from './prometheus-text.ts';
import { CallCounts, type CallOutcome, type CutReason, RequestCounts, type RequestOutcome } from './request-counts.ts';

export interface NodeMetrics {
  countRequest(outcome: RequestOutcome): void;
  countCut(reason: CutReason): void;
  countCall(outcome: CallOutcome): void;
  /** All metrics in the Prometheus text format. */
  render(): Promise<string>;
  close(): void;
}

/** Where gauges get their values when the metrics are read. */
export interface MetricSources {
  openStreams(): number;
  logs(): LogDir['usage'];
  ownLog(): { written: number; dropped: number; errors: number };
  cluster(): { members: number; isFresh: boolean };
  access(): { failures: number; failingFiles: number };
}

export function createMetrics(sources: MetricSources): NodeMetrics {
  const requests = new RequestCounts();
  const calls = new CallCounts();
  const own = startProcessMetrics();
  return {
    countRequest: (outcome) => requests.count(outcome),
    countCut: (reason) => requests.countCut(reason),
    countCall: (outcome) => calls.count(outcome),
    render: async () => {
      const counted = [...requests.metrics(), ...calls.metrics()];
      return renderMetrics([...counted, ...nodeMetrics(sources), ...(await own.metrics())]);
    },
    close: () => own.close(),
  };
}

function nodeMetrics({ openStreams, logs, ownLog, cluster, access }: MetricSources): Metric[] {
  const { failures, failingFiles } = access();
  const { members, isFresh } = cluster();
  const { written, dropped, errors } = ownLog();
  const { openFiles, threads, jobs, replacedThreads, searches, indexBytes, readers } = logs();
  const metric = (type: Metric['type'], name: string, help: string, value: number): Metric => ({
    name: `porthole_${name}`,
    type,
    help,
    samples: [{ value }],
  });
  return [
    metric('gauge', 'open_streams', 'Responses being streamed now.', openStreams()),
    metric('gauge', 'open_log_files', 'Descriptors of log files open now.', openFiles),
    metric('gauge', 'scan_threads', 'Scan threads running now.', threads),
    metric('gauge', 'scan_jobs', 'Parts of files being scanned or waiting for a thread.', jobs),
    metric(
      'counter',
      'scan_threads_replaced_total',
      'Scan threads replaced because they died or did not stop in time.',
      replacedThreads,
    ),
    metric('gauge', 'searches', 'Searches, histograms and digests running.', searches),
    metric('gauge', 'index_bytes', 'Memory used by the block index.', indexBytes),
    metric('gauge', 'followed_logs', 'Logs being followed.', readers),
    metric('gauge', 'cluster_members', 'Members of the cluster, this node included.', members),
    metric('gauge', 'cluster_membership_fresh', '0 while the registry of members does not respond.', isFresh ? 1 : 0),
    metric('counter', 'auth_failures_total', 'Requests without valid credentials.', failures),
    metric('gauge', 'credential_files_failing', 'Settings whose changed files cannot be used.', failingFiles),
    metric('counter', 'own_log_records_total', 'Records written to the own log.', written),
    metric(
      'counter',
      'own_log_dropped_records_total',
      'Records of the own log dropped because its queue was full.',
      dropped,
    ),
    metric('counter', 'own_log_errors_total', 'Failed writes of the own log.', errors),
  ];
}
