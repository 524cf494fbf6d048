import { encodeCount, encodeFollow, encodeSearch, formatQuery, type SearchOptions } from '@porthole/contract';
import type {
  DigestQuery,
  FieldsQuery,
  FollowQuery,
  HistogramQuery,
  LogSelection,
  RecordFilter,
  SearchQuery,
  TopQuery,
} from '@porthole/logs/types';
import type {
  CountLogsRequestMessage,
  CountValuesRequestMessage,
  DigestLogsRequestMessage,
  FollowLogsRequestMessage,
  ListFieldsRequestMessage,
  RecordFilterMessage,
  SearchLogsRequestMessage,
} from '../generated/messages.ts';
import { levelName } from '../messages.ts';

/* Encodes requests as messages. An empty name or cursor looks like a missing one there, so it is refused, as by HTTP clients. */

type Budget = Pick<SearchOptions, 'budgetMs'>;

export function searchRequest(query: SearchQuery, { budgetMs }: Budget): SearchLogsRequestMessage {
  encodeSearch(query);
  const start: { cursor?: string; record?: string; timeMs?: number; offset?: number } = query.start ?? {};
  return {
    filter: filterMessage(query),
    order: query.order,
    limit: query.limit,
    before: query.before,
    after: query.after,
    cursor: start.cursor ?? '',
    record: start.record ?? '',
    timeMs: wholeMs(start.timeMs),
    offset: start.offset,
    until: query.until ?? '',
    raw: query.raw ?? false,
    fields: [...(query.fields ?? [])],
    budgetMs: budgetMessage(budgetMs),
  };
}

export function followRequest(query: FollowQuery): FollowLogsRequestMessage {
  encodeFollow(query);
  const start: { back?: number; timeMs?: number; cursor?: string; sinceMs?: number } =
    query.start === 'end' ? {} : query.start;
  return {
    filter: filterMessage(query),
    back: start.back,
    timeMs: wholeMs(start.timeMs ?? start.sinceMs),
    cursor: start.cursor ?? '',
    raw: query.raw ?? false,
    fields: [...(query.fields ?? [])],
  };
}

export function countRequest(query: HistogramQuery, { budgetMs }: Budget): CountLogsRequestMessage {
  encodeCount('logHistogram', query);
  const { bucketMs, buckets } = query;
  return {
    filter: filterMessage(query),
    bucketMs,
    buckets,
    budgetMs: budgetMessage(budgetMs),
  };
}

export function digestRequest(query: DigestQuery, { budgetMs }: Budget): DigestLogsRequestMessage {
  encodeCount('logDigest', query);
  return {
    filter: filterMessage(query),
    limit: query.limit,
    newSinceMs: wholeMs(query.newSinceMs),
    onlyNew: query.onlyNew ?? false,
    budgetMs: budgetMessage(budgetMs),
  };
}

export function fieldsRequest(query: FieldsQuery, { budgetMs }: Budget): ListFieldsRequestMessage {
  encodeCount('logFields', query);
  return {
    filter: filterMessage(query),
    limit: query.limit,
    budgetMs: budgetMessage(budgetMs),
  };
}

export function topRequest(query: TopQuery, { budgetMs }: Budget): CountValuesRequestMessage {
  encodeCount('logTop', query);
  return {
    filter: filterMessage(query),
    by: query.by,
    limit: query.limit,
    values: [...(query.values ?? [])],
    buckets: query.buckets,
    bucketMs: query.bucketMs,
    budgetMs: budgetMessage(budgetMs),
  };
}

function filterMessage(query: LogSelection & RecordFilter): RecordFilterMessage {
  return {
    src: [...(query.src ?? [])],
    fromMs: wholeMs(query.fromMs),
    toMs: wholeMs(query.toMs),
    minLevel: levelName(query.minLevel),
    terms: [...(query.terms ?? [])],
    excluded: [...(query.excluded ?? [])],
    caseSensitive: query.caseSensitive ?? false,
    regex: query.regex ?? '',
    source: query.source ?? '',
    component: query.component ?? '',
    query: query.query === undefined ? '' : formatQuery(query.query),
  };
}

/** One without end is the node's to limit. */
function budgetMessage(budgetMs = Number.POSITIVE_INFINITY): number | undefined {
  return Number.isFinite(budgetMs) ? Math.max(1, Math.ceil(budgetMs)) : undefined;
}

/** Records have whole milliseconds, so nothing lies between a part of one and the next. */
function wholeMs(timeMs: number | undefined): number | undefined {
  return timeMs === undefined ? undefined : Math.ceil(timeMs);
}
