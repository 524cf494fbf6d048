import { X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { types } from 'node:util';
import type { ClusterGauges } from '@porthole/cluster';
import { EVENT_KINDS } from '@porthole/contract';
import type { LogDir } from '@porthole/logs';
import type { Settings } from '../settings/settings.ts';
import { CERTIFICATE_BLOCKS } from '../tls-files.ts';
import { ownVersion } from '../version.ts';
import { Durations, type Metric, renderMetrics, type Sample } from './prometheus-text.ts';

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
interface MetricSources {
  openStreams(): number;
  logs(): LogDir['usage'];
  ownLog(): { written: number; dropped: number; errors: number };
  cluster(): { members: number; isFresh: boolean };
  memberGauges(): ClusterGauges;
  access(): { failures: number; failingFiles: number };
  /** Events written since the start, and what is counted of the logs; `undefined`: no events are kept. */
  events(): { counts: ReadonlyMap<string, number>; logs: Iterable<CountedLog> } | undefined;
  /** The metrics of shipping to the archive and the like; none if nothing is shipped. */
  shipping(): Metric[];
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
      const rest = [...members, ...certificates, ...sources.shipping(), ...(await own.metrics())];
      counted.push(...eventMetrics(sources.events()));
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

interface CountedLog {
  name: string;
  /** By level. */
  totals: Readonly<Record<string, number | undefined>>;
}

/** Logs with series of their own, those with most records; the others are one. */
const MAX_COUNTED_LOGS = 100;
const OTHER_LOGS = '(others)';

/** Levels that every log has a series of, also before the first such record. */
const ALERTED_LEVELS = { WARN: 0, ERROR: 0, FATAL: 0 };

export function eventMetrics(events: ReturnType<MetricSources['events']>): Metric[] {
  const version = { labels: { version: ownVersion(), node: process.versions.node }, value: 1 };
  const build = { name: 'porthole_build_info', help: 'The version of Porthole and of Node.js; always 1.' } as const;
  const info: Metric = { ...build, type: 'gauge', samples: [version] };
  if (!events) return [info];
  // All of them from the start: an increase is only seen of a series that was there before.
  const kinds = EVENT_KINDS.map((kind) => ({ labels: { kind }, value: events.counts.get(kind) ?? 0 }));
  return [
    info,
    {
      name: 'porthole_events_total',
      type: 'counter',
      help: 'Events this node has written since it started, by kind.',
      samples: kinds,
    },
    {
      name: 'porthole_log_records_total',
      type: 'counter',
      help: 'Records written to logs since the node started, by log and level.',
      samples: logSamples(events.logs),
    },
  ];
}

function logSamples(logs: Iterable<CountedLog>): Sample[] {
  const total = ({ totals }: CountedLog) => Object.values(totals).reduce<number>((sum, count = 0) => sum + count, 0);
  const sorted = [...logs].sort((a, b) => total(b) - total(a));
  const others: Record<string, number> = {};
  for (const { totals } of sorted.slice(MAX_COUNTED_LOGS))
    for (const [level, count = 0] of Object.entries(totals)) others[level] = (others[level] ?? 0) + count;
  return [...sorted.slice(0, MAX_COUNTED_LOGS), { name: OTHER_LOGS, totals: others }].flatMap(({ name, totals }) =>
    Object.entries({ ...ALERTED_LEVELS, ...totals }).map(([level, value = 0]) => ({
      labels: { log: name, level: level.toLowerCase() },
      value,
    })),
  );
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
      diskIndex.problem === undefined ? 0 : 1,
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
function memberMetrics(gauges: ClusterGauges): Metric[] {
  const { members, namesakeUrl, drift, silentMembers, keptCursors, recorded } = gauges;
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
  const ofRecorded = (name: string, help: string, read: (each: ClusterGauges['recorded'][number]) => number) => ({
    ...single(name, help, undefined),
    samples: recorded.map((each) => ({ labels: { member: each.id }, value: read(each) })),
  });
  return [
    gauge('member_up', '1 if the member was heard of lately, as far as this node knows.', ({ isUp }) => (isUp ? 1 : 0)),
    gauge('member_clock_offset_seconds', 'Its clock compared with this node.', (each) => seconds(each.clockOffsetMs)),
    gauge('member_last_record_age_seconds', 'Age of its newest record.', (each) => seconds(each.lastRecordAgeMs)),
    single('duplicate_id', '1 while another node uses the id of this one.', namesakeUrl === null ? 0 : 1),
    single('config_drift_keys', 'Keys in which members of a role differ and should not.', drift?.keys),
    single('config_compared_members', 'Members whose configurations were compared for that.', drift?.members),
    single('silent_members', 'Members that requests do not wait for: they missed two in a row.', silentMembers),
    ofRecorded('recorded_bytes', 'Size of what this node has recorded of a member.', ({ bytes }) => bytes),
    ofRecorded('recorded_age_seconds', 'Time since nothing of it is missing.', ({ ageMs }) => ageMs / 1000),
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

interface RequestOutcome {
  route: string;
  method: string;
  status: number;
  bytes: number;
  seconds: number;
}

/**
 * Why a response ended before its last byte: the client stalled or disconnected, its credentials ended, or the source
 * failed.
 */
export type CutReason = 'stalled' | 'client' | 'credentials' | 'source';

/** Where a mistake in this program showed: in a request, by its transport, or in nothing that could be traced to one. */
export type FaultPlace = 'http' | 'grpc' | 'process';

interface RouteCounts {
  /** Requests by method and status. */
  requests: Map<string, Map<number, number>>;
  bytes: number;
  durations: Durations;
}

/** Counters of completed requests. Called for every request, so counting is plain arithmetic. */
class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  readonly #cuts: Record<CutReason, number> = { stalled: 0, client: 0, credentials: 0, source: 0 };

  count({ route, method, status, bytes, seconds }: RequestOutcome): void {
    const counts = this.#routes.get(route) ?? this.#begin(route);
    const byStatus = counts.requests.get(method) ?? new Map<number, number>();
    if (byStatus.size === 0) counts.requests.set(method, byStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    counts.bytes += bytes;
    counts.durations.count(seconds);
  }

  countCut(reason: CutReason): void {
    this.#cuts[reason]++;
  }

  metrics(): Metric[] {
    const routes = [...this.#routes];
    return [
      {
        name: 'porthole_http_requests_total',
        type: 'counter',
        help: 'Completed requests, by route, method and status.',
        samples: routes.flatMap(requestSamples),
      },
      {
        name: 'porthole_http_response_bytes_total',
        type: 'counter',
        help: 'Bytes of response bodies sent, by route.',
        samples: routes.map(([route, { bytes }]) => ({ labels: { route }, value: bytes })),
      },
      {
        name: 'porthole_http_request_duration_seconds',
        type: 'histogram',
        help: 'Time from the request to the last byte of its response, by route.',
        samples: routes.flatMap(([route, { durations }]) => durations.samples({ route })),
      },
      {
        name: 'porthole_http_cut_answers_total',
        type: 'counter',
        help: 'Responses that ended before their last byte, by reason: stalled, client, credentials, source.',
        samples: Object.entries(this.#cuts).map(([reason, value]) => ({ labels: { reason }, value })),
      },
    ];
  }

  #begin(route: string): RouteCounts {
    const counts = { requests: new Map<string, Map<number, number>>(), bytes: 0, durations: new Durations() };
    this.#routes.set(route, counts);
    return counts;
  }
}

function requestSamples([route, { requests }]: [string, RouteCounts]): Sample[] {
  return [...requests].flatMap(([method, byStatus]) =>
    [...byStatus].map(([status, value]) => ({ labels: { route, method, status: String(status) }, value })),
  );
}

interface CallOutcome {
  /** Service and method. */
  method: string;
  /** Name of the gRPC status. */
  status: string;
  seconds: number;
}

interface MethodCounts {
  calls: Map<string, number>;
  durations: Durations;
}

/** Counts of gRPC calls. */
class CallCounts {
  readonly #methods = new Map<string, MethodCounts>();

  count({ method, status, seconds }: CallOutcome): void {
    const counts = this.#methods.get(method) ?? { calls: new Map<string, number>(), durations: new Durations() };
    this.#methods.set(method, counts);
    counts.calls.set(status, (counts.calls.get(status) ?? 0) + 1);
    counts.durations.count(seconds);
  }

  metrics(): Metric[] {
    const methods = [...this.#methods];
    return [
      {
        name: 'porthole_grpc_calls_total',
        type: 'counter',
        help: 'gRPC calls ended, by method and status.',
        samples: methods.flatMap(([method, { calls }]) =>
          [...calls].map(([status, value]) => ({ labels: { method, status }, value })),
        ),
      },
      {
        name: 'porthole_grpc_call_duration_seconds',
        type: 'histogram',
        help: 'Time from the call to its status, by method.',
        samples: methods.flatMap(([method, { durations }]) => durations.samples({ method })),
      },
    ];
  }
}

type TlsSettings = Pick<Settings, 'tls' | 'auth'>;

/** When the certificates that this node uses expire; no sample without TLS, NaN for a file that cannot be read. */
export async function certificateMetrics({ tls, auth }: TlsSettings, nowMs: number): Promise<Metric[]> {
  const files = tls.certFile === '' ? [] : [{ name: 'server', path: tls.certFile }];
  if (files.length > 0 && auth.clientCaFile !== '') files.push({ name: 'client-ca', path: auth.clientCaFile });
  const samples = files.map(async ({ name, path }) => ({
    labels: { certificate: name },
    value: (await readExpiry(path)).map((expiryMs) => (expiryMs - nowMs) / 1000).reduce(earliest, Number.NaN),
  }));
  return [
    {
      name: 'porthole_certificate_expiry_seconds',
      type: 'gauge',
      help: 'Time until the first certificate of a file expires; negative if one has.',
      samples: await Promise.all(samples),
    },
  ];
}

/** When each certificate of a file expires; none if it cannot be read. Its reload fails, too, and reports why. */
async function readExpiry(path: string): Promise<number[]> {
  try {
    const blocks = (await readFile(path, 'latin1')).match(CERTIFICATE_BLOCKS) ?? [];
    return blocks.map((block) => Date.parse(new X509Certificate(block).validTo));
  } catch (error) {
    if (error instanceof Error) return [];
    throw error;
  }
}

function earliest(first: number, second: number): number {
  return Number.isNaN(first) ? second : Math.min(first, second);
}
