import type { ClusterConfigDiff, ClusterDigest, NodeSettings } from '@porthole/client';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { newCallSites } from './call-sites.ts';
import { countRecent, type RecentCounts } from './recent-counts.ts';

/* What the cluster page asks beside the nodes. It stays when the page is left, so that who comes back sees it at once. */

/** These make every node look into its logs or its configuration: not as often as who is there. */
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

/** Of the node this page came from: for one that is alone. */
export const ownSettings = new Resource<NodeSettings>((signal) => session.client.settings({ signal }), {
  everyMs: HEAVY_MS,
});
