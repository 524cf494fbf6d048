import {
  type CountId,
  codeOf,
  type FollowOptions,
  HEARTBEAT_HEADER,
  MEMBER_HEARTBEAT_MS,
  type NodeCounts,
  type NodeState,
  ONLY_RAW,
  ONLY_TEXTS,
  parseBudget,
  parseCount,
  parseFollowRequest,
  parseSearchRequest,
  RECORDS_HEADER,
  type RequestClock,
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
  lastEventId,
  openFollowStream,
} from '../response/follow-stream.ts';
import { callOptions, jsonResponse, openStream, type RouteHandler } from '../response/route-response.ts';

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

export function createRecordRoutes(node: NodeState, options: RecordRouteOptions): Record<RecordRouteId, RouteHandler> {
  const { clock, maxRecords, searchBudgetMs, countBudgetMs, heartbeatMs, stopping, slots } = options;
  const encoder = new EventEncoder(cursorId);
  const counts: NodeCounts = node;
  const countRoute =
    <Id extends CountId>(id: Id): RouteHandler =>
    async (request) => {
      const { query } = request;
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      return jsonResponse(await counts[id](parseCount(id, query, clock()), { ...callOptions(request), budgetMs }));
    };
  return {
    logSearch: async (routed) => {
      const { query, headers } = routed;
      const request = parseSearchRequest(query, clock(), { maxRecords });
      const budgetMs = parseBudget(query, { mostMs: searchBudgetMs });
      // A piece is flushed before the next one is requested.
      const how = { reusesMemory: true, onlyRaw: headers[RECORDS_HEADER] === ONLY_RAW };
      const stream = await openStream(toLines(node.search(request, { ...callOptions(routed), budgetMs, ...how })));
      return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, stream };
    },
    logFollow: async (routed) => {
      const { query, headers, signal } = routed;
      const lastId = lastEventId({ headers, query });
      const request = parseFollowRequest(query, clock(), lastId);
      const follow = (leaving: AbortSignal) => {
        const texts = headers[RECORDS_HEADER] === ONLY_TEXTS;
        const asked = { signal: leaving, heartbeatMs: MEMBER_HEARTBEAT_MS, positions: true, texts };
        const how = { ...callOptions(routed), ...asked };
        const items = lastId ? resumeFollow(node, request, how) : node.followLogs(request, how);
        return texts ? inBackground(items, slots) : items;
      };
      const beat = agreedHeartbeat(headers, heartbeatMs);
      const stream = await openFollowStream(follow, { encoder, heartbeatMs: beat ?? heartbeatMs, signal, stopping });
      const agreed = beat !== undefined && { [HEARTBEAT_HEADER]: String(beat) };
      return { status: 200, headers: { ...EVENT_STREAM_HEADERS, ...agreed }, stream };
    },
    logHistogram: countRoute('logHistogram'),
    logDigest: countRoute('logDigest'),
    logFields: countRoute('logFields'),
    logTop: countRoute('logTop'),
  };
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
    const family = request.family ?? request.file ?? '';
    yield [{ type: 'gap', family, reason: 'gone', bytes: null, after: null, until: null }];
    yield* node.followLogs({ ...request, start: 'end' }, options);
  }
}
