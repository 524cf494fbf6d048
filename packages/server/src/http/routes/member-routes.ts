import {
  type ClusterState,
  decodeMemberId,
  type NodeState,
  PortholeError,
  RECORDING_ROUTE_IDS,
  type RecordingRouteId,
  SizedBytes,
} from '@porthole/contract';
import { VIA_HEADER } from '../response/http-exchange.ts';
import type { RouteHandler, RouteRequest, RouteResponse } from '../response/route-response.ts';
import { createEventRoutes } from './event-routes.ts';
import { createLogRoutes } from './log-routes.ts';
import { wrapMemberError } from './member-error.ts';
import { createStateRoutes } from './node-routes.ts';
import { createRecordRoutes, type RecordRouteOptions } from './record-routes.ts';
import { Scope } from './scope.ts';

type MemberRoutes = Readonly<Record<RecordingRouteId, RouteHandler>>;

/** The routes of one node for any member: the same handlers, with the `NodeState` of that member. */
export function createMemberRoutes(
  cluster: ClusterState | undefined,
  scope: Scope,
  options: RecordRouteOptions,
): MemberRoutes {
  const routesOf = new WeakMap<NodeState, MemberRoutes>();
  const getRoutes = (state: NodeState, id: string): MemberRoutes => {
    const own = new Scope(state, undefined, async () => id);
    const routes = routesOf.get(state) ?? {
      ...createStateRoutes(state, own),
      ...createLogRoutes(state, own),
      ...createRecordRoutes(state, own, options),
      ...createEventRoutes(state, own, options),
    };
    routesOf.set(state, routes);
    return routes;
  };
  const currentMember = async (request: RouteRequest, id: string): Promise<NodeState> => {
    const members = scope.members(request);
    await members.opened?.();
    return members.member(id);
  };
  // Members request of each other what they have recorded themselves, so there can be no loop.
  const recordedMember = async ({ headers }: RouteRequest, id: string): Promise<NodeState> => {
    await cluster?.opened?.();
    const onlyHere = headers[VIA_HEADER] !== undefined;
    const state = cluster?.recordedMember?.(id, { onlyHere });
    if (!state) throw new PortholeError('NOT_SUPPORTED', 'this node cannot ask others');
    return state;
  };
  const createHandler =
    (route: RecordingRouteId): RouteHandler =>
    async (request) => {
      const id = decodeMemberId(request.member ?? '');
      const state = request.isRecorded ? await recordedMember(request, id) : await currentMember(request, id);
      try {
        return withMemberErrors(id, await getRoutes(state, id)[route](request));
      } catch (error) {
        throw wrapMemberError(id, error);
      }
    };
  return Object.fromEntries(RECORDING_ROUTE_IDS.map((route) => [route, createHandler(route)])) as MemberRoutes;
}

/** The first bytes of a sized stream are read when the handler has returned: a failure is still the response then. */
function withMemberErrors(id: string, response: RouteResponse): RouteResponse {
  if (!('stream' in response && response.stream.chunks instanceof SizedBytes)) return response;
  const { chunks, close } = response.stream;
  async function* read() {
    try {
      yield* chunks;
    } catch (error) {
      throw wrapMemberError(id, error);
    }
  }
  return { ...response, stream: { chunks: new SizedBytes(chunks.sizeBytes, read()), close } };
}
