import { type MemberClock, type NodeState, withCoverage } from '@porthole/contract';
import { clusterConfigHistory, clusterEvents } from '../cluster-events.ts';
import type { IncidentSource } from '../incident/incident-requests.ts';
import { searchCluster } from '../records/search/cluster-search.ts';
import { clusterDigest } from '../state/counts/cluster-digest.ts';
import { clusterHistogram } from '../state/counts/cluster-histogram.ts';
import { clusterTop } from '../state/counts/cluster-top.ts';
import { fakeDeps } from '../state/testing/fake-deps.ts';
import { fakeCluster } from './fake-cluster.ts';

/** What reports ask, of these nodes. */
export function incidentSource(
  states: Readonly<Record<string, NodeState>>,
  clocks: Readonly<Record<string, MemberClock>> = {},
): IncidentSource {
  const deps = fakeDeps({ states, clocks, timeoutMs: 20_000 });
  const records = fakeCluster(states, { clocks, limits: { memberTimeoutMs: 20_000, firstBatchMs: 10_000 } });
  return {
    logHistogram: async (request, options) => withCoverage(await clusterHistogram(deps, request, options), request),
    logDigest: async (request, options) => withCoverage(await clusterDigest(deps, request, options), request),
    logTop: async (request, options) => withCoverage(await clusterTop(deps, request, options), request),
    search: (request, options) => searchCluster(records, request, options),
    events: (request, options) => clusterEvents(records, request, options),
    configHistory: (request, options) => clusterConfigHistory(deps, request, options),
  };
}
