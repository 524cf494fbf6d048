import {
  type ClusterState,
  clusterItems,
  PortholeError,
  parseBudget,
  parseClusterDigestRequest,
  parseClusterFieldsRequest,
  parseClusterHistogramRequest,
  parseClusterSearchRequest,
  parseClusterTopRequest,
  type Query,
  type RequestClock,
  type SearchOptions,
} from '@porthole/contract';
import {
  clusterCountsMessage,
  clusterDigestMessage,
  clusterFieldsMessage,
  clusterItemMessages,
  clusterTopMessage,
} from '../messages/cluster-messages.ts';
import { toQuery } from '../request-query.ts';
import type { CLUSTER_ROUTES } from '../service-definition.ts';
import { inBoundedMessages } from './bounded-messages.ts';
import type { Calls, UnaryCall } from './calls.ts';
import type { RecordCallPolicy } from './record-calls.ts';

/** Requests with a field `cluster`: what the routes of the cluster return. Without a cluster they are refused. */
export function createClusterCalls(
  cluster: ClusterState | undefined,
  { clock, maxRecords, searchBudgetMs, countBudgetMs }: RecordCallPolicy,
): Pick<Calls, keyof typeof CLUSTER_ROUTES> {
  const required = () => {
    if (!cluster) throw new PortholeError('NOT_SUPPORTED', 'this node has no cluster routes');
    return cluster;
  };
  const countCall =
    <Message extends object, Request, Response>(
      parse: (query: Query, now: RequestClock) => Request,
      count: (all: ClusterState, request: Request, limits: SearchOptions) => Promise<Response>,
    ): UnaryCall<Message, Response> =>
    async (message, options) => {
      const query = toQuery(message);
      const request = parse(query, clock());
      return count(required(), request, { ...options, budgetMs: parseBudget(query, { mostMs: countBudgetMs }) });
    };
  return {
    async *SearchLogs(message, options) {
      const query = toQuery(message);
      const request = parseClusterSearchRequest(query, clock(), { maxRecords });
      const budgetMs = parseBudget(query, { mostMs: searchBudgetMs });
      for await (const batch of clusterItems(required(), request, { ...options, budgetMs })) {
        if (batch.length === 0) yield undefined;
        for (const items of inBoundedMessages(batch.flatMap(clusterItemMessages))) yield { items };
      }
    },
    CountLogs: countCall(parseClusterHistogramRequest, async (all, request, limits) =>
      clusterCountsMessage(await all.logHistogram(request, limits)),
    ),
    DigestLogs: countCall(parseClusterDigestRequest, async (all, request, limits) =>
      clusterDigestMessage(await all.logDigest(request, limits)),
    ),
    ListFields: countCall(parseClusterFieldsRequest, async (all, request, limits) =>
      clusterFieldsMessage(await all.logFields(request, limits)),
    ),
    CountValues: countCall(parseClusterTopRequest, async (all, request, limits) =>
      clusterTopMessage(await all.logTop(request, limits)),
    ),
  };
}
