import type { BundleRequest, ClusterConfig, ClusterNodes, ClusterState, MemberOutcome } from '@porthole/contract';
import type { Health } from '../health.ts';
import type { NodeMetrics } from '../metrics/metrics.ts';
import type { BundleWriter } from './bundle-writer.ts';
import type { EntryNames } from './entry-names.ts';

/** Sources and limits of bundles. */
export interface BundleSources {
  health: Health;
  metrics: Pick<NodeMetrics, 'render'>;
  maxBytes: number;
  timeoutMs: number;
  /** Records per search. */
  maxRecords: number;
  /** Time budgets of a search, and of a histogram or digest. */
  searchBudgetMs: number;
  countBudgetMs: number;
}

/** One bundle that is being created. */
export interface BundleContext {
  sources: BundleSources;
  cluster: ClusterState;
  request: BundleRequest;
  madeMs: number;
  nodes: ClusterNodes;
  configs: ClusterConfig['configs'];
  writer: BundleWriter;
  names: EntryNames;
  /** Fires when the client disconnects or the time limit is reached. */
  signal: AbortSignal;
}

/** Members without data at all; a member that refuses one request may accept others. */
const UNRESPONSIVE: ReadonlySet<MemberOutcome> = new Set<MemberOutcome>([
  'refused',
  'timeout',
  'tls',
  'auth',
  'gone',
  'left',
]);

export function isUnresponsive({ report }: ClusterConfig['configs'][number]): boolean {
  return UNRESPONSIVE.has(report.outcome);
}
