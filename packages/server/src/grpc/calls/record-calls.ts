import {
  type CallOptions,
  type ClusterCountResponses,
  type ClusterCounts,
  type ClusterItem,
  type ClusterState,
  type CountId,
  type CountResponses,
  clusterItems,
  type NodeCounts,
  type NodeState,
  ofAskedKinds,
  parseBudget,
  parseClusterCount,
  parseClusterSearchRequest,
  parseCount,
  parseFollowRequest,
  parseSearchRequest,
  searchItems,
} from '@porthole/contract';
import type { FollowItem, SearchItem } from '@porthole/logs';
import { toItems } from '@porthole/records';
import type { RequestPolicy } from '../../transport/request-policy.ts';
import type { RecordMessage } from '../generated/messages.ts';
import {
  countsMessage,
  digestMessage,
  fieldsMessage,
  followItemMessage,
  searchItemMessages,
  topMessage,
} from '../messages.ts';
import { toQuery } from '../service-definition.ts';
import { type Calls, requireCluster, type UnaryCall } from './log-calls.ts';

type RecordMethod = 'SearchLogs' | 'FollowLogs' | 'CountLogs' | 'DigestLogs' | 'ListFields' | 'CountValues';

/** A request of a node, or of its cluster. */
interface ScopedMessage {
  cluster?: object | null | undefined;
}

/** About events, or about logs. */
interface RecordsMessage extends ScopedMessage {
  events?: object | null | undefined;
}

type RecordCallPolicy = Pick<RequestPolicy, 'clock' | 'maxRecords' | 'searchBudgetMs' | 'countBudgetMs' | 'stopping'>;

/** With a field `cluster` a request is about the cluster, otherwise about what this node has on disk. */
export function createRecordCalls(
  node: NodeState,
  cluster: ClusterState | undefined,
  { clock, maxRecords, searchBudgetMs, countBudgetMs, stopping }: RecordCallPolicy,
): Pick<Calls, RecordMethod> {
  const counts: NodeCounts = node;
  const countCall =
    <Id extends CountId, Message extends ScopedMessage, Response>(
      id: Id,
      toMessage: (count: CountResponses[Id] | ClusterCountResponses[Id]) => Response,
    ): UnaryCall<Message, Response> =>
    async (message, options) => {
      const query = toQuery(message);
      const limits = () => ({ ...options, budgetMs: parseBudget(query, { mostMs: countBudgetMs }) });
      if (!message.cluster) return toMessage(await counts[id](parseCount(id, query, clock()), limits()));
      const request = parseClusterCount(id, query, clock());
      const all: ClusterCounts = requireCluster(cluster);
      return toMessage(await all[id](request, limits()));
    };
  const openSearch = (message: RecordsMessage, options: CallOptions): AsyncIterable<(SearchItem | ClusterItem)[]> => {
    const query = toQuery(message);
    const limits = () => ({ ...options, budgetMs: parseBudget(query, { mostMs: searchBudgetMs }) });
    if (!message.cluster) {
      const request = parseSearchRequest(query, clock(), { maxRecords });
      return message.events
        ? toItems(node.events(ofAskedKinds(request, query), limits()))
        : searchItems(node, request, limits());
    }
    const request = parseClusterSearchRequest(query, clock(), { maxRecords });
    return message.events
      ? toItems(requireCluster(cluster).events(ofAskedKinds(request, query), limits()))
      : clusterItems(requireCluster(cluster), request, limits());
  };
  return {
    async *SearchLogs(message, options) {
      for await (const batch of openSearch(message, options)) {
        if (batch.length === 0) yield undefined;
        for (const items of inBoundedMessages(batch.flatMap(searchItemMessages))) yield { items };
      }
    },
    async *FollowLogs(message, options) {
      const { signal } = options;
      const query = toQuery(message);
      const request = parseFollowRequest(query, clock());
      const ending = anySignal([stopping, ...(signal ? [signal] : [])]);
      try {
        const how = { ...options, signal: ending.signal };
        const batches = message.events
          ? node.followEvents(ofAskedKinds(request, query), how)
          : node.followLogs(request, how);
        for await (const batch of batches) {
          if (batch.length === 0) yield undefined;
          const emitted = stopping.aborted ? batch.map(withStopReason) : batch;
          for (const items of inBoundedMessages(emitted.map(followItemMessage))) yield { items };
        }
      } finally {
        ending.release();
      }
    },
    CountLogs: countCall('logHistogram', countsMessage),
    DigestLogs: countCall('logDigest', digestMessage),
    ListFields: countCall('logFields', fieldsMessage),
    CountValues: countCall('logTop', topMessage),
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
  const { message, raw, contextJson, fieldsJson, cursor } = found;
  const texts = [message, cursor, raw, contextJson, fieldsJson];
  return texts.reduce((units, text) => units + (text?.length ?? 0), RECORD_UNITS);
}
