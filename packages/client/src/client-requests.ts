import {
  type AroundRequest,
  type BundleRequest,
  type CallOptions,
  type ClientSession,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterConfigHistory,
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterRecord,
  type ClusterState,
  type ClusterTop,
  type ConfigDiffRequest,
  type ConfigHistory,
  type ConfigHistoryRequest,
  type Coverage,
  type FileRequest,
  type FollowOptions,
  type Incident,
  type IncidentRequest,
  type MemberSelection,
  type NodeState,
  parseQuery,
  type SavedViews,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import type {
  ByteStream,
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  HistogramQuery,
  QueryNode,
  SearchEnd,
  SearchItem,
  SearchQuery,
  Top,
  TopQuery,
} from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';

/* Requests as callers write them: what is left out is not sent, so that the defaults of the node apply. */

/** Conditions by field, as text of the query language or parsed: `shard=13 cost>500ms`. */
export interface QueryCondition {
  query?: string | QueryNode;
}

export type SearchRequest = Partial<Omit<SearchQuery, 'query'>> & QueryCondition;
/** Without a `start` it begins with the next record. */
export type FollowRequest = Partial<Omit<FollowQuery, 'query'>> & QueryCondition;
export type HistogramRequest = Partial<Omit<HistogramQuery, 'query'>> & QueryCondition;
export type DigestRequest = Partial<Omit<DigestQuery, 'query'>> & QueryCondition;
export type FieldsRequest = Partial<Omit<FieldsQuery, 'query'>> & QueryCondition;
export type TopRequest = Pick<TopQuery, 'by'> & Partial<Omit<TopQuery, 'query'>> & QueryCondition;
export type ViewLogRequest = FileRequest & Partial<ViewRequest>;
/** Without times: the last hour. */
export type IncidentQuery = Partial<Omit<IncidentRequest, 'query'>> & QueryCondition;
export type AroundLogRequest = Pick<AroundRequest, 'at'> & Partial<Omit<AroundRequest, 'query'>> & QueryCondition;

/** Which records: those that exist, page by page until none is left or `limit` is reached; with `follow`, those to come. */
export type RecordsRequest = (SearchRequest & { follow?: false }) | (FollowRequest & { follow: true });

export interface RecordsOptions<Event> extends SearchOptions, FollowOptions {
  /**
   * Called with everything that is not a record: the closing record of each page with its coverage; of a follow the gaps
   * that could not be loaded, rotations and lost connections.
   */
  onEvent?(event: Event): void;
}

/** What happens besides records. */
export type RecordsEvent = SearchEnd | Exclude<FollowItem, FoundRecord>;
export type ClusterRecordsEvent = ClusterEnd | Exclude<ClusterFollowItem, ClusterRecord>;

/** The operations of one node, with optional parameters. */
export interface NodeOperations extends NodeState {
  viewLog(request: ViewLogRequest, options?: CallOptions): Promise<ByteStream>;
  /** Records as lines of JSON with their times and origins: for programs that pass them on. */
  search(request?: SearchRequest, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd>;
  /** The same as objects, in lists; the last item of the last one is the end. */
  searchLogs(request?: SearchRequest, options?: SearchOptions): AsyncIterable<SearchItem[]>;
  followLogs(request?: FollowRequest, options?: FollowOptions): AsyncIterable<FollowItem[]>;
  logHistogram(request?: HistogramRequest, options?: SearchOptions): Promise<Histogram>;
  logDigest(request?: DigestRequest, options?: SearchOptions): Promise<Digest>;
  logFields(request?: FieldsRequest, options?: SearchOptions): Promise<Fields>;
  logTop(request: TopRequest, options?: SearchOptions): Promise<Top>;
  events(request?: SearchRequest, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd>;
  followEvents(request?: FollowRequest, options?: FollowOptions): AsyncIterable<FollowItem[]>;
  configHistory(request?: Partial<ConfigHistoryRequest>, options?: CallOptions): Promise<ConfigHistory>;
  /**
   * One record at a time, over all pages; gaps of a follow are loaded. Leaving the loop ends it. Returns what
   * the pages lack together, which is also in the end of each that `onEvent` gets.
   */
  records(
    request?: RecordsRequest,
    options?: RecordsOptions<RecordsEvent>,
  ): AsyncGenerator<FoundRecord, Coverage | undefined, undefined>;
}

/** All nodes of a cluster, with optional parameters. */
export interface ClusterClient extends ClusterState {
  config(request?: MemberSelection, options?: CallOptions): Promise<ClusterConfig>;
  configDiff(request?: ConfigDiffRequest, options?: CallOptions): Promise<ClusterConfigDiff>;
  logFiles(request?: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles>;
  search(request?: SearchRequest & MemberSelection, options?: SearchOptions): AsyncIterable<RecordBatch | ClusterEnd>;
  searchLogs(request?: SearchRequest & MemberSelection, options?: SearchOptions): AsyncIterable<ClusterItem[]>;
  followLogs(request?: FollowRequest & MemberSelection, options?: FollowOptions): AsyncIterable<ClusterFollowItem[]>;
  logHistogram(request?: HistogramRequest & MemberSelection, options?: SearchOptions): Promise<ClusterHistogram>;
  logDigest(request?: DigestRequest & MemberSelection, options?: SearchOptions): Promise<ClusterDigest>;
  logFields(request?: FieldsRequest & MemberSelection, options?: SearchOptions): Promise<ClusterFields>;
  logTop(request: TopRequest & MemberSelection, options?: SearchOptions): Promise<ClusterTop>;
  events(request?: SearchRequest & MemberSelection, options?: SearchOptions): AsyncIterable<RecordBatch | ClusterEnd>;
  followEvents(request?: FollowRequest & MemberSelection, options?: FollowOptions): AsyncIterable<ClusterFollowItem[]>;
  configHistory(
    request?: Partial<ConfigHistoryRequest> & MemberSelection,
    options?: CallOptions,
  ): Promise<ClusterConfigHistory>;
  /** What happened in a time range: in which order, and what stands out. */
  incident(request?: IncidentQuery & MemberSelection, options?: SearchOptions): Promise<Incident>;
  around(request: AroundLogRequest, options?: CallOptions): AsyncIterable<ClusterItem[]>;
  member(id: string): NodeOperations;
  /**
   * One record at a time, merged by time, over all pages; gaps of a follow are loaded. Leaving the loop ends it. Returns what
   * the pages lack together, which is also in the end of each that `onEvent` gets.
   */
  records(
    request?: RecordsRequest & MemberSelection,
    options?: RecordsOptions<ClusterRecordsEvent>,
  ): AsyncGenerator<ClusterRecord, Coverage | undefined, undefined>;
}

/** A node over HTTP. */
export interface NodeClient extends NodeOperations {
  /** Base address without a trailing slash. */
  readonly url: string;
  /** Queries over all nodes of its cluster. Nodes without cluster support fail on the first request. */
  readonly cluster: ClusterClient;
  /**
   * A support bundle of all nodes of its cluster: a ZIP archive, streamed while it is created. Its last file is a
   * `BundleManifest`. Without times: of the last hour. The caller closes the response.
   */
  bundle(request?: Partial<BundleRequest>, options?: CallOptions): Promise<ByteStream>;
  /** Who this client is to the node, and what it may do. */
  session(options?: CallOptions): Promise<ClientSession>;
  /** Log views that people saved on the node, or on another member of its cluster. */
  views(options?: CallOptions): Promise<SavedViews>;
  /** Saves the query of a log view, replacing one of the same name; returns all views. Needs the role `config`. */
  saveView(name: string, query: string, options?: CallOptions): Promise<SavedViews>;
  /** Deletes a view, if there is one; returns the others. Needs the role `config`. */
  deleteView(name: string, options?: CallOptions): Promise<SavedViews>;
  /** What happened to the node in a time range; see `incidentHtml` and `incidentMarkdown` for reports. */
  incident(request?: IncidentQuery, options?: SearchOptions): Promise<Incident>;
}

type Parsed<Request> = Omit<Request, 'query'> & { query?: QueryNode };

/** The request with its query parsed: a mistake in its text is thrown before anything is sent. */
export function parseRequest<Request extends QueryCondition>(request: Request): Parsed<Request> {
  const { query, ...others } = request;
  const node = typeof query === 'string' ? parseQuery(query) : query;
  return { ...others, ...(node !== undefined && { query: node }) };
}
