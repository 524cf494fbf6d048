import type { ClusterClient } from '@porthole/client';
import type {
  CallOptions,
  ClusterDigest,
  ClusterFields,
  ClusterFollowItem,
  ClusterHistogram,
  ClusterItem,
  ClusterTop,
  MemberSelection,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type {
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  LogSelection,
  SearchItem,
  SearchQuery,
  Top,
  TopQuery,
  Zone,
} from '@porthole/logs';
import type { SearchEnd } from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';

/** A search for records that are printed as they come. */
export type PrintedSearch = SearchOptions & { asText?: boolean };

export type { PrintableRecord } from '../output/record-layout.ts';

/** Queries on the logs of a node, of local files, or of all nodes of a cluster. */
export interface LogState {
  logFiles(options?: CallOptions): Promise<Pick<LogFileDetails, 'name' | 'family'>[]>;
  /** Names and sizes only, without reading the files. */
  listLogs?(options?: CallOptions): Promise<LogEntry[]>;
  searchLogs(query: SearchQuery, options?: SearchOptions): AsyncIterable<(SearchItem | ClusterItem)[]>;
  /** The same as they are printed: as lines of JSON, or as text in the files. Only of local files. */
  searchPrinted?(query: SearchQuery, options?: PrintedSearch): AsyncIterable<RecordBatch | SearchEnd>;
  followLogs(query: FollowQuery, options?: CallOptions): AsyncIterable<(FollowItem | ClusterFollowItem)[]>;
  logHistogram(query: HistogramQuery, options?: SearchOptions): Promise<Histogram | ClusterHistogram>;
  logDigest(query: DigestQuery, options?: SearchOptions): Promise<Digest | ClusterDigest>;
  logTop(query: TopQuery, options?: SearchOptions): Promise<Top | ClusterTop>;
  logFields(query: FieldsQuery, options?: SearchOptions): Promise<Fields | ClusterFields>;
}

/** A node or directory that has a file. */
export type FileHolder = Pick<NodeState, 'openLog'>;

/** The logs that one argument selects, and where to query them. */
export interface LogSource {
  /** A path, or a name on a node. */
  label: string;
  /** What distinguishes its files from those of the other sources: a directory or host with a slash, or nothing. */
  place?: string;
  state: LogState;
  selection: LogSelection;
  /** Returns the holder of the files of a record of this node. */
  holderFor(node: string | undefined): FileHolder;
  /** Whether its records come from several nodes. */
  isCluster: boolean;
  /** Time zone of the logs. */
  zone: Zone;
  /** How far the clock of the node is ahead of ours. */
  clockAheadMs: number;
  /** Maximum number of records per request. */
  maxRecords: number;
}

/** All sources of one command line; `close` releases them. */
export interface OpenSources {
  sources: readonly LogSource[];
  close(): Promise<void>;
}

/** The logs of some members of a cluster, with the interface of a single node. */
export class ClusterLogs implements LogState {
  readonly #cluster: ClusterClient;
  readonly #members: MemberSelection;

  constructor(cluster: ClusterClient, members: MemberSelection) {
    this.#cluster = cluster;
    this.#members = members;
  }

  async logFiles(options?: CallOptions) {
    return (await this.#cluster.logFiles(this.#members, options)).files;
  }

  searchLogs(query: SearchQuery, options?: SearchOptions) {
    return this.#cluster.searchLogs({ ...query, ...this.#members }, options);
  }

  followLogs(query: FollowQuery, options?: CallOptions) {
    return this.#cluster.followLogs({ ...query, ...this.#members }, options);
  }

  logHistogram(query: HistogramQuery, options?: SearchOptions) {
    return this.#cluster.logHistogram({ ...query, ...this.#members }, options);
  }

  logDigest(query: DigestQuery, options?: SearchOptions) {
    return this.#cluster.logDigest({ ...query, ...this.#members }, options);
  }

  logTop(query: TopQuery, options?: SearchOptions) {
    return this.#cluster.logTop({ ...query, ...this.#members }, options);
  }

  logFields(query: FieldsQuery, options?: SearchOptions) {
    return this.#cluster.logFields({ ...query, ...this.#members }, options);
  }
}
