import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import type { AroundRequest, MemberSelection } from '../cluster-state.ts';
import { PortholeError } from '../errors/errors.ts';
import { decodeFollowPositions } from '../params/follow-positions.ts';
import { optionalValue, parameterInvalid, type Query, wholeNumber } from '../params/query.ts';
import { parseSpan } from '../time/duration-text.ts';
import { type RequestClock, timeParameter } from '../time/time-text.ts';
import { parseDigestRequest } from './digest-request.ts';
import { parseFollowRequest } from './follow-request.ts';
import { parseHistogramRequest } from './histogram-request.ts';
import { parseSearchRequest, type SearchLimits } from './search-request.ts';

/** Whoever wants more of them than this wants a pattern, or all. */
export const MAX_NODE_PATTERNS = 64;
export const DEFAULT_AROUND_SPAN = '5s';
export const DEFAULT_AROUND_RECORDS = 100;

/** A moment is short: who wants hours of all members searches. */
const MAX_AROUND_SPAN_MS = 3_600_000;

/** More than records may come late from a slow member: some are told again rather than any lost. */
export const RESUME_OVERLAP_MS = 5000;

export const MEMBER_ID = /^[A-Za-z0-9.:_-]{1,128}$/;
export const NODE_PATTERN = /^[A-Za-z0-9.:_*?-]{1,128}$/;
export const MEMBER_ROLE = /^[A-Za-z0-9_-]{1,32}$/;

/** The id in a path, which may be written with percent signs; decoded once. What cannot be an id is no member. */
export function decodeMemberId(segment: string): string {
  const id = decodeSegment(segment);
  if (id !== undefined && MEMBER_ID.test(id)) return id;
  const message =
    'no member has such an id: ids are 1 to 128 letters, digits and ".:_-"; /api/v1/cluster/nodes lists them';
  throw new PortholeError('MEMBER_NOT_FOUND', message);
}

/** Which members are asked; what is not given is absent. */
export function parseMemberSelection(query: Query): MemberSelection {
  const nodes = query.getAll('nodes').filter((text) => text !== '');
  if (nodes.length > MAX_NODE_PATTERNS)
    throw new PortholeError(
      'PARAMETER_INVALID',
      `"nodes" is given ${nodes.length} times; at most ${MAX_NODE_PATTERNS} count: use a pattern`,
    );
  for (const text of nodes)
    if (!NODE_PATTERN.test(text))
      throw parameterInvalid('nodes', text, 'the id of a member, or a pattern of ids with * and ?');
  const role = optionalValue(query, 'role');
  if (role !== undefined && !MEMBER_ROLE.test(role))
    throw parameterInvalid('role', role, '1 to 32 letters, digits, dashes and underscores');
  return { ...(nodes.length > 0 && { nodes }), ...(role !== undefined && { role }) };
}

/** Begins at the cursor of an earlier answer of the cluster, or at a time. */
export function parseClusterSearchRequest(
  query: Query,
  clock: RequestClock,
  limits: SearchLimits,
): SearchQuery & MemberSelection {
  for (const name of ['record', 'offset', 'until'])
    rejectSingleNodeParameter(query, name, 'begin at a "time" or a "cursor"');
  return { ...parseSearchRequest(query, clock, limits), ...parseMemberSelection(query) };
}

/** `lastEventId` is the id of the last event seen: the time of its record. */
export function parseClusterFollowRequest(
  query: Query,
  clock: RequestClock,
  lastEventId?: string,
): FollowQuery & MemberSelection {
  const positions = optionalValue(query, 'positions');
  rejectSingleNodeParameter(query, 'cursor', 'begin at a "time", or at "positions"');
  const request = parseFollowRequest(query, clock);
  if (positions !== undefined)
    return { ...request, start: startAt(positions, request), ...parseMemberSelection(query) };
  const start = lastEventId ? { timeMs: resumeTime(lastEventId) } : request.start;
  return { ...request, start, ...parseMemberSelection(query) };
}

/** Members and logs without a position begin at the time. */
function startAt(positions: string, { start }: FollowQuery): FollowQuery['start'] {
  if (decodeFollowPositions(positions) === undefined)
    throw new PortholeError('CURSOR_INVALID', '"positions" are not those of a follow of the cluster');
  const sinceMs = typeof start === 'object' && 'timeMs' in start ? start.timeMs : undefined;
  return { cursor: positions, ...(sinceMs !== undefined && { sinceMs }) };
}

export function parseClusterHistogramRequest(query: Query, clock: RequestClock): HistogramQuery & MemberSelection {
  return { ...parseHistogramRequest(query, clock), ...parseMemberSelection(query) };
}

export function parseClusterDigestRequest(query: Query, clock: RequestClock): DigestQuery & MemberSelection {
  return { ...parseDigestRequest(query, clock), ...parseMemberSelection(query) };
}

export function parseAroundRequest(query: Query, clock: RequestClock, { maxRecords }: SearchLimits): AroundRequest {
  const range = { min: 1, max: maxRecords, because: 'the most is set by search.max-records' };
  return {
    ...parseMemberSelection(query),
    at: parseAroundTarget(query, clock),
    beforeMs: spanParameter(query, 'before'),
    afterMs: spanParameter(query, 'after'),
    limit: wholeNumber(query, 'limit', range) ?? Math.min(DEFAULT_AROUND_RECORDS, maxRecords),
  };
}

function parseAroundTarget(query: Query, clock: RequestClock): AroundRequest['at'] {
  const node = optionalValue(query, 'node');
  const cursor = optionalValue(query, 'cursor');
  const timeMs = timeParameter(query, 'time', clock);
  if (node !== undefined && cursor !== undefined && timeMs === undefined) {
    if (!MEMBER_ID.test(node)) throw parameterInvalid('node', node, 'the id of a member');
    return { node, cursor };
  }
  if (timeMs !== undefined && node === undefined && cursor === undefined) return { timeMs };
  throw new PortholeError('PARAMETER_INVALID', 'give the moment: "node" with a "cursor" of it, or a "time"');
}

function spanParameter(query: Query, name: string): number {
  const text = optionalValue(query, name) ?? DEFAULT_AROUND_SPAN;
  const spanMs = parseSpan(text);
  if (spanMs === undefined || spanMs > MAX_AROUND_SPAN_MS)
    throw parameterInvalid(name, text, 'a duration like 5s (units ms, s, m) or milliseconds, at most 1h');
  return spanMs;
}

/** Left out quietly, it would be taken for something that was done. */
function rejectSingleNodeParameter(query: Query, name: string, instead: string): void {
  if (optionalValue(query, name) === undefined) return;
  const message = `"${name}" is a place in the logs of one node, and all are asked: ${instead}`;
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
  } catch {
    return undefined; // a percent sign that begins nothing
  }
}
