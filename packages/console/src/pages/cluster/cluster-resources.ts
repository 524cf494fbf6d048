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

export const recent = new Resource<RecentCounts>((signal) => countRecent(session.client.cluster, Date.now(), signal), {
  everyMs: HEAVY_MS,
});

export const callSites = new Resource<ClusterDigest>(
  (signal) => newCallSites(session.client.cluster, Date.now(), signal),
  { everyMs: HEAVY_MS },
);

export const configDrift = new Resource<ClusterConfigDiff>(
  (signal) => session.client.cluster.configDiff({}, { signal }),
  { everyMs: HEAVY_MS },
);

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
