import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import type { MemberSelection, MomentRequest } from './cluster-state.ts';
import { encodeDigest, encodeFollow, encodeHistogram, encodeSearch } from './encode-query.ts';
import type { SearchOptions } from './node-state.ts';
import { timeText } from './time-text.ts';

/* Strict requests to the cluster as parameters of a URL: those of a node, and which members are meant. */

type Budget = Pick<SearchOptions, 'budgetMs'>;

export function encodeMembers(selection: MemberSelection): URLSearchParams {
  return withMembers(new URLSearchParams(), selection);
}

export function encodeClusterSearch(query: SearchQuery & MemberSelection, budget?: Budget): URLSearchParams {
  return withMembers(encodeSearch(query, budget), query);
}

export function encodeClusterFollow(query: FollowQuery & MemberSelection): URLSearchParams {
  return withMembers(encodeFollow(query), query);
}

export function encodeClusterHistogram(query: HistogramQuery & MemberSelection, budget?: Budget): URLSearchParams {
  return withMembers(encodeHistogram(query, budget), query);
}

export function encodeClusterDigest(query: DigestQuery & MemberSelection, budget?: Budget): URLSearchParams {
  return withMembers(encodeDigest(query, budget), query);
}

export function encodeMoment({ at, beforeMs, afterMs, limit, ...selection }: MomentRequest): URLSearchParams {
  const place = 'node' in at ? { node: at.node, cursor: at.cursor } : { time: timeText(at.timeMs) };
  const query = new URLSearchParams({
    ...place,
    before: wholeMs(beforeMs),
    after: wholeMs(afterMs),
    limit: String(limit),
  });
  return withMembers(query, selection);
}

function withMembers(query: URLSearchParams, { nodes = [], role }: MemberSelection): URLSearchParams {
  for (const node of nodes) query.append('nodes', node);
  if (role !== undefined) query.append('role', role);
  return query;
}

function wholeMs(ms: number): string {
  return String(Math.ceil(ms));
}
