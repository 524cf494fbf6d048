import {
  type ClusterFollowItem,
  type ClusterRecord,
  exactJson,
  optionalValue,
  PortholeError,
  type Query,
} from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs';
import type { LogqlLogs } from '../../loki/logql.ts';
import type { Streams } from '../../loki/streams.ts';
import { type FollowEncoder, openFollowStream, type StoppingEnd } from '../response/follow-stream.ts';
import { callOptions, jsonResponse, type RouteHandler } from '../response/route-response.ts';
import { closeFrame, PING_FRAME, textFrame } from '../web-socket.ts';
import type { RecordRouteOptions } from './record-routes.ts';
import type { Scope } from './scope.ts';

/** Records of before that a follow begins with: those of a follow of ours, at most. */
const MAX_BACK_RECORDS = 10_000;

/** What Grafana asks of Loki. Without `loki.enabled`, the routes do not exist. */
export function createLokiRoutes(
  scope: Scope,
  options: RecordRouteOptions & { isEnabled: boolean; version: string },
): Record<'loki' | 'lokiTail', RouteHandler> {
  const { isEnabled, version, clock, maxRecords, countBudgetMs, heartbeatMs, stopping } = options;
  // Loaded on demand: few nodes are asked by Grafana.
  const load = async () => {
    if (!isEnabled) throw new PortholeError('ROUTE_NOT_FOUND', 'this node does not answer as Loki: set loki.enabled');
    return import('../../loki/index.ts');
  };
  return {
    loki: async (request) => {
      const { answerLoki } = await load();
      const deadlineMs = performance.now() + countBudgetMs;
      const { query, rest } = request;
      const limits = { ...callOptions(request), clock: clock(), maxRecords, deadlineMs, version };
      return jsonResponse(await answerLoki(rest, { cluster: scope.members(request), query, ...limits }));
    },
    lokiTail: async (request) => {
      const loki = await load();
      const { query, signal, webSocket } = request;
      const all = scope.members(request);
      if (!webSocket)
        throw new PortholeError('BAD_REQUEST', 'this route is a WebSocket, over HTTP/1.1 and the own port of the node');
      const parsed = loki.parseLogql(loki.requiredText(query, 'query'));
      if (parsed.kind !== 'logs') throw new PortholeError('QUERY_INVALID', 'only log queries can be followed');
      const start = followStart(query, loki);
      const streams = await loki.Streams.find(all, parsed.logs, callOptions(request));
      const encoder = new TailEncoder(streams, parsed.logs, { ...loki, nowMs: () => clock().nowMs });
      const followed = { ...followedLogs(streams), ...loki.recordOptions(parsed.logs), start };
      const follow = (leaving: AbortSignal) => all.followLogs(followed, { signal: leaving });
      const stream = await openFollowStream(follow, { encoder, heartbeatMs, signal, stopping });
      return { status: 101, headers: webSocket, stream };
    },
  };
}

type Loki = typeof import('../../loki/index.ts');
type TailTools = Pick<Loki, 'nanoseconds' | 'toStreams'> & { nowMs(): number };

function followStart(query: Query, loki: Loki): FollowQuery['start'] {
  if (!/^0*s?$/.test(optionalValue(query, 'delay_for') ?? ''))
    throw new PortholeError('PARAMETER_INVALID', '"delay_for" is not supported here');
  const timeMs = loki.parseTime(query, 'start');
  return timeMs === undefined ? { back: Math.min(loki.parseLimit(query), MAX_BACK_RECORDS) } : { timeMs };
}

function followedLogs(streams: Streams) {
  if (streams.selection === undefined)
    throw new PortholeError('QUERY_INVALID', 'there is no such node or log to follow');
  return { ...streams.selection, ...streams.requestedLogs() };
}

/** Followed records as messages of Loki's `tail`. What was lost is among its dropped entries. */
class TailEncoder implements FollowEncoder<ClusterFollowItem | StoppingEnd> {
  readonly opening = Buffer.alloc(0);
  readonly heartbeat = PING_FRAME;
  readonly #streams: Streams;
  readonly #logs: LogqlLogs;
  readonly #loki: TailTools;

  constructor(streams: Streams, logs: LogqlLogs, loki: TailTools) {
    this.#streams = streams;
    this.#logs = logs;
    this.#loki = loki;
  }

  encode(items: readonly (ClusterFollowItem | StoppingEnd)[]): Buffer {
    const records = items.filter((item): item is ClusterRecord => item.type === 'record');
    const lost = items.flatMap((item) => (item.type === 'gap' || item.type === 'truncated' ? [item] : []));
    const frames: Buffer[] = [];
    if (records.length > 0 || lost.length > 0) {
      const timestamp = this.#loki.nanoseconds(this.#loki.nowMs());
      const dropped = lost.map((item) => ({
        labels: { ...this.#streams.labelsOf(item.node), log: item.type === 'gap' ? item.family : item.file },
        timestamp,
      }));
      const streams = this.#loki.toStreams(records, this.#streams, this.#logs);
      frames.push(textFrame(exactJson({ streams, dropped_entries: dropped.length > 0 ? dropped : null })));
    }
    // Going away: the node stops.
    if (items.some(({ type }) => type === 'end')) frames.push(closeFrame(1001));
    return Buffer.concat(frames);
  }
}
