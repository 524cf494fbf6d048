import {
  type ClusterState,
  type NodeState,
  parseBudget,
  parseDigestRequest,
  parseFieldsRequest,
  parseFollowRequest,
  parseHistogramRequest,
  parseSearchRequest,
  parseTopRequest,
  searchItems,
} from '@porthole/contract';
import type { FollowItem } from '@porthole/logs';
import type { RequestPolicy } from '../../transport/request-policy.ts';
import {
  countsMessage,
  digestMessage,
  fieldsMessage,
  followItemMessage,
  searchItemMessages,
  topMessage,
} from '../messages/record-messages.ts';
import { toQuery } from '../request-query.ts';
import { inBoundedMessages } from './bounded-messages.ts';
import type { Calls } from './calls.ts';
import { createClusterCalls } from './cluster-calls.ts';

type RecordMethod = 'SearchLogs' | 'FollowLogs' | 'CountLogs' | 'DigestLogs' | 'ListFields' | 'CountValues';

export type RecordCallPolicy = Pick<
  RequestPolicy,
  'clock' | 'maxRecords' | 'searchBudgetMs' | 'countBudgetMs' | 'stopping'
>;

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
