import type {
  ByteStream,
  Digest,
  DigestQuery,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  OpenLog,
  SearchItem,
  SearchQuery,
} from '@porthole/logs/types';
import type { FileRequest, ViewRequest } from './requests/file-requests.ts';

/** Description of the node, exactly the contract's fields. */
export interface NodeObject {
  hostIp: string;
  hostName: string;
  grpcPort: number;
  httpPort: number;
  version: string;
  /** Epoch milliseconds at which the node came online; fixed at start. */
  onlineTime: number;
}

export interface NodeConfig {
  /** Valid TOML, secrets masked. */
  config: string;
  node: NodeObject;
}

/** Who the node is, beyond the contract's fields. */
export interface NodeDescription {
  node: NodeObject;
  /** Whose configuration and logs are shown: the node's own, or those of the service beside it. */
  observes: 'self' | 'service';
  clockMs: number;
  /** IANA name of the zone in which the node's log timestamps are written. */
  timeZone: string;
  utcOffsetMinutes: number;
  uptimeMs: number;
  versions: { porthole: string; node: string };
  /** Operations this node answers, by route id. */
  capabilities: string[];
  /**
   * Health checks that fail: without its log directory a node answers, and has nothing true to say about its logs. Empty
   * while all is well; absent where it is not known, as of earlier versions.
   */
  problems?: NodeProblem[];
  /** What it does in its cluster. Absent from earlier versions. */
  role?: string;
}

/** A health check that fails. */
export interface NodeProblem {
  /** `log directory`, `configuration` ... */
  check: string;
  detail: string;
}

export type SettingSource = 'default' | 'file' | 'env' | 'flag' | 'option';

export type SettingJson = string | number | boolean | SettingJson[] | { [key: string]: SettingJson };

export interface SettingEntry {
  key: string;
  /** Secrets are masked. */
  value: SettingJson;
  /** `null` where the default is not known: keys of an observed service. */
  default: SettingJson | null;
  changed: boolean | null;
  source: SettingSource;
  secret: boolean;
  /** Of what is masked in it, made with a key of the cluster: tells its nodes whether theirs is the same, others nothing. */
  fingerprint?: string;
}

export interface NodeSettings {
  observes: 'self' | 'service';
  /** The file the values come from, `null` when there is none. */
  file: string | null;
  settings: SettingEntry[];
  /** The file on disk now, against what was read at start. */
  disk: {
    state: 'none' | 'same' | 'changed' | 'broken' | 'missing';
    differs: string[];
    detail: string | null;
    /** Both values of each key in `differs`; absent where they are not known. */
    changes?: SettingChange[];
    /** TOML, secrets masked: the service's file as it was read at start, where its text is another now. */
    textAtStart?: string;
  };
}

/** A key whose value in the file is not what it was at start. `null` where the key is missing; secrets are masked. */
export interface SettingChange {
  key: string;
  atStart: SettingJson | null;
  onDisk: SettingJson | null;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Counts what the response holds in memory; only for nodes that are elsewhere. */
  responseBudget?: ResponseBudget;
}

/** What several responses may hold in memory, all together. */
export interface ResponseBudget {
  readonly maxBytes: number;
  /** Whether so many bytes more may be held. */
  hold(bytes: number): boolean;
  /** So many are no longer held. */
  release(bytes: number): void;
}

export interface SearchOptions extends CallOptions {
  /** How long it may look; what it has found by then is the answer, and its end says so. */
  budgetMs?: number;
}

export interface FollowOptions extends CallOptions {
  /**
   * What a client does where its reader was too slow: `load` the records it missed by search, in their place, or `report`
   * a `gap` that can be loaded later. A client loads unless told otherwise; the node itself always reports.
   */
  gaps?: 'load' | 'report';
}

/**
 * What one node answers, whoever asks and over whatever transport: the local node, a client and a test fake
 * implement it; HTTP, gRPC, CLI and fan-out only adapt it.
 */
export interface NodeState {
  describe(options?: CallOptions): Promise<NodeDescription>;
  config(options?: CallOptions): Promise<NodeConfig>;
  settings(options?: CallOptions): Promise<NodeSettings>;
  listLogs(options?: CallOptions): Promise<LogEntry[]>;
  logFiles(options?: CallOptions): Promise<LogFileDetails[]>;
  /** The most recent part of one file. The caller closes the answer. */
  viewLog(request: ViewRequest, options?: CallOptions): Promise<ByteStream>;
  /** One file as it is on disk, for ranges. The caller closes it. */
  openLog(request: FileRequest, options?: CallOptions): Promise<OpenLog>;
  /**
   * Records in batches as they are found; the last item of the last batch is the `end`. An empty batch comes first, as
   * soon as the question is known to be a good one. Leaving the loop, or the signal, ends the search. After the signal
   * the local node gives an `end` with what it covered; a remote one, of which that is not known any more, throws the
   * signal's reason.
   */
  searchLogs(request: SearchQuery, options?: SearchOptions): AsyncIterable<SearchItem[]>;
  /**
   * The same as lines of JSON, whole lines at a time, for who passes them on: half the work, and what a remote node
   * sends anyway. An empty piece comes first.
   */
  searchLogLines(request: SearchQuery, options?: SearchOptions): AsyncIterable<Uint8Array>;
  /** Records in batches as they are written, after an empty batch; without end unless the signal fires, which gives an `end`. */
  followLogs(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]>;
  /** Counts per stretch of time and level. */
  logHistogram(request: HistogramQuery, options?: SearchOptions): Promise<Histogram>;
  /** Records grouped by level and place in the code. */
  logDigest(request: DigestQuery, options?: SearchOptions): Promise<Digest>;
}
