import type {
  ByteStream,
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
  OpenLog,
  SearchEnd,
  SearchItem,
  SearchQuery,
  Top,
  TopQuery,
} from '@porthole/logs/types';
import { type RecordBatch, toItems } from '@porthole/records';
import type { ConfigHistory, ConfigHistoryRequest, ConfigVersion } from './events.ts';
import type { Labels } from './labels.ts';

/** The node, with exactly the fields of the contract. */
export interface NodeObject {
  /** IP address of the node. */
  hostIp: string;
  /** Host name of the node. */
  hostName: string;
  /** Port of the node's gRPC server. */
  grpcPort: number;
  /** Port of the node's HTTP server. */
  httpPort: number;
  /** Version of the node software. */
  version: string;
  /** Epoch milliseconds at which the node came online; fixed at start. */
  onlineTime: number;
}

/** The configuration of the responding node. */
export interface NodeConfig {
  /** Valid TOML, secrets masked; or the text of the service's files as they are, if that was requested. */
  config: string;
  node: NodeObject;
}

/** The node, beyond the fields of the contract. */
export interface NodeDescription {
  node: NodeObject;
  /** Whose configuration and logs are shown: the node's own, or those of the service beside it. */
  observes: 'self' | 'service';
  /** The node's clock, epoch milliseconds. */
  clockMs: number;
  /** IANA name of the zone in which the node's log timestamps are written. */
  timeZone: string;
  /** Offset of that zone from UTC now. */
  utcOffsetMinutes: number;
  /** Milliseconds since the node came online. */
  uptimeMs: number;
  /** Software versions. */
  versions: {
    /** Porthole. */
    porthole: string;
    /** Node.js. */
    node: string;
  };
  /** Operations this node supports, by route id. */
  capabilities: string[];
  /**
   * Health checks that fail now, as in `/health/ready`: a node without its log directory responds, but knows nothing
   * about its logs. Empty if none fails.
   */
  problems: NodeProblem[];
  /** What it does in its cluster, by its setting `cluster.role`. */
  role: string;
  /** Its labels, by its setting `node.labels`. */
  labels: Labels;
  /** How far it has shipped its logs to the archive; absent if it ships nothing. */
  archive?: ShippingState;
}

/** What a node has shipped to the archive since it started, and what waits. */
export interface ShippingState {
  /** Milliseconds that the oldest record waits to be shipped. */
  lagMs: number;
  /** Bytes of logs that wait to be shipped. */
  lagBytes: number;
  /** Records the archive has stored. */
  shippedRecords: number;
  /** Bytes of logs that were deleted before they were shipped. */
  lostBytes: number;
  /** Why nothing is shipped now; `null` if there is no problem. */
  problem: string | null;
}

/** How far a node is behind in shipping its logs to the archive. */
export type ShippingLag = Pick<ShippingState, 'lagMs' | 'lagBytes' | 'lostBytes'>;

/** A health check that fails. */
export interface NodeProblem {
  /** Its name: `log directory`, `configuration` ... */
  check: string;
  /** What is wrong. */
  detail: string;
}

export type SettingSource = 'default' | 'file' | 'env' | 'flag' | 'option';

/** A value of a configuration. */
export type SettingJson = string | number | boolean | SettingJson[] | { [key: string]: SettingJson };

/** One configuration key. */
export interface SettingEntry {
  /** Dotted key. */
  key: string;
  /** The value as it would be written in the file; a secret is `******`. */
  value: SettingJson;
  /** The default; `null` where it is not known: keys of an observed service. */
  default: SettingJson | null;
  /** Whether the value differs from the default. */
  changed: boolean | null;
  /** Where the value comes from. */
  source: SettingSource;
  /** Whether the value is masked. */
  secret: boolean;
  /** A fingerprint of the masked part by a key of the cluster: its nodes can compare secrets, nobody else can. */
  fingerprint?: string;
  /** The file that has it, if the configuration of an observed service is not a single TOML file. */
  file?: string;
  /** Its line in that file. */
  line?: number;
}

/** Formats of configurations; `text` is everything else. */
export const CONFIG_FORMATS = [
  'toml',
  'yaml',
  'json',
  'ini',
  'properties',
  'env',
  'postgresql',
  'key-value',
  'nginx',
  'xml',
  'text',
] as const;

export type ConfigFormat = (typeof CONFIG_FORMATS)[number];

/** Each configuration key with its source, and the file on disk compared with what was read at start. */
export interface NodeSettings {
  /** Whose configuration it is. */
  observes: 'self' | 'service';
  /** The file the values come from, `null` when there is none. */
  file: string | null;
  settings: SettingEntry[];
  /** The file on disk now, compared with what was read at start. */
  disk: {
    /** How it compares with what was read at start. */
    state: 'none' | 'same' | 'changed' | 'broken' | 'missing';
    /** Keys whose value differs. */
    differs: string[];
    /** What is wrong with it. */
    detail: string | null;
    /** Both values of each key in `differs`; absent where they are not known. */
    changes?: SettingChange[];
    /** TOML, secrets masked: the service's file as it was read at start, if its text has changed. */
    textAtStart?: string;
  };
  /** The format of the service's files (`yaml`, `postgresql`, `text` ...); absent for TOML. */
  format?: string;
  /** Parts of the service's configuration that could not be read, or are shown only as text. */
  problems?: string[];
  /** What the service says it runs with, compared with its files; absent unless `service.config-command` is set. */
  running?: RunningSettings;
}

/** What the service says it runs with, compared with its files; present if `service.config-command` is set. */
export interface RunningSettings {
  /** How it compares with the files. */
  state: 'same' | 'differs' | 'failed';
  /** Why it could not be read. */
  detail: string | null;
  /** Keys that both have. */
  comparedKeys: number;
  differences: RunningDifference[];
}

/** A key whose value in the file has another meaning than the one the service runs with. Secrets are masked. */
export interface RunningDifference {
  /** Dotted key. */
  key: string;
  /**
   * Its value in the file; `null`: the service has it from a file, but not from one of those that are read. Secrets are
   * masked.
   */
  onDisk: SettingJson | null;
  /** The value the service runs with. Secrets are masked. */
  running: SettingJson;
}

/** A key whose value in the file has changed since the start. `null`: the key is missing. Secrets are masked. */
export interface SettingChange {
  /** Dotted key. */
  key: string;
  /** Its value at start; `null` if it was missing. Secrets are masked. */
  atStart: SettingJson | null;
  /** Its value in the file now; `null` if it is missing. Secrets are masked. */
  onDisk: SettingJson | null;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Whose request it is: clients are served in turn, and limits are counted for each. Not sent to remote nodes. */
  client?: string | undefined;
  /** Limits what responses hold in memory; only for remote nodes. */
  responseBudget?: ResponseBudget;
}

export interface LogFilesOptions extends CallOptions {
  /** Which files; a single `=FILE` is described with `learned`. */
  src?: readonly string[] | undefined;
}

export interface ConfigOptions extends CallOptions {
  /** `source`: the text as the service's files have it, masked. Default: `toml`. */
  format?: 'toml' | 'source' | undefined;
}

/** What a request is sent with: a part of the `RequestInit` of every `fetch`. */
export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  redirect: 'manual';
  cache: 'no-store';
}

/** What is read of a response: a part of the `Response` of every `fetch`. */
export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly type: string;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}

/** The `fetch` of browsers, of Node.js, of undici, or any function like them. */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** What several responses may hold in memory together. */
export interface ResponseBudget {
  readonly maxBytes: number;
  /** Reserves this many more bytes; `false` if there is no room. */
  hold(bytes: number): boolean;
  /** Returns reserved bytes. */
  release(bytes: number): void;
}

export interface SearchOptions extends CallOptions {
  /** Maximum time of the scan; the response then contains what was found, and its end says so. */
  budgetMs?: number;
  /** A batch is no longer used when the next one is requested: its memory may be used for that one. */
  reusesMemory?: boolean;
  /**
   * With `raw`, nothing else of the records is used but position, time and `raw`: the rest may be left out, the message being
   * empty then, or not.
   */
  onlyRaw?: boolean;
}

export interface FollowOptions extends CallOptions {
  /**
   * What a client does about records that its reader was too slow for: `load` them by a search, in their position, or
   * `report` a `gap` that can be loaded later. Default: `load`. The node itself always reports.
   */
  gaps?: 'load' | 'report';
  /**
   * Asks a remote node for a sign of life this often, each of which is emitted as an empty batch. If it agrees, the connection
   * counts as lost after two and a half times as long without a byte.
   */
  heartbeatMs?: number;
  /**
   * Asks for the text of records instead of them where that is possible, see `FollowedText`, for a query with `raw`.
   */
  texts?: boolean;
  /**
   * Emits a `position` whenever it is known where all logs stand: to resume, in `start.cursor`, before the cursors of
   * the records that came after it, joined by `~`.
   */
  positions?: boolean;
}

/** What each request that counts records takes. */
export interface CountQueries {
  logHistogram: HistogramQuery;
  logDigest: DigestQuery;
  logFields: FieldsQuery;
  logTop: TopQuery;
}

/** The name of the request, its method and its route. */
export type CountId = keyof CountQueries;

/** What a node returns for it. */
export interface CountResponses {
  /** Counts per bucket of time and level. */
  logHistogram: Histogram;
  /** Records grouped by level and call site. */
  logDigest: Digest;
  /** The fields of matching records. */
  logFields: Fields;
  /** Counts by value of a field. */
  logTop: Top;
}

export type NodeCounts = {
  [Id in CountId]: (request: CountQueries[Id], options?: SearchOptions) => Promise<CountResponses[Id]>;
};

/**
 * What one node offers, over any transport: the local node, a client and a test fake implement it; HTTP, gRPC, CLI and
 * fan-out only adapt it.
 */
export interface NodeState extends NodeCounts {
  describe(options?: CallOptions): Promise<NodeDescription>;
  config(options?: ConfigOptions): Promise<NodeConfig>;
  settings(options?: CallOptions): Promise<NodeSettings>;
  listLogs(options?: CallOptions): Promise<LogEntry[]>;
  logFiles(options?: LogFilesOptions): Promise<LogFileDetails[]>;
  /** The most recent part of one file. The caller closes it. */
  viewLog(request: ViewRequest, options?: CallOptions): Promise<ByteStream>;
  /** One file as it is on disk, for ranges. The caller closes it. */
  openLog(request: FileRequest, options?: CallOptions): Promise<OpenLog>;
  /**
   * Records in batches as they are found, and the end. An empty batch comes first, as soon as the request has been
   * validated. Leaving the loop, or the signal, ends the search. After the signal the local node emits an `end` with its
   * coverage; a client does not know the coverage and throws the reason of the signal. See `searchItems` for objects.
   */
  search(request: SearchQuery, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd>;
  /** Records in batches as they are written, after an empty batch; it ends only by the signal, with an `end`. */
  followLogs(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]>;
  /** What happened to the node: records whose context has a `kind`, in batches as in a search. See `toEvent`. */
  events(request: SearchQuery, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd>;
  followEvents(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]>;
  configHistory(request: ConfigHistoryRequest, options?: CallOptions): Promise<ConfigHistory>;
  /** Throws CONFIG_VERSION_NOT_FOUND. */
  configVersion(version: string, options?: CallOptions): Promise<ConfigVersion>;
}

/** A search of a node as objects: for whoever does not pass the records on. The last item of the last list is the end. */
export function searchItems(
  node: Pick<NodeState, 'search'>,
  request: SearchQuery,
  options?: SearchOptions,
): AsyncGenerator<SearchItem[], void, undefined> {
  return toItems(node.search(request, options));
}

/** Names one log file. The log directory decides whether the name is safe, before it touches the disk. */
export interface FileRequest {
  file: string;
  /** The uncompressed text of a compressed file, which the offsets of records count in. */
  text?: boolean;
}

export interface ViewRequest extends FileRequest {
  /** At most this many bytes, from the end of the (uncompressed) text. */
  sizeBytes: number;
}
