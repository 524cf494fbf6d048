import type {
  CallOptions,
  ClusterDigest,
  ClusterFollowItem,
  ClusterHistogram,
  ClusterItem,
  ClusterRecord,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type {
  Digest,
  DigestQuery,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  HistogramQuery,
  LogFileDetails,
  LogSelection,
  SearchItem,
  SearchQuery,
  Zone,
} from '@porthole/logs';

/** What can be asked about logs: of a node, of files here, or of all nodes of a cluster, who say whose a record is. */
export interface LogState {
  logFiles(options?: CallOptions): Promise<Pick<LogFileDetails, 'name' | 'family'>[]>;
  searchLogs(query: SearchQuery, options?: SearchOptions): AsyncIterable<(SearchItem | ClusterItem)[]>;
  followLogs(query: FollowQuery, options?: CallOptions): AsyncIterable<(FollowItem | ClusterFollowItem)[]>;
  logHistogram(query: HistogramQuery, options?: SearchOptions): Promise<Histogram | ClusterHistogram>;
  logDigest(query: DigestQuery, options?: SearchOptions): Promise<Digest | ClusterDigest>;
}

/** A record, and of a cluster's what is known beside it. */
export type PrintableRecord = FoundRecord & Partial<Pick<ClusterRecord, 'node' | 'atMs' | 'isUnsure'>>;

/** Who has a file, and can be asked about it alone. */
export type FileHolder = Pick<NodeState, 'openLog' | 'searchLogs'>;

/** Logs that are asked for, and who answers for them. */
export interface LogSource {
  /** Tells them apart from others: a path, or a name on a node. */
  label: string;
  state: LogState;
  selection: LogSelection;
  /** Who has the files of a record with this node. */
  holderFor(node: string | undefined): FileHolder;
  /** Whether its records are of several nodes. */
  isCluster: boolean;
  /** In which the logs are written. */
  zone: Zone;
  /** How far the clock of those who write is ahead of ours. */
  clockAheadMs: number;
  /** At most so many records may be asked for at a time. */
  maxRecords: number;
}

/** Everything one command line asks, and how to give it back. */
export interface OpenSources {
  sources: readonly LogSource[];
  close(): Promise<void>;
}
