import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import type { AroundRequest } from '../cluster-state.ts';
import { PortholeError } from '../errors/errors.ts';
import { type ConfigDiffRequest, MEMBER_ID, type MemberSelection } from '../member.ts';
import { AROUND_ROWS, BUNDLE_ROWS, CONFIG_DIFF_ROWS, DOWNLOAD_ROWS } from '../params/cluster-parameters.ts';
import type { Query } from '../params/codecs.ts';
import { MEMBER_ROWS, STORE_ROWS } from '../params/log-parameters.ts';
import { encodeParameters, parseParameters } from '../params/parameter.ts';
import { parseSourceText } from '../params/source-text.ts';
import { type RequestClock, rangeProblem } from '../time/time-text.ts';
import { parseConditions, type SearchLimits, type WithQueryText } from './record-requests.ts';

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

export function parseAroundRequest(query: Query, clock: RequestClock, { maxRecords }: SearchLimits): AroundRequest {
  const { node, cursor, timeMs, limit, ...rest } = parseConditions(AROUND_ROWS, query, { clock, maxRecords });
  return { ...rest, at: toAroundTarget({ node, cursor, timeMs }), limit: Math.min(limit, maxRecords) };
}

export function encodeAround(
  request: Pick<AroundRequest, 'at'> & Partial<WithQueryText<AroundRequest>>,
): URLSearchParams {
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
  /** One request to the cluster each. */
  sources: (LogSelection & MemberSelection)[];
  filter: RecordFilter;
  /** Each line with the node it is from. */
  withNode: boolean;
}

/** Which records are downloaded: those of the sources that match. */
export function parseDownloadRequest(query: Query, clock: RequestClock): DownloadRequest {
  const { sources = [], nodes, role, labels, withNode, ...filter } = parseConditions(DOWNLOAD_ROWS, query, { clock });
  const members = pickMembers({
    ...(nodes && { nodes }),
    ...(role !== undefined && { role }),
    ...(labels && { labels }),
  });
  const groups = new Map<string, { nodes: string[]; log: LogSelection }>();
  for (const source of sources.flatMap((text) => parseSourceText(text) ?? [])) {
    const log = source.log === null ? {} : { [source.log.kind]: source.log.name };
    const key = JSON.stringify(log);
    groups.set(key, { log, nodes: [...(groups.get(key)?.nodes ?? []), source.node] });
  }
  const named = [...groups.values()].map(({ nodes: of, log }) => ({ ...log, ...members, nodes: of }));
  return { sources: named.length === 0 ? [members] : named, filter, withNode };
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
