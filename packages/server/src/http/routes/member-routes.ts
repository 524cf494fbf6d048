import { ClientError } from '@porthole/client';
import {
  type ClusterState,
  decodeMemberId,
  type ErrorCode,
  MEMBER_ROUTE_IDS,
  type MemberRouteId,
  type NodeState,
  PortholeError,
  SizedBytes,
} from '@porthole/contract';
import { VIA_HEADER } from '../response/http-exchange.ts';
import type { RouteHandler, RouteRequest, RouteResponse } from '../response/route-response.ts';
import { createEventRoutes } from './event-routes.ts';
import { createLogRoutes } from './log-routes.ts';
import { createStateRoutes } from './node-routes.ts';
import { createRecordRoutes, type RecordRouteOptions } from './record-routes.ts';
import { Scope } from './scope.ts';

type MemberRoutes = Readonly<Record<MemberRouteId, RouteHandler>>;

/** The node routes for any member: the same handlers, with the `NodeState` of that member. */
export function createMemberRoutes(
  cluster: ClusterState | undefined,
  scope: Scope,
  options: RecordRouteOptions,
): MemberRoutes {
  const routesOf = new WeakMap<NodeState, MemberRoutes>();
  const getRoutes = (state: NodeState, id: string): MemberRoutes => {
    const own = new Scope(
      state,
      undefined,
      async () => id,
      () => cluster?.departedReport?.(id),
    );
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
    (route: MemberRouteId): RouteHandler =>
    async (request) => {
      const id = decodeMemberId(request.member ?? '');
      const state = request.isRecorded ? await recordedMember(request, id) : await currentMember(request, id);
      try {
        return withMemberErrors(id, await getRoutes(state, id)[route](request));
      } catch (error) {
        throw wrapMemberError(id, error);
      }
    };
  return Object.fromEntries(MEMBER_ROUTE_IDS.map((route) => [route, createHandler(route)])) as MemberRoutes;
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

/** Errors of a member that the client would otherwise mistake for errors of this node. */
const MEMBER_ERROR_CODES: Partial<Record<ErrorCode, ErrorCode>> = {
  UNAUTHENTICATED: 'UNREACHABLE',
  FORBIDDEN: 'UNREACHABLE',
  HOST_NOT_ALLOWED: 'UNREACHABLE',
  ORIGIN_NOT_ALLOWED: 'UNREACHABLE',
  SHUTTING_DOWN: 'UNREACHABLE',
  INTERNAL: 'BAD_ANSWER',
};

function wrapMemberError(id: string, error: unknown): unknown {
  if (!(error instanceof PortholeError)) return error;
  const code = MEMBER_ERROR_CODES[error.code];
  if (code !== undefined)
    return new PortholeError(code, `member "${id}" returned ${error.code}: ${error.message}`, { cause: error });
  // Errors about the member's response should name the member.
  return error instanceof ClientError
    ? new PortholeError(error.code, `member "${id}": ${error.message}`, { cause: error })
    : error;
}
