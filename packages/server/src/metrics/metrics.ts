import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { types } from 'node:util';
import type { ClusterGauges } from '@porthole/cluster';
import type { LogDir } from '@porthole/logs';
import { type Metric, renderMetrics } from './prometheus-text.ts';
import {
  CallCounts,
  type CallOutcome,
  type CutReason,
  type FaultPlace,
  RequestCounts,
  type RequestOutcome,
} from './request-counts.ts';

export interface NodeMetrics {
  countRequest(outcome: RequestOutcome): void;
  countCut(reason: CutReason): void;
  countCall(outcome: CallOutcome): void;
  countFault(place: FaultPlace): void;
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
  memberGauges(): ClusterGauges;
  access(): { failures: number; failingFiles: number };
  /** Of shipping to the archive; none without one. */
  archive(): Metric[];
  certificates(): Promise<Metric[]>;
}

export function createMetrics(sources: MetricSources): NodeMetrics {
  const requests = new RequestCounts();
  const calls = new CallCounts();
  const faults: Record<FaultPlace, number> = { http: 0, grpc: 0, process: 0 };
  const own = startProcessMetrics();
  return {
    countRequest: (outcome) => requests.count(outcome),
    countCut: (reason) => requests.countCut(reason),
    countCall: (outcome) => calls.count(outcome),
    countFault: (place) => {
      faults[place]++;
    },
    render: async () => {
      const counted = [...requests.metrics(), ...calls.metrics(), ...faultMetrics(faults)];
      const members = memberMetrics(sources.memberGauges());
      const certificates = await sources.certificates();
      const rest = [...members, ...certificates, ...sources.archive(), ...(await own.metrics())];
      return renderMetrics([...counted, ...nodeMetrics(sources), ...rest]);
    },
    close: () => own.close(),
  };
}

function faultMetrics({ process: unowned, ...requests }: Readonly<Record<FaultPlace, number>>): Metric[] {
  const help = 'Requests that failed because of a mistake in Porthole, by transport: http, grpc.';
  const samples = Object.entries(requests).map(([transport, value]) => ({ labels: { transport }, value }));
  return [
    { name: 'porthole_request_faults_total', type: 'counter', help, samples },
    metric('counter', 'porthole_process_faults_total', 'Unexpected errors that belong to no request.', unowned),
  ];
}

function nodeMetrics({ openStreams, logs, ownLog, cluster, access }: MetricSources): Metric[] {
  const { failures, failingFiles } = access();
  const { members, isFresh } = cluster();
  const { written, dropped, errors } = ownLog();
  const { openFiles, threads, jobs, replacedThreads, searches, indexBytes, diskIndex, readers } = logs();
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
    metric('gauge', 'searches', 'Searches and counts of records running.', searches),
    metric('gauge', 'index_bytes', 'Memory used by the block index.', indexBytes),
    metric('gauge', 'index_disk_bytes', 'Disk space used by indexes, see search.max-index-disk.', diskIndex.bytes),
    metric('gauge', 'index_disk_files', 'Index files on disk.', diskIndex.files),
    metric(
      'gauge',
      'index_disk_failing',
      '1 while indexes cannot be read from or written to disk.',
      diskIndex.isFailing ? 1 : 0,
    ),
    metric('counter', 'text_index_built_bytes_total', 'Bytes of text indexes written.', diskIndex.builtBytes),
    metric('counter', 'index_dropped_total', 'Damaged index files that were removed.', diskIndex.dropped),
    metric('counter', 'index_evicted_total', 'Index files removed to keep the limit.', diskIndex.evicted),
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

/** One series for each member; ids have no characters that need escaping. */
function memberMetrics({ members, isDuplicate, drift, silentMembers, keptCursors }: ClusterGauges): Metric[] {
  const gauge = (name: string, help: string, read: (member: ClusterGauges['members'][number]) => number | null) => ({
    name: `porthole_${name}`,
    type: 'gauge' as const,
    help,
    samples: members.flatMap((member) => {
      const value = read(member);
      return value === null ? [] : [{ labels: { member: member.id }, value }];
    }),
  });
  const seconds = (ms: number | null) => (ms === null ? null : ms / 1000);
  const single = (name: string, help: string, value: number | undefined) =>
    ({ name: `porthole_${name}`, type: 'gauge', help, samples: value === undefined ? [] : [{ value }] }) as const;
  return [
    gauge('member_up', '1 if the member was heard of lately, as far as this node knows.', ({ isUp }) => (isUp ? 1 : 0)),
    gauge('member_clock_offset_seconds', 'Its clock compared with this node.', (each) => seconds(each.clockOffsetMs)),
    gauge('member_last_record_age_seconds', 'Age of its newest record.', (each) => seconds(each.lastRecordAgeMs)),
    single('duplicate_id', '1 while another node uses the id of this one.', isDuplicate ? 1 : 0),
    single('config_drift_keys', 'Keys in which members of a role differ and should not.', drift?.keys),
    single('config_compared_members', 'Members whose configurations were compared for that.', drift?.members),
    single('silent_members', 'Members that requests do not wait for: they missed two in a row.', silentMembers),
    single('kept_cursors', 'Positions of cluster searches kept for clients.', keptCursors.count),
    single('kept_cursor_bytes', 'Memory used by them.', keptCursors.bytes),
  ];
}

/** Sampling of the event-loop delay; finer costs idle CPU, coarser misses short stalls. */
const LOOP_SAMPLE_MS = 20;

const NANOSECONDS = 1e-9;
const MICROSECONDS = 1e-6;

interface ProcessMetrics {
  /** Resets the event-loop delay. */
  metrics(): Promise<Metric[]>;
  close(): void;
}

/** Process metrics, under the names that dashboards for Node.js expect. */
function startProcessMetrics(): ProcessMetrics {
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
    if (!(types.isNativeError(error) && 'code' in error)) throw error;
    return undefined;
  }
}
