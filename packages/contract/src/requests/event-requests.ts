import type { FollowQuery, QueryNode } from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { type ConfigHistoryRequest, type EventKind, kindsQuery } from '../events.ts';
import type { IncidentRequest } from '../incident.ts';
import type { MemberSelection } from '../member.ts';
import type { Query } from '../params/codecs.ts';
import {
  EVENT_OWN_ROWS,
  HISTORY_ROWS,
  type INCIDENT_FORMATS,
  INCIDENT_ROWS,
  VERSION_NODE_ROW,
} from '../params/event-parameters.ts';
import { encodeParameters, parseParameters } from '../params/parameter.ts';
import { type RequestClock, rangeProblem } from '../time/time-text.ts';
import {
  encodeFollow,
  type FollowRequest,
  parseConditions,
  parseFollowRequest,
  parseSearchRequest,
  rejectStore,
  type SearchLimits,
  type SearchRequest,
  type WithQueryText,
} from './record-requests.ts';

/* Events are records: their requests are those for records, with the kinds as a part of the query. */

interface EventLimits extends SearchLimits {
  lastEventId?: string | undefined;
}

/** Those that are there, or from now on. */
export type EventsRequest = { search: SearchRequest; follow?: never } | { follow: FollowRequest; search?: never };

export function parseEventsRequest(query: Query, clock: RequestClock, limits: EventLimits): EventsRequest {
  const { kinds, follow = false } = parseParameters(EVENT_OWN_ROWS, query);
  rejectLogs(query);
  if (follow) return { follow: ofKinds(parseFollowRequest(query, clock, limits.lastEventId), kinds) };
  return { search: ofKinds(parseSearchRequest(query, clock, limits), kinds) };
}

export function encodeEventFollow(query: WithQueryText<FollowQuery> & MemberSelection): URLSearchParams {
  return followed(encodeFollow(query));
}

function followed(query: URLSearchParams): URLSearchParams {
  query.set('follow', 'true');
  return query;
}

export function parseHistoryRequest(query: Query, clock: RequestClock): ConfigHistoryRequest & MemberSelection {
  return parseParameters(HISTORY_ROWS, query, { clock });
}

/** Whose configuration is asked for; `undefined`: that of the node that receives the request. */
export function parseVersionNode(query: Query): string | undefined {
  return parseParameters([VERSION_NODE_ROW], query).node;
}

export function encodeVersionNode(node: string | undefined): URLSearchParams {
  return encodeParameters([VERSION_NODE_ROW], { node });
}

/** Silently ignored, it would seem to have an effect. */
function rejectLogs(query: Query): void {
  rejectStore(query, 'events are read from the nodes they are about');
  if (query.getAll('src').some((text) => text !== ''))
    throw new PortholeError('PARAMETER_INVALID', '"src" selects logs, and events are in none: leave it out');
}

/** The request for events of the kinds that the parameters name, or of any kind. */
export function ofAskedKinds<Request extends { query?: QueryNode }>(request: Request, query: Query): Request {
  rejectLogs(query);
  return ofKinds(request, parseParameters(EVENT_OWN_ROWS, query).kinds);
}

/** Without times: the last hour. */
const INCIDENT_RANGE_MS = 3_600_000;

/** How the report is written. */
export type IncidentFormat = (typeof INCIDENT_FORMATS)[number];

interface ParsedIncident {
  request: IncidentRequest;
  format: IncidentFormat;
}

export function parseIncidentRequest(query: Query, clock: RequestClock): ParsedIncident {
  return toIncident(parseConditions(INCIDENT_ROWS, query, { clock }), clock);
}

function toIncident(
  values: Partial<IncidentRequest> & { format: IncidentFormat; budgetMs?: number },
  { nowMs }: RequestClock,
): ParsedIncident {
  const { format, budgetMs: _budget, toMs = nowMs, fromMs = toMs - INCIDENT_RANGE_MS, ...rest } = values;
  const problem = rangeProblem({ name: '"from"', timeMs: fromMs }, { name: '"to"', timeMs: toMs });
  if (problem !== undefined) throw new PortholeError('PARAMETER_INVALID', problem);
  return { request: { ...rest, fromMs, toMs }, format };
}

/** The request for events of these kinds, or of any kind. */
export function ofKinds<Request extends { query?: QueryNode }>(
  request: Request,
  kinds?: readonly EventKind[],
): Request {
  const query = kindsQuery(kinds);
  return { ...request, query: request.query ? { kind: 'and', nodes: [query, request.query] } : query };
}
