import { type ClusterState, PortholeError } from '@porthole/contract';
import type { RouteRequest } from '../response/route-response.ts';

/** What members send with every question, with the id of the one that asks. */
export const VIA_HEADER = 'porthole-via';

/** Gives the cluster to those who may ask for it: a member that asks on behalf of others would be a circle. */
export function requireCluster(cluster: ClusterState | undefined): (request: RouteRequest) => ClusterState {
  return ({ headers }) => {
    if (headers[VIA_HEADER] !== undefined)
      throw new PortholeError(
        'REQUEST_LOOP',
        'the header "Porthole-Via" says that a member asks, and members are asked only for themselves',
      );
    if (!cluster) throw new PortholeError('NOT_SUPPORTED', 'this node answers only for itself');
    return cluster;
  };
}
