import {
  codeOf,
  type NodeState,
  parseBudget,
  parseDigestRequest,
  parseFollowRequest,
  parseHistogramRequest,
  parseSearchRequest,
  type RequestClock,
} from '@porthole/contract';
import type { FollowItem, FollowQuery } from '@porthole/logs';
import {
  cursorId,
  EVENT_STREAM_HEADERS,
  EventEncoder,
  lastEventId,
  openFollowStream,
} from '../response/follow-stream.ts';
import { openStream } from '../response/open-stream.ts';
import { jsonResponse, type RouteHandler } from '../response/route-response.ts';

type RecordRouteId = 'logSearch' | 'logFollow' | 'logHistogram' | 'logDigest';

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
}

export function createRecordRoutes(node: NodeState, options: RecordRouteOptions): Record<RecordRouteId, RouteHandler> {
  const { clock, maxRecords, searchBudgetMs, countBudgetMs, heartbeatMs, stopping } = options;
  const encoder = new EventEncoder(cursorId);
  return {
    logSearch: async ({ query, signal }) => {
      const request = parseSearchRequest(query, clock(), { maxRecords });
      const budgetMs = parseBudget(query, { mostMs: searchBudgetMs });
      const stream = await openStream(node.searchLogLines(request, { signal, budgetMs }));
      return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, stream };
    },
    logFollow: async ({ query, headers, signal }) => {
      const lastId = lastEventId({ headers, query });
      const request = parseFollowRequest(query, clock(), lastId);
      const follow = (leaving: AbortSignal) =>
        lastId ? resumeFollow(node, request, leaving) : node.followLogs(request, { signal: leaving });
      const stream = await openFollowStream(follow, { encoder, heartbeatMs, signal, stopping });
      return { status: 200, headers: EVENT_STREAM_HEADERS, stream };
    },
    logHistogram: async ({ query, signal }) => {
      const request = parseHistogramRequest(query, clock());
      return jsonResponse(
        await node.logHistogram(request, { signal, budgetMs: parseBudget(query, { mostMs: countBudgetMs }) }),
      );
    },
    logDigest: async ({ query, signal }) => {
      const request = parseDigestRequest(query, clock());
      return jsonResponse(
        await node.logDigest(request, { signal, budgetMs: parseBudget(query, { mostMs: countBudgetMs }) }),
      );
    },
  };
}

/**
 * Resumes after the last event. If that record is gone, emits a gap and continues at the end: an error would make browsers
 * give up for good.
 */
async function* resumeFollow(node: NodeState, request: FollowQuery, signal: AbortSignal): AsyncGenerator<FollowItem[]> {
  try {
    yield* node.followLogs(request, { signal });
  } catch (error) {
    if (codeOf(error) !== 'CURSOR_GONE') throw error;
    const family = request.family ?? request.file ?? '';
    yield [{ type: 'gap', family, reason: 'gone', bytes: null, after: null, until: null }];
    yield* node.followLogs({ ...request, start: 'end' }, { signal });
  }
}
