import type { Client } from '@porthole/client';
import {
  type CallOptions,
  type ClusterDigest,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterTop,
  LogSources,
  type MemberSelection,
  type NodeDescription,
  type NodeState,
  type SearchOptions,
} from '@porthole/contract';
import {
  createZone,
  type Digest,
  type DigestQuery,
  type Fields,
  type FieldsQuery,
  type FollowItem,
  type FollowQuery,
  type Histogram,
  type HistogramQuery,
  type LogEntry,
  type LogFileDetails,
  type LogSelection,
  type SearchItem,
  type SearchQuery,
  type Top,
  type TopQuery,
  type Zone,
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
  /** Whether its records come from nodes of a cluster, usually several. */
  isCluster: boolean;
  /** One of them was named, not selected by a pattern. */
  isOneNode?: boolean;
  /** Time zone of the logs. */
  zone: Zone;
  /** How far the clock of the node is ahead of ours. */
  clockAheadMs: number;
  /** Maximum number of records per request. */
  maxRecords: number;
}

/** The log or the file that a source is of; `undefined`: all. */
export function selectedLog({ selection: { src } }: Pick<LogSource, 'selection'>) {
  return new LogSources(src).only;
}

/** All sources of one command line; `close` releases them. */
export interface OpenSources {
  sources: readonly LogSource[];
  close(): Promise<void>;
}

/** The logs of a node, which answers alone. */
export function nodeState(client: Client): LogState & FileHolder {
  return {
    logFiles: async (options) => (await client.logFiles({}, options)).files,
    listLogs: (options) => client.listLogs(options),
    openLog: (request, options) => client.openLog(request, options),
    searchLogs: (query, options) => client.search(query, options),
    followLogs: (query, options) => client.follow(query, options),
    logHistogram: (query, options) => client.histogram(query, options),
    logDigest: (query, options) => client.digest(query, options),
    logTop: (query, options) => client.top(query, options),
    logFields: (query, options) => client.fields(query, options),
  };
}

/** The logs of some members of the cluster of a node, which describes itself so. */
export function clusterBackend(
  client: Client,
  members: MemberSelection,
  { timeZone, clockMs }: Pick<NodeDescription, 'timeZone' | 'clockMs'>,
): Omit<LogSource, 'label' | 'selection' | 'maxRecords'> {
  const of = <Query extends object>(query: Query) => ({ ...query, ...members });
  // Asked for with each record: a client for each of them takes as long as printing it.
  const holders = new Map<string, FileHolder>();
  return {
    state: {
      logFiles: async (options) => (await client.logFiles(members, options)).files,
      searchLogs: (query, options) => client.search(of(query), options),
      followLogs: (query, options) => client.follow(of(query), options),
      logHistogram: (query, options) => client.histogram(of(query), options),
      logDigest: (query, options) => client.digest(of(query), options),
      logTop: (query, options) => client.top(of(query), options),
      logFields: (query, options) => client.fields(of(query), options),
    },
    holderFor: (node = '') => {
      const holder = holders.get(node) ?? client.node(node);
      holders.set(node, holder);
      return holder;
    },
    isCluster: true,
    zone: createZone(timeZone),
    clockAheadMs: clockMs - Date.now(),
  };
}
