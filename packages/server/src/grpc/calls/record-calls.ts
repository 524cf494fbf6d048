import {
  type ClusterState,
  clusterItems,
  type NodeState,
  PortholeError,
  parseBudget,
  parseClusterDigestRequest,
  parseClusterFieldsRequest,
  parseClusterHistogramRequest,
  parseClusterSearchRequest,
  parseClusterTopRequest,
  parseDigestRequest,
  parseFieldsRequest,
  parseFollowRequest,
  parseHistogramRequest,
  parseSearchRequest,
  parseTopRequest,
  type Query,
  type RequestClock,
  type SearchOptions,
  searchItems,
} from '@porthole/contract';
import type { FollowItem } from '@porthole/logs';
import type { RequestPolicy } from '../../transport/request-policy.ts';
import type { RecordMessage } from '../generated/messages.ts';
import {
  clusterCountsMessage,
  clusterDigestMessage,
  clusterFieldsMessage,
  clusterItemMessages,
  clusterTopMessage,
  countsMessage,
  digestMessage,
  fieldsMessage,
  followItemMessage,
  searchItemMessages,
  topMessage,
} from '../messages.ts';
import { type CLUSTER_ROUTES, toQuery } from '../service-definition.ts';
import type { Calls, UnaryCall } from './log-calls.ts';

type RecordMethod = 'SearchLogs' | 'FollowLogs' | 'CountLogs' | 'DigestLogs' | 'ListFields' | 'CountValues';

type RecordCallPolicy = Pick<RequestPolicy, 'clock' | 'maxRecords' | 'searchBudgetMs' | 'countBudgetMs' | 'stopping'>;

/** With a field `cluster` a request is about the cluster, otherwise about what this node has on disk. */
export function createRecordCalls(
  node: NodeState,
  cluster: ClusterState | undefined,
  policy: RecordCallPolicy,
): Pick<Calls, RecordMethod> {
  const all = createClusterCalls(cluster, policy);
  const { clock, maxRecords, searchBudgetMs, countBudgetMs, stopping } = policy;
  return {
    async *SearchLogs(message, options) {
      if (message.cluster) {
        yield* all.SearchLogs(message, options);
        return;
      }
      const query = toQuery(message);
      const request = parseSearchRequest(query, clock(), { maxRecords });
      const budgetMs = parseBudget(query, { mostMs: searchBudgetMs });
      for await (const batch of searchItems(node, request, { ...options, budgetMs })) {
        if (batch.length === 0) yield undefined;
        for (const items of inBoundedMessages(batch.flatMap(searchItemMessages))) yield { items };
      }
    },
    async *FollowLogs(message, options) {
      const { signal } = options;
      const request = parseFollowRequest(toQuery(message), clock());
      const ending = anySignal([stopping, ...(signal ? [signal] : [])]);
      try {
        for await (const batch of node.followLogs(request, { ...options, signal: ending.signal })) {
          if (batch.length === 0) yield undefined;
          const emitted = stopping.aborted ? batch.map(withStopReason) : batch;
          for (const items of inBoundedMessages(emitted.map(followItemMessage))) yield { items };
        }
      } finally {
        ending.release();
      }
    },
    CountLogs: async (message, options) => {
      if (message.cluster) return all.CountLogs(message, options);
      const query = toQuery(message);
      const request = parseHistogramRequest(query, clock());
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      return countsMessage(await node.logHistogram(request, { ...options, budgetMs }));
    },
    DigestLogs: async (message, options) => {
      if (message.cluster) return all.DigestLogs(message, options);
      const query = toQuery(message);
      const request = parseDigestRequest(query, clock());
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      return digestMessage(await node.logDigest(request, { ...options, budgetMs }));
    },
    ListFields: async (message, options) => {
      if (message.cluster) return all.ListFields(message, options);
      const query = toQuery(message);
      const request = parseFieldsRequest(query, clock());
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      return fieldsMessage(await node.logFields(request, { ...options, budgetMs }));
    },
    CountValues: async (message, options) => {
      if (message.cluster) return all.CountValues(message, options);
      const query = toQuery(message);
      const request = parseTopRequest(query, clock());
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      return topMessage(await node.logTop(request, { ...options, budgetMs }));
    },
  };
}

/** The source only knows that it was aborted. */
function withStopReason(item: FollowItem): FollowItem {
  return item.type === 'end' ? { type: 'end', reason: 'stopping' } : item;
}

/** Fires with the first of the signals. Unlike `AbortSignal.any` it leaves no listener on a long-lived signal. */
function anySignal(signals: readonly AbortSignal[]): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const fire = () => controller.abort();
  if (signals.some(({ aborted }) => aborted)) fire();
  for (const signal of signals) signal.addEventListener('abort', fire);
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) signal.removeEventListener('abort', fire);
    },
  };
}

/** Requests with a field `cluster`: what the routes of the cluster return. Without a cluster they are refused. */
function createClusterCalls(
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

/**
 * Approximate size limit of a message in UTF-16 units, which are at most three bytes each. Clients accept 4 MiB by default,
 * and the longest single record is below 2 MiB.
 */
const MESSAGE_UNITS = 256 * 1024;

/** Size of a record besides its texts. */
const RECORD_UNITS = 64;

interface ItemWithRecord {
  record?: RecordMessage | null | undefined;
  before?: RecordMessage | null | undefined;
  after?: RecordMessage | null | undefined;
}

/** Splits items into runs that each fit into one message. */
export function* inBoundedMessages<Item extends object>(items: readonly Item[]): Generator<Item[]> {
  let run: Item[] = [];
  let units = 0;
  for (const item of items) {
    const itemUnits = countUnits(item);
    if (run.length > 0 && units + itemUnits > MESSAGE_UNITS) {
      yield run;
      run = [];
      units = 0;
    }
    run.push(item);
    units += itemUnits;
  }
  if (run.length > 0) yield run;
}

function countUnits({ record, before, after }: ItemWithRecord): number {
  const found = record ?? before ?? after;
  if (!found) return RECORD_UNITS;
  const { message, raw, context_json, fields_json, cursor } = found;
  const texts = [message, cursor, raw, context_json, fields_json];
  return texts.reduce((units, text) => units + (text?.length ?? 0), RECORD_UNITS);
}
