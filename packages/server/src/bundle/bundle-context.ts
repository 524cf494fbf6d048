import type { BundleRequest, ClusterConfig, ClusterNodes, ClusterState, MemberOutcome } from '@porthole/contract';
import type { Health } from '../health.ts';
import type { NodeMetrics } from '../metrics/metrics.ts';
import type { BundleWriter } from './bundle-writer.ts';
import type { EntryNames } from './entry-names.ts';

/** What a node makes bundles of, and what one may cost. */
export interface BundleSources {
  health: Health;
  metrics: Pick<NodeMetrics, 'render'>;
  maxBytes: number;
  timeoutMs: number;
  /** Records of one question to the logs. */
  maxRecords: number;
  /** How long one question may look at logs, and how long one that is answered as a whole. */
  searchBudgetMs: number;
  countBudgetMs: number;
}

/** One bundle that is being made. */
export interface BundleContext {
  sources: BundleSources;
  cluster: ClusterState;
  request: BundleRequest;
  madeMs: number;
  nodes: ClusterNodes;
  configs: ClusterConfig['configs'];
  writer: BundleWriter;
  names: EntryNames;
  /** Fires when nobody wants it any more, or its time is over. */
  signal: AbortSignal;
}

/** Of these nothing can be had; of a member that says no to one question, maybe to others. */
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
