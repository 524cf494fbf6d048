import type { ClusterConfigDiff, ClusterDigest, NodeSettings } from '@porthole/client';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { newCallSites } from './call-sites.ts';
import { countRecent, type RecentCounts } from './recent-counts.ts';

/*
 * Resources of the cluster page besides the node list. They outlive the page, so that returning to it shows data at
 * once.
 */

/** These make every node scan its logs or configuration: refreshed less often than the node list. */
const HEAVY_MS = 30_000;

/** What nodes report: all of them, or those with certain labels. */
export interface ClusterResources {
  recent: Resource<RecentCounts>;
  callSites: Resource<ClusterDigest>;
  configDrift: Resource<ClusterConfigDiff>;
}

const allNodes = createResources([]);

/** Of the last labels asked for. */
let labelled = { key: '', resources: allNodes };

export function clusterResources(labels: readonly string[]): ClusterResources {
  // Labels have no spaces.
  const key = labels.join(' ');
  if (key === '') return allNodes;
  if (labelled.key !== key) labelled = { key, resources: createResources(labels) };
  return labelled.resources;
}

function createResources(labels: readonly string[]): ClusterResources {
  const selection = labels.length === 0 ? {} : { labels };
  const every = { everyMs: HEAVY_MS };
  return {
    recent: new Resource(
      (signal) => countRecent(session.client.cluster, { nowMs: Date.now(), selection }, signal),
      every,
    ),
    callSites: new Resource(
      (signal) => newCallSites(session.client.cluster, { nowMs: Date.now(), selection }, signal),
      every,
    ),
    configDrift: new Resource((signal) => session.client.cluster.configDiff(selection, { signal }), every),
  };
}

/** Settings of the node that serves this page, for a node without a cluster. */
export const ownSettings = new Resource<NodeSettings>((signal) => session.client.settings({ signal }), {
  everyMs: HEAVY_MS,
});

/** Settings that only decide where a node listens. */
const LISTENING = /^(http|grpc)\.(host|port)$/;

/** Whether a node was given nothing to show: it has only its own log and settings. */
export function isUnconfigured({ observes, settings }: Pick<NodeSettings, 'observes' | 'settings'>): boolean {
  return observes === 'self' && settings.every(({ key, changed }) => !changed || LISTENING.test(key));
}
