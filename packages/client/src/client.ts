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
  type ClusterNodes,
  type ClusterRecord,
  type ClusterTop,
  type ConfigDiffRequest,
  type ConfigHistoryRequest,
  type ConfigOptions,
  type ConfigVersion,
  type Coverage,
  type FileRequest,
  type FollowOptions,
  type ForgottenMember,
  type Incident,
  type IncidentRequest,
  type MemberSelection,
  type NodeConfig,
  type NodeDescription,
  parseQuery,
  type SavedViews,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import type {
  ByteStream,
  DigestQuery,
  FieldsQuery,
  FollowQuery,
  HistogramQuery,
  LogEntry,
  OpenLog,
  QueryNode,
  SearchQuery,
  TopQuery,
} from '@porthole/logs/types';

/* Requests as callers write them: what is left out is not sent, so that the defaults of the node apply. */

/** Conditions by field, as text of the query language or parsed: `shard=13 cost>500ms`. */
export interface QueryCondition {
  query?: string | QueryNode;
}

/** Without `nodes`, `role` and `labels`, the node that is asked answers alone. */
type Asked<Query> = Partial<Omit<Query, 'query'>> & QueryCondition & MemberSelection;

export type SearchRequest = Asked<SearchQuery>;
/** Without a `start` it begins with the next record. */
export type FollowRequest = Asked<FollowQuery>;
export type HistogramRequest = Asked<HistogramQuery>;
export type DigestRequest = Asked<DigestQuery>;
export type FieldsRequest = Asked<FieldsQuery>;
export type TopRequest = Pick<TopQuery, 'by'> & Asked<TopQuery>;
export type ViewLogRequest = FileRequest & Partial<ViewRequest>;
/** Without times: the last hour. */
export type IncidentQuery = Asked<IncidentRequest>;
export type HistoryRequest = Partial<ConfigHistoryRequest> & MemberSelection;
export type AroundLogRequest = Pick<AroundRequest, 'at'> & Partial<AroundRequest>;

/** Which records: those that exist, page by page until none is left or `limit` is reached; with `follow`, those to come. */
export type RecordsRequest = (SearchRequest & { follow?: false }) | (FollowRequest & { follow: true });

/** What happens besides records. */
export type RecordsEvent = ClusterEnd | Exclude<ClusterFollowItem, ClusterRecord>;

export interface RecordsOptions extends SearchOptions, FollowOptions {
  /**
   * Called with everything that is not a record: the closing record of each page with its coverage; of a follow the gaps
   * that could not be loaded, rotations and lost connections.
   */
  onEvent?(event: RecordsEvent): void;
}

/**
 * The operations on nodes: of the node that is asked, or of those that a request selects. Each returns what the selected
 * nodes have together, with a report of each.
 */
export interface NodeClient {
  config(options?: ConfigOptions): Promise<NodeConfig>;
  listLogs(options?: CallOptions): Promise<LogEntry[]>;
  /** The most recent part of one file. The caller closes it. */
  viewLog(request: ViewLogRequest, options?: CallOptions): Promise<ByteStream>;
  /** One file as it is on disk, for ranges. The caller closes it. */
  openLog(request: FileRequest, options?: CallOptions): Promise<OpenLog>;
  /** Each key of the configurations, with its source. */
  settings(request?: MemberSelection, options?: CallOptions): Promise<ClusterConfig>;
  /** The keys in which nodes differ; of all nodes if none are selected. */
  configDiff(request?: ConfigDiffRequest, options?: CallOptions): Promise<ClusterConfigDiff>;
  configHistory(request?: HistoryRequest, options?: CallOptions): Promise<ClusterConfigHistory>;
  /** Throws CONFIG_VERSION_NOT_FOUND. */
  configVersion(version: string, options?: CallOptions): Promise<ConfigVersion>;
  logFiles(request?: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles>;
  /** One page of records, merged by time, in lists as they are found, an empty one first; the last item is the end. */
  search(request?: SearchRequest, options?: SearchOptions): AsyncIterable<ClusterItem[]>;
  /** Records as they are written, after an empty list. It reconnects, and ends only by the signal, with an `end`. */
  follow(request?: FollowRequest, options?: FollowOptions): AsyncIterable<ClusterFollowItem[]>;
  histogram(request?: HistogramRequest, options?: SearchOptions): Promise<ClusterHistogram>;
  digest(request?: DigestRequest, options?: SearchOptions): Promise<ClusterDigest>;
  fields(request?: FieldsRequest, options?: SearchOptions): Promise<ClusterFields>;
  top(request: TopRequest, options?: SearchOptions): Promise<ClusterTop>;
  /** What was logged around one record or time, oldest first; lists as those of a search. */
  around(request: AroundLogRequest, options?: CallOptions): AsyncIterable<ClusterItem[]>;
  /**
   * One record at a time, over all pages; gaps of a follow are loaded. Leaving the loop ends it. Returns what the pages
   * lack together, which is also in the end of each that `onEvent` gets.
   */
  records(
    request?: RecordsRequest,
    options?: RecordsOptions,
  ): AsyncGenerator<ClusterRecord, Coverage | undefined, undefined>;
  /** What happened to nodes: records whose context has a `kind`, in lists as those of a search. */
  events(request?: SearchRequest, options?: SearchOptions): AsyncIterable<ClusterItem[]>;
  followEvents(request?: FollowRequest, options?: FollowOptions): AsyncIterable<ClusterFollowItem[]>;
  /** What happened in a time range: in which order, and what stands out. */
  incident(request?: IncidentQuery, options?: SearchOptions): Promise<Incident>;
  /**
   * A support bundle: a ZIP archive, streamed while it is created. Its last file is a `BundleManifest`. Without times: of
   * the last hour. The caller closes the response.
   */
  bundle(request?: Partial<BundleRequest>, options?: CallOptions): Promise<ByteStream>;
}

/** A node, and through it all nodes of its cluster. */
export interface Client extends NodeClient {
  /** Base address without a trailing slash. */
  readonly url: string;
  /** The node that is asked. */
  describe(options?: CallOptions): Promise<NodeDescription>;
  /** Who this client is to the node, and what it may do. */
  session(options?: CallOptions): Promise<ClientSession>;
  /** The members of the cluster; of a node alone, itself. */
  nodes(options?: CallOptions): Promise<ClusterNodes>;
  /** The same client for one node, reached through the one that is asked. An unknown one fails on the first request. */
  node(id: string): NodeClient;
  /** Drops what is known and recorded of a member that has left or failed. Needs the role `admin`. */
  forget(id: string, options?: CallOptions): Promise<ForgottenMember>;
  /** Log views that people saved on the node, or on another member of its cluster. */
  views(options?: CallOptions): Promise<SavedViews>;
  /** Saves the query of a log view, replacing one of the same name; returns all views. Needs the role `config`. */
  saveView(name: string, query: string, options?: CallOptions): Promise<SavedViews>;
  /** Deletes a view, if there is one; returns the others. Needs the role `config`. */
  deleteView(name: string, options?: CallOptions): Promise<SavedViews>;
}

type Parsed<Request> = Omit<Request, 'query'> & { query?: QueryNode };

/** The request with its query parsed: a mistake in its text is thrown before anything is sent. */
export function parseRequest<Request extends QueryCondition>(request: Request): Parsed<Request> {
  const { query, ...others } = request;
  const node = typeof query === 'string' ? parseQuery(query) : query;
  return { ...others, ...(node !== undefined && { query: node }) };
}
