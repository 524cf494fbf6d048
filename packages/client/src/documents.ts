import {
  type ClientSession,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterConfigHistory,
  type ClusterDigest,
  type ClusterFields,
  type ClusterHistogram,
  type ClusterLogFiles,
  type ClusterNodes,
  type ClusterTop,
  encodeParameters,
  type ForgottenMember,
  type Incident,
  MEMBER_ID,
  type NodeDescription,
  PATHS,
  type ParameterRow,
  PortholeError,
  REQUEST_ROWS,
  type SavedViews,
  type SearchOptions,
} from '@porthole/contract';
import { decodeClusterCount, decodeDescription, decodeFiles, decodeLists } from './decode-response.ts';
import type { ClientDeps, ClientRequest } from './exchange.ts';
import { countLimits } from './search-stream.ts';
import { requestJson } from './send-request.ts';

/** The responses that are one JSON document, by operation. */
export interface Documents {
  describe: NodeDescription;
  session: ClientSession;
  nodes: ClusterNodes;
  settings: ClusterConfig;
  configDiff: ClusterConfigDiff;
  configHistory: ClusterConfigHistory;
  logFiles: ClusterLogFiles;
  histogram: ClusterHistogram;
  digest: ClusterDigest;
  fields: ClusterFields;
  top: ClusterTop;
  incident: Incident;
  views: SavedViews;
}

export type DocumentId = keyof Documents;

interface DocumentRoute<T> {
  path: string;
  /** `undefined` for a response that is not one. */
  read(value: unknown): T | undefined;
  /** Its parameters; none unless given. */
  rows?: readonly ParameterRow[];
  /** Whether the node scans logs for it. */
  isScan?: true;
}

/** Where each document is requested, and how it is read. */
export const DOCUMENTS: { readonly [Id in DocumentId]: DocumentRoute<Documents[Id]> } = {
  describe: { path: PATHS.node, read: decodeDescription },
  session: { path: PATHS.session, read: decodeLists('roles') },
  nodes: { path: PATHS.nodes, read: decodeLists('nodes') },
  settings: { path: PATHS.settings, rows: REQUEST_ROWS.settings, read: decodeLists('configs') },
  configDiff: { path: PATHS.configDiff, rows: REQUEST_ROWS.configDiff, read: decodeLists('roles', 'members') },
  configHistory: { path: PATHS.configHistory, rows: REQUEST_ROWS.configHistory, read: decodeLists('nodes', 'members') },
  logFiles: { path: PATHS.logFiles, rows: REQUEST_ROWS.logFiles, read: decodeFiles },
  histogram: scan(PATHS.logHistogram, REQUEST_ROWS.histogram, (value) => decodeClusterCount('logHistogram', value)),
  digest: scan(PATHS.logDigest, REQUEST_ROWS.digest, (value) => decodeClusterCount('logDigest', value)),
  fields: scan(PATHS.logFields, REQUEST_ROWS.fields, (value) => decodeClusterCount('logFields', value)),
  top: scan(PATHS.logTop, REQUEST_ROWS.top, (value) => decodeClusterCount('logTop', value)),
  incident: scan(PATHS.incident, REQUEST_ROWS.incident, decodeLists('steps', 'standouts', 'members')),
  views: { path: PATHS.views, read: decodeLists('views') },
};

function scan<T>(path: string, rows: readonly ParameterRow[], read: DocumentRoute<T>['read']): DocumentRoute<T> {
  return { path, rows, read, isScan: true };
}

interface DocumentRequest<T> {
  request?: object;
  options: SearchOptions;
  /** Instead of how clients read it: a member reads its own part. */
  read?: DocumentRoute<T>['read'];
  maxBytes?: number | undefined;
}

/** A document. What it may scan is bounded, so that the node can end it in time, with its coverage. */
export function requestDocument<Id extends DocumentId, T = Documents[Id]>(
  id: Id,
  { request = {}, options, read, maxBytes }: DocumentRequest<T>,
  deps: ClientDeps,
): Promise<T> {
  const route = DOCUMENTS[id] as DocumentRoute<Documents[Id]>;
  const { budget, ...limits } = route.isScan ? countLimits(options, deps) : { ...options, budget: {} };
  const query = encodeParameters(route.rows ?? [], { ...request, ...budget });
  const httpRequest: ClientRequest = {
    path: route.path,
    query,
    ...limits,
    ...(maxBytes !== undefined && { maxBytes }),
  };
  return requestJson(httpRequest, deps, (read ?? route.read) as DocumentRoute<T>['read']);
}

/** These two ids would change the path; all other ids are safe. */
const NO_IDS = ['.', '..'];

export function memberPath(id: string): string {
  if (!MEMBER_ID.test(id) || NO_IDS.includes(id))
    throw new PortholeError('MEMBER_NOT_FOUND', `${JSON.stringify(id)} cannot be the id of a member`);
  return `${PATHS.nodes}/${id}`;
}

/** Drops what is known of a member that has left or failed. A forwarded request is marked in its headers. */
export function forgetMember(id: string, options: SearchOptions, deps: ClientDeps): Promise<ForgottenMember> {
  const httpRequest: ClientRequest = { path: memberPath(id), method: 'DELETE', signal: options.signal };
  return requestJson(httpRequest, deps, decodeLists<ForgottenMember>('members'));
}
