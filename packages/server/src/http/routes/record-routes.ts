import type { IncomingHttpHeaders } from 'node:http';
import {
  asksCluster,
  type ClusterCounts,
  type ClusterFollowItem,
  type CountId,
  codeOf,
  type FollowOptions,
  HEARTBEAT_HEADER,
  MEMBER_HEARTBEAT_MS,
  type NodeState,
  ONLY_RAW,
  ONLY_TEXTS,
  parseBudget,
  parseCount,
  parseFollowRequest,
  parseLogSource,
  parseSearchRequest,
  RECORDS_HEADER,
  RECORDS_TYPE,
  type RequestClock,
  withoutSelection,
  YIELD_MS,
  YIELD_PAST_MS,
} from '@porthole/contract';
import type { FollowItem, FollowQuery } from '@porthole/logs';
import { toLines } from '@porthole/records';
import type { StreamSlots } from '../../transport/stream-slots.ts';
import {
  agreedHeartbeat,
  cursorId,
  EVENT_STREAM_HEADERS,
  EventEncoder,
  type FollowEncoder,
  lastEventId,
  openFollowStream,
  type StoppingEnd,
  timeId,
} from '../response/follow-stream.ts';
import {
  callOptions,
  jsonResponse,
  linesResponse,
  openStream,
  type RouteHandler,
  type RouteRequest,
  type RouteResponse,
} from '../response/route-response.ts';
import type { Scope } from './scope.ts';

type RecordRouteId = 'logSearch' | 'logFollow' | CountId;

export interface RecordRouteOptions {
  /** Called for every request. */
  clock(): RequestClock;
  maxRecords: number;
  searchBudgetMs: number;
  /** For responses that are sent at once, which must be complete before the deadline of the first byte. */
  countBudgetMs: number;
  heartbeatMs: number;
  /** Fires when the node stops. */
  stopping: AbortSignal;
  /** Who is served before members that record this node. */
  slots: Pick<StreamSlots, 'untilFree'>;
}

export function createRecordRoutes(
  node: NodeState,
  scope: Scope,
  options: RecordRouteOptions,
): Record<RecordRouteId, RouteHandler> {
  const { clock, maxRecords, searchBudgetMs, countBudgetMs, slots } = options;
  const countRoute =
    <Id extends CountId>(id: Id): RouteHandler =>
    async (request) => {
      const { query } = request;
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      const { state, asked } = await scope.records(request, parseCount(id, query, clock()));
      const counts: ClusterCounts = state;
      return jsonResponse(await counts[id](asked, { ...callOptions(request), budgetMs }));
    };
  return {
    logSearch: async (routed) => {
      const { query, headers } = routed;
      const request = parseSearchRequest(query, clock(), { maxRecords });
      const budgetMs = parseBudget(query, { mostMs: searchBudgetMs });
      // A piece is flushed before the next one is requested.
      const limits = { ...callOptions(routed), budgetMs, reusesMemory: true };
      if (wantsOwn(headers) && !asksCluster(request)) {
        const onlyRaw = headers[RECORDS_HEADER] === ONLY_RAW;
        return ownLines(node.search(withoutSelection(request), { ...limits, onlyRaw }));
      }
      const { state, asked } = await scope.records(routed, request);
      return linesResponse(toLines(state.search(asked, limits)));
    },
    logFollow: async (routed) => {
      const { query, headers } = routed;
      const lastId = lastEventId({ headers, query });
      const request = parseFollowRequest(query, clock(), lastId);
      const texts = headers[RECORDS_HEADER] === ONLY_TEXTS;
      const how = { ...callOptions(routed), heartbeatMs: MEMBER_HEARTBEAT_MS, positions: true, texts };
      if (asksCluster(request)) {
        const { state, asked } = await scope.cluster(routed, request);
        const follow = (leaving: AbortSignal) => state.followLogs(asked, { ...how, signal: leaving });
        return followResponse(follow, BY_TIME, routed, options);
      }
      const own = withoutSelection(request);
      const follow = (leaving: AbortSignal) => {
        const limits = { ...how, signal: leaving };
        const items = lastId ? resumeFollow(node, own, limits) : node.followLogs(own, limits);
        return texts ? inBackground(items, slots) : items;
      };
      if (wantsOwn(headers)) return followResponse(follow, BY_CURSOR, routed, options);
      const alone = await scope.alone();
      return followResponse((leaving) => alone.named(follow(leaving)), BY_CURSOR, routed, options);
    },
    logHistogram: countRoute('logHistogram'),
    logDigest: countRoute('logDigest'),
    logFields: countRoute('logFields'),
    logTop: countRoute('logTop'),
  };
}

/** Whether the client adds itself what a cluster says of its records. */
export function wantsOwn({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.includes(RECORDS_TYPE);
}

/** Records as the node itself has them, and the end of its own search. */
export async function ownLines(found: Parameters<typeof toLines>[0]): Promise<RouteResponse> {
  return { status: 200, headers: { 'content-type': RECORDS_TYPE }, stream: await openStream(toLines(found)) };
}

/** How events are sent whose ids are cursors of one node, or times. */
export const BY_CURSOR = new EventEncoder<FollowItem | ClusterFollowItem>(cursorId);
export const BY_TIME = new EventEncoder<ClusterFollowItem>(timeId);

/** A follow as a stream of events, whose ids are where a client resumes. */
export async function followResponse<T extends { type: string }>(
  follow: (signal: AbortSignal) => AsyncIterable<T[]>,
  encoder: FollowEncoder<T | StoppingEnd>,
  { headers, signal }: Pick<RouteRequest, 'headers' | 'signal'>,
  { heartbeatMs, stopping }: Pick<RecordRouteOptions, 'heartbeatMs' | 'stopping'>,
): Promise<RouteResponse> {
  const beat = agreedHeartbeat(headers, heartbeatMs);
  const stream = await openFollowStream(follow, { encoder, heartbeatMs: beat ?? heartbeatMs, signal, stopping });
  const agreed = beat !== undefined && { [HEARTBEAT_HEADER]: String(beat) };
  return { status: 200, headers: { ...EVENT_STREAM_HEADERS, ...agreed }, stream };
}

/** While clients wait for their responses, nothing is read for whoever records this node, but for a moment only. */
async function* inBackground(items: AsyncIterable<FollowItem[]>, slots: Pick<StreamSlots, 'untilFree'>) {
  let isLive = false;
  for await (const batch of items) {
    yield batch;
    isLive ||= batch.some(({ type }) => type === 'position');
    await slots.untilFree(isLive ? YIELD_MS : YIELD_PAST_MS);
  }
}

/**
 * Resumes after the last event. If that record is gone, emits a gap and continues at the end: an error would make browsers
 * give up for good.
 */
async function* resumeFollow(
  node: NodeState,
  request: FollowQuery,
  options: FollowOptions,
): AsyncGenerator<FollowItem[]> {
  try {
    yield* node.followLogs(request, options);
  } catch (error) {
    if (codeOf(error) !== 'CURSOR_GONE') throw error;
    const [source] = request.src ?? [];
    const family = source === undefined ? '' : parseLogSource(source).name;
    yield [{ type: 'gap', family, reason: 'gone', bytes: null, after: null, until: null }];
    yield* node.followLogs({ ...request, start: 'end' }, options);
  }
}
