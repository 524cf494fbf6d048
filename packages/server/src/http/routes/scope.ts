import { NodeAlone } from '@porthole/cluster/alone';
import {
  asksCluster,
  type ClusterState,
  type MemberSelection,
  type NodeState,
  PortholeError,
  selectsMembers,
} from '@porthole/contract';
import { VIA_HEADER } from '../response/http-exchange.ts';
import type { RouteRequest } from '../response/route-response.ts';

/** Who answers, and the request as it is asked. */
interface Answered<State, Asked> {
  state: State;
  asked: Asked;
}

/** Who answers a request: a node alone, or the cluster that it is in. */
export class Scope {
  readonly #node: NodeState;
  readonly #cluster: ClusterState | undefined;
  readonly #selfId: () => Promise<string>;
  #alone: NodeAlone | undefined;

  constructor(node: NodeState, cluster: ClusterState | undefined, selfId: () => Promise<string>) {
    this.#node = node;
    this.#cluster = cluster;
    this.#selfId = selfId;
  }

  /** About what a node has itself: the node alone, unless others or the archive are asked. */
  async records<Asked extends MemberSelection>(
    request: Pick<RouteRequest, 'headers'>,
    asked: Asked,
  ): Promise<Answered<ClusterState | NodeAlone, Asked>> {
    if (asksCluster(asked)) return this.cluster(request, asked);
    return { state: await this.alone(), asked };
  }

  async alone(): Promise<NodeAlone> {
    this.#alone ??= new NodeAlone(this.#node, await this.#selfId());
    return this.#alone;
  }

  /** About what only a cluster has: of the node itself, unless others are asked. */
  async cluster<Asked extends MemberSelection>(
    request: Pick<RouteRequest, 'headers'>,
    asked: Asked,
  ): Promise<Answered<ClusterState, Asked>> {
    const state = this.members(request);
    // What a node has itself is on its disk, unless the archive is asked for.
    if (!selectsMembers(asked))
      return { state, asked: { ...asked, nodes: [await this.#selfId()], store: asked.store ?? 'nodes' } };
    return { state, asked: withoutAll(asked) };
  }

  /** The cluster, but not for requests of members: a member that asks others for another one would cause a loop. */
  members({ headers }: Pick<RouteRequest, 'headers'>): ClusterState {
    if (headers[VIA_HEADER] !== undefined)
      throw new PortholeError(
        'REQUEST_LOOP',
        'the "Porthole-Via" header marks a request of a member, and members are asked only for what they have themselves',
      );
    if (!this.#cluster) throw new PortholeError('NOT_SUPPORTED', 'this node cannot ask others');
    return this.#cluster;
  }
}

/** `*` names nobody: all are asked, those that have left included. */
export function withoutAll<Asked extends MemberSelection>(asked: Asked): Asked {
  if (asked.nodes?.length !== 1 || asked.nodes[0] !== '*') return asked;
  const { nodes: _all, ...rest } = asked;
  return rest as Asked;
}
