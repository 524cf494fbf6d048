import type { RecordFilter } from '@porthole/logs/types';
import type { AroundRequest } from '../cluster-state.ts';
import { PortholeError } from '../errors/errors.ts';
import {
  type ConfigDiffRequest,
  MEMBER_ID,
  type MemberSelection,
  type SelectableMember,
  sourcesOf,
} from '../member.ts';
import { AROUND_ROWS, BUNDLE_ROWS, CONFIG_DIFF_ROWS, DOWNLOAD_ROWS } from '../params/cluster-parameters.ts';
import type { Query } from '../params/codecs.ts';
import { MEMBER_ROWS, SOURCE_ROW, STORE_ROWS } from '../params/log-parameters.ts';
import { encodeParameters, parseParameters } from '../params/parameter.ts';
import { type RequestClock, rangeProblem } from '../time/time-text.ts';
import { parseConditions, type SearchLimits } from './record-requests.ts';

/* Which nodes a request is about, and requests that only a cluster answers. */

/** Without `since`: long enough to contain the cause of a failure that was just noticed. */
const DEFAULT_BUNDLE_RANGE_MS = 3_600_000;

/** The id in a path, which may be percent-encoded; decoded once. */
export function decodeMemberId(segment: string): string {
  const id = decodeSegment(segment);
  if (id !== undefined && MEMBER_ID.test(id)) return id;
  const message = 'no member has such an id: ids are 1 to 128 letters, digits and ".:_-"; /api/v1/nodes lists them';
  throw new PortholeError('MEMBER_NOT_FOUND', message);
}

/** What of a selection only a cluster takes; each has a parameter. */
const CLUSTER_FIELDS = [...MEMBER_ROWS, ...STORE_ROWS].map(({ field }) => field);

type ClusterField = (typeof CLUSTER_FIELDS)[number];

/** Which members a request is about and which of their logs, and nothing else of it. */
export function pickMembers(request: MemberSelection): Omit<MemberSelection, 'store' | 'floors'> {
  const fields = [...MEMBER_ROWS, SOURCE_ROW].map(({ field }) => field);
  return Object.fromEntries(fields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])));
}

/** A request as one node is sent it that answers alone. */
export function withoutSelection<R extends MemberSelection>(request: R): Omit<R, ClusterField> {
  const own: R = { ...request };
  for (const field of CLUSTER_FIELDS) delete own[field];
  return own;
}

/** The same as one of several is sent it: for the logs that are selected of it. */
export function requestOf<R extends MemberSelection>(member: SelectableMember, request: R): Omit<R, ClusterField> {
  const { src: _src, ...own } = withoutSelection(request);
  const src = sourcesOf(member, request) ?? [];
  return (src.length === 0 ? own : { ...own, src }) as Omit<R, ClusterField>;
}

export function parseMemberSelection(query: Query): MemberSelection {
  return parseParameters(MEMBER_ROWS, query);
}

export function parseConfigDiffRequest(query: Query): ConfigDiffRequest {
  return parseParameters(CONFIG_DIFF_ROWS, query);
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
  selection: MemberSelection;
  filter: RecordFilter;
  /** Each line with the node it is from. */
  withNode: boolean;
}

/** Which records are downloaded: those of the sources that match. */
export function parseDownloadRequest(query: Query, clock: RequestClock): DownloadRequest {
  const { withNode, ...request } = parseConditions(DOWNLOAD_ROWS, query, { clock });
  const { src, ...filter } = withoutSelection(request);
  const { store, floors } = request;
  const selection = { ...pickMembers(request), ...(store && { store }), ...(floors && { floors }) };
  return { selection, filter, withNode };
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

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined; // a percent sign without its two digits
    throw error;
  }
}
