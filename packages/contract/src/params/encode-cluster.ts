import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import type { AroundRequest, MemberSelection } from '../cluster-state.ts';
import type { SearchOptions } from '../node-state.ts';
import { timeText } from '../time/time-text.ts';
import { encodeDigest, encodeFollow, encodeHistogram, encodeSearch } from './encode-query.ts';

/* Strict requests to the cluster as parameters of a URL: those of a node, and which members are meant. */

type Budget = Pick<SearchOptions, 'budgetMs'>;

export function encodeMembers(selection: MemberSelection): URLSearchParams {
  return appendMembers(new URLSearchParams(), selection);
}

export function encodeClusterSearch(query: SearchQuery & MemberSelection, budget?: Budget): URLSearchParams {
  return appendMembers(encodeSearch(query, budget), query);
}

export function encodeClusterFollow(query: FollowQuery & MemberSelection): URLSearchParams {
  return appendMembers(encodeFollow(query), query);
}

export function encodeClusterHistogram(query: HistogramQuery & MemberSelection, budget?: Budget): URLSearchParams {
  return appendMembers(encodeHistogram(query, budget), query);
}

export function encodeClusterDigest(query: DigestQuery & MemberSelection, budget?: Budget): URLSearchParams {
  return appendMembers(encodeDigest(query, budget), query);
}

export function encodeAround({ at, beforeMs, afterMs, limit, ...selection }: AroundRequest): URLSearchParams {
  const target = 'node' in at ? { node: at.node, cursor: at.cursor } : { time: timeText(at.timeMs) };
  const query = new URLSearchParams({
    ...target,
    before: wholeMs(beforeMs),
    after: wholeMs(afterMs),
    limit: String(limit),
  });
  return appendMembers(query, selection);
}

function appendMembers(query: URLSearchParams, { nodes = [], role }: MemberSelection): URLSearchParams {
  for (const node of nodes) query.append('nodes', node);
  if (role !== undefined) query.append('role', role);
  return query;
}

function wholeMs(ms: number): string {
  return String(Math.ceil(ms));
}
