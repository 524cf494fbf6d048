import type { FollowQuery, LogSelection, RecordFilter, SearchQuery } from '@porthole/logs/types';
import type { AroundRequest, MemberSelection } from '../cluster-state.ts';
import { PortholeError } from '../errors/errors.ts';
import { type ConfigDiffRequest, MEMBER_ID } from '../member.ts';
import type { CountId, CountQueries, SearchOptions } from '../node-state.ts';
import {
  AROUND_ROWS,
  BUNDLE_ROWS,
  CLUSTER_FOLLOW_ROWS,
  CLUSTER_SEARCH_ROWS,
  CONFIG_DIFF_ROWS,
  DOWNLOAD_ROWS,
  MEMBER_ROWS,
  RESUME_OVERLAP_MS,
  STORE_ROWS,
} from '../params/cluster-parameters.ts';
import { optionalValue, type Query } from '../params/codecs.ts';
import { decodeFollowPositions } from '../params/follow-positions.ts';
import { encodeParameters, parseParameters } from '../params/parameter.ts';
import { BUDGET_ROW, SEARCH_ROWS } from '../params/record-parameters.ts';
import { parseSourceText } from '../params/source-text.ts';
import { type RequestClock, rangeProblem } from '../time/time-text.ts';
import {
  COUNT_ROWS,
  type CountRequest,
  checkCount,
  fromFollowStart,
  parseConditions,
  rejectStore,
  resumeAfter,
  type SearchLimits,
  toFollowStart,
  toSearchQuery,
  type WithQueryText,
} from './record-requests.ts';

/* Requests to the cluster: those of a node, and which members are queried. */

type Budget = Pick<SearchOptions, 'budgetMs'>;

/** Without `since`: long enough to contain the cause of a failure that was just noticed. */
const DEFAULT_BUNDLE_RANGE_MS = 3_600_000;

/** The id in a path, which may be percent-encoded; decoded once. */
export function decodeMemberId(segment: string): string {
  const id = decodeSegment(segment);
  if (id !== undefined && MEMBER_ID.test(id)) return id;
  const message =
    'no member has such an id: ids are 1 to 128 letters, digits and ".:_-"; /api/v1/cluster/nodes lists them';
  throw new PortholeError('MEMBER_NOT_FOUND', message);
}

/** Each field of a selection has a parameter. */
const SELECTION_FIELDS: readonly (keyof MemberSelection)[] = [...MEMBER_ROWS, ...STORE_ROWS].map(({ field }) => field);

/** Which members a request is about, and nothing else of it. */
export function pickMembers(request: MemberSelection): Omit<MemberSelection, 'store' | 'floors'> {
  const picked = MEMBER_ROWS.flatMap(({ field }) => (request[field] === undefined ? [] : [[field, request[field]]]));
  return Object.fromEntries(picked);
}

/** A request as one member is sent it. */
export function withoutSelection<R extends MemberSelection>(request: R): Omit<R, keyof MemberSelection> {
  const own: R = { ...request };
  for (const field of SELECTION_FIELDS) delete own[field];
  return own;
}

export function parseMemberSelection(query: Query): MemberSelection {
  return parseParameters(MEMBER_ROWS, query);
}

export function parseConfigDiffRequest(query: Query): ConfigDiffRequest {
  return parseParameters(CONFIG_DIFF_ROWS, query);
}

export function encodeConfigDiff(request: ConfigDiffRequest): URLSearchParams {
  return encodeParameters(CONFIG_DIFF_ROWS, request);
}

export function encodeMembers(selection: MemberSelection): URLSearchParams {
  return encodeParameters(MEMBER_ROWS, selection);
}

/** Starts at the cursor of an earlier response of the cluster, or at a time. */
export function parseClusterSearchRequest(
  query: Query,
  clock: RequestClock,
  { maxRecords }: SearchLimits,
): SearchQuery & MemberSelection {
  for (const name of ['record', 'offset', 'until'])
    rejectSingleNodeParameter(query, name, 'start at a "time" or a "cursor"');
  return toSearchQuery(parseConditions(CLUSTER_SEARCH_ROWS, query, { clock, maxRecords }), maxRecords);
}

export function encodeClusterSearch(
  query: WithQueryText<Partial<SearchQuery>> & MemberSelection,
  budget: Budget = {},
): URLSearchParams {
  // With the positions of a single node, which the cluster refuses.
  return encodeParameters([...SEARCH_ROWS, BUDGET_ROW, ...MEMBER_ROWS, ...STORE_ROWS], {
    ...query,
    ...query.start,
    ...budget,
  });
}

/** `lastEventId` is the id of the last event seen: the time of its record. */
export function parseClusterFollowRequest(
  query: Query,
  clock: RequestClock,
  lastEventId?: string,
): FollowQuery & MemberSelection {
  rejectSingleNodeParameter(query, 'cursor', 'start at a "time" or at "positions"');
  rejectStore(query, 'a follow reads what members write from now on');
  const { back, timeMs, positions, ...rest } = parseConditions(CLUSTER_FOLLOW_ROWS, query, { clock });
  const start = toFollowStart({ back, timeMs });
  if (positions !== undefined) {
    decodeFollowPositions(positions);
    return { ...rest, start: resumeAfter(positions, timeMs) };
  }
  return { ...rest, start: lastEventId ? { timeMs: resumeTime(lastEventId) } : start };
}

export function encodeClusterFollow(query: WithQueryText<FollowQuery> & MemberSelection): URLSearchParams {
  const { cursor: positions, ...start } = fromFollowStart(query.start);
  return encodeParameters(CLUSTER_FOLLOW_ROWS, { ...query, ...start, positions });
}

export function parseClusterCount<Id extends CountId>(
  id: Id,
  query: Query,
  clock: RequestClock,
): CountQueries[Id] & MemberSelection {
  return checkCount(id, parseConditions([...MEMBER_ROWS, ...STORE_ROWS, ...COUNT_ROWS[id]], query, { clock }));
}

export function encodeClusterCount<Id extends CountId>(
  id: Id,
  query: CountRequest<Id> & MemberSelection,
  budget: Budget = {},
): URLSearchParams {
  return encodeParameters([...COUNT_ROWS[id], BUDGET_ROW, ...MEMBER_ROWS, ...STORE_ROWS], { ...query, ...budget });
}

export function parseAroundRequest(query: Query, clock: RequestClock, { maxRecords }: SearchLimits): AroundRequest {
  const { node, cursor, timeMs, limit, ...rest } = parseParameters(AROUND_ROWS, query, { clock, maxRecords });
  return { ...rest, at: toAroundTarget({ node, cursor, timeMs }), limit: Math.min(limit, maxRecords) };
}

export function encodeAround(request: Pick<AroundRequest, 'at'> & Partial<AroundRequest>): URLSearchParams {
  return encodeParameters(AROUND_ROWS, { ...request, ...request.at });
}

function toAroundTarget(target: {
  node: string | undefined;
  cursor: string | undefined;
  timeMs: number | undefined;
}): AroundRequest['at'] {
  const { node, cursor, timeMs } = target;
  if (node !== undefined && cursor !== undefined && timeMs === undefined) return { node, cursor };
  if (timeMs !== undefined && node === undefined && cursor === undefined) return { timeMs };
  throw new PortholeError('PARAMETER_INVALID', 'give either "node" and "cursor", or "time"');
}

export interface DownloadRequest {
  /** One request to the cluster each. Without any, all logs of all members. */
  sources: (LogSelection & MemberSelection)[];
  filter: RecordFilter;
  /** Each line with the node it is from. */
  withNode: boolean;
}

/** Which records are downloaded: those of the sources that match. */
export function parseDownloadRequest(query: Query, clock: RequestClock): DownloadRequest {
  const { sources = [], labels, withNode, ...filter } = parseConditions(DOWNLOAD_ROWS, query, { clock });
  const labelled = labels === undefined ? {} : { labels };
  const groups = new Map<string, { nodes: string[]; log: LogSelection }>();
  for (const source of sources.flatMap((text) => parseSourceText(text) ?? [])) {
    const log = source.log === null ? {} : { [source.log.kind]: source.log.name };
    const key = JSON.stringify(log);
    groups.set(key, { log, nodes: [...(groups.get(key)?.nodes ?? []), source.node] });
  }
  const all = labels === undefined ? [] : [labelled];
  const named = [...groups.values()].map(({ nodes, log }) => ({ ...log, nodes, ...labelled }));
  return { sources: named.length === 0 ? all : named, filter, withNode };
}

/** Which members a support bundle is of, and the time range of its logs. */
export interface BundleRequest extends MemberSelection {
  /** Epoch ms by the clock of the node that creates it, inclusive. */
  fromMs: number;
  /** Epoch ms, exclusive. */
  toMs: number;
}

export function parseBundleRequest(query: Query, clock: RequestClock): BundleRequest {
  const {
    toMs = clock.nowMs,
    fromMs = toMs - DEFAULT_BUNDLE_RANGE_MS,
    ...members
  } = parseParameters(BUNDLE_ROWS, query, { clock });
  const problem = rangeProblem({ name: '"since"', timeMs: fromMs }, { name: '"until"', timeMs: toMs });
  if (problem !== undefined) throw new PortholeError('PARAMETER_INVALID', problem);
  return { fromMs, toMs, ...members };
}

export function encodeBundle(request: Partial<BundleRequest>): URLSearchParams {
  return encodeParameters(BUNDLE_ROWS, request);
}

/** Silently ignored, it would seem to have an effect. */
function rejectSingleNodeParameter(query: Query, name: string, instead: string): void {
  if (optionalValue(query, name) === undefined) return;
  const message = `"${name}" is a position in the logs of one node, but all nodes are queried: ${instead}`;
  throw new PortholeError('PARAMETER_INVALID', message);
}

function resumeTime(lastEventId: string): number {
  if (!/^-?\d{1,16}$/.test(lastEventId))
    throw new PortholeError('CURSOR_INVALID', '"Last-Event-ID" is not the id of an event of this route');
  return Number(lastEventId) - RESUME_OVERLAP_MS;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined; // a percent sign without its two digits
    throw error;
  }
}
