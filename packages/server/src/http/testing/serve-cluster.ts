import type { ClusterState, NodeState } from '@porthole/contract';
import { DownloadTickets } from '../../auth/download-tickets.ts';
import { createClusterRoutes } from '../routes/cluster-routes.ts';
import { createDownloadRoutes } from '../routes/download-routes.ts';
import { createEventRoutes, createIncidentRoute } from '../routes/event-routes.ts';
import { createLogRoutes } from '../routes/log-routes.ts';
import { createMemberRoutes } from '../routes/member-routes.ts';
import { createStateRoutes } from '../routes/node-routes.ts';
import { createRecordRoutes } from '../routes/record-routes.ts';
import { Scope } from '../routes/scope.ts';
import { type Served, type ServeOptions, serveRoutes } from './serve-routes.ts';

/** Only the cluster is asked. */
const NO_NODE = {} as NodeState;

/** The routes of a cluster and of its members on a port of their own; stopped when the test ends. */
export function serveCluster(cluster: ClusterState | undefined, options?: ServeOptions): Promise<Served> {
  const scope = new Scope(NO_NODE, cluster, async () => 'self');
  return serveRoutes(
    (policy) => ({
      routes: {
        ...createStateRoutes(NO_NODE, scope),
        ...createLogRoutes(NO_NODE, scope),
        ...createRecordRoutes(NO_NODE, scope, policy),
        ...createEventRoutes(NO_NODE, scope, policy),
        ...createIncidentRoute(scope, policy),
        ...createClusterRoutes(cluster, scope, policy),
        ...createDownloadRoutes(scope, { ...policy, tickets: new DownloadTickets() }),
      },
      memberRoutes: createMemberRoutes(cluster, scope, policy),
    }),
    options,
  );
}
