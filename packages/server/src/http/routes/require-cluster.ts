import { type ClusterState, PortholeError } from '@porthole/contract';
import type { RouteRequest } from '../response/route-response.ts';

/** Sent by members with every request: the id of the sending node. */
export const VIA_HEADER = 'porthole-via';

/** Returns the cluster, but not for requests of members: a member that fans out for another one would cause a loop. */
export function requireCluster(cluster: ClusterState | undefined): (request: RouteRequest) => ClusterState {
  return ({ headers }) => {
    if (headers[VIA_HEADER] !== undefined)
      throw new PortholeError(
        'REQUEST_LOOP',
        'the "Porthole-Via" header marks a request of a member, and members may only use node routes',
      );
    if (!cluster) throw new PortholeError('NOT_SUPPORTED', 'this node has no cluster routes');
    return cluster;
  };
}
