import { setMaxListeners } from 'node:events';
import type { RequestClock } from '@porthole/contract';
import { createZone, type LogDir } from '@porthole/logs';
import type { Access } from '../auth/access.ts';
import type { AccessLog } from '../auth/access-log.ts';
import type { ReloadedFiles } from '../auth/reloaded-files.ts';
import type { NodeCluster } from '../cluster/node-cluster.ts';
import { createMetrics, type NodeMetrics } from '../metrics/metrics.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { createRateLimit } from './rate-limit.ts';
import { StreamSlots } from './stream-slots.ts';

/** Share of the time until the first byte that histograms and digests may use; the rest is for transfer. */
const COUNT_SHARE = 0.9;

/** Limits and checks shared by HTTP and gRPC: a client gains nothing by switching the transport. */
export interface RequestPolicy {
  access: Access;
  accessLog: AccessLog;
  slots: StreamSlots;
  metrics: NodeMetrics;
  /** Throws for a client that exceeds the request rate. */
  checkRate(address: string | undefined): void;
  /** Called for every request. */
  clock(): RequestClock;
  maxRecords: number;
  searchBudgetMs: number;
  /** For responses that are sent at once, which must be complete before the deadline of the first byte. */
  countBudgetMs: number;
  answerTimeoutMs: number;
  stallTimeoutMs: number;
  isStopping(): boolean;
  /** Fires when the node stops: follows then end with a closing event. */
  stopping: AbortSignal;
  /** Ends all follows with a closing event; they never end by themselves. */
  endFollows(): void;
}

export interface RequestPolicyDeps {
  settings: Settings;
  access: Access;
  accessLog: AccessLog;
  /** Credential files that could not be reloaded after a change. */
  reloadedFiles: Pick<ReloadedFiles, 'failures'>;
  logs: LogDir;
  ownLog: OwnLog;
  cluster: Pick<NodeCluster, 'status'>;
  isStopping(): boolean;
}

export function createRequestPolicy(deps: RequestPolicyDeps): RequestPolicy {
  const { settings, access, accessLog, reloadedFiles, logs, ownLog, cluster, isStopping } = deps;
  const { http, node, search } = settings;
  const slots = new StreamSlots({
    max: http.maxStreams,
    perClient: http.maxStreamsPerClient,
    hasMembers: settings.cluster.tokenFile !== '',
  });
  const stopping = new AbortController();
  // Every follow adds a listener, and there may be as many as streams are allowed.
  setMaxListeners(0, stopping.signal);
  const zone = createZone(node.timeZone);
  return {
    access,
    accessLog,
    slots,
    metrics: createMetrics({
      openStreams: () => slots.taken,
      logs: () => logs.usage,
      ownLog: () => ownLog.stats(),
      cluster: () => cluster.status,
      access: () => ({ failures: access.failures, failingFiles: reloadedFiles.failures.length }),
    }),
    checkRate: createRateLimit(http.maxRequestsPerSecond),
    clock: () => ({ nowMs: Date.now(), offsetMsAt: zone.offsetMsAt }),
    maxRecords: search.maxRecords,
    searchBudgetMs: search.budgetMs,
    countBudgetMs: Math.min(search.budgetMs, Math.ceil(http.answerTimeoutMs * COUNT_SHARE)),
    answerTimeoutMs: http.answerTimeoutMs,
    stallTimeoutMs: http.stallTimeoutMs,
    isStopping,
    stopping: stopping.signal,
    endFollows: () => stopping.abort(),
  };
}
