import type { ClusterState } from '@porthole/contract';
import { DownloadTickets } from '../../auth/download-tickets.ts';
import { createClusterRoutes } from '../routes/cluster-routes.ts';
import { createDownloadRoutes } from '../routes/download-routes.ts';
import { createMemberRoutes } from '../routes/member-routes.ts';
import { type Served, type ServeOptions, serveRoutes } from './serve-routes.ts';

/** The routes of a cluster and of its members on a port of their own; stopped when the test ends. */
export function serveCluster(cluster: ClusterState | undefined, options?: ServeOptions): Promise<Served> {
  return serveRoutes(
    (policy) => ({
      routes: {
        ...createClusterRoutes(cluster, policy),
        ...createDownloadRoutes(cluster, { ...policy, tickets: new DownloadTickets() }),
      },
      memberRoutes: createMemberRoutes(cluster, policy),
    }),
    options,
  );
}
