import {
  type CallOptions,
  type FileRequest,
  getRoute,
  type NodeConfig,
  type NodeDescription,
  type NodeObject,
  type NodeProblem,
  type NodeSettings,
  type NodeState,
  ROUTE_IDS,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import type {
  ByteStream,
  Digest,
  DigestQuery,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogDir,
  LogEntry,
  LogFileDetails,
  OpenLog,
  SearchItem,
  SearchQuery,
  Zone,
} from '@porthole/logs';
import type { ConfigSource } from './config/config-source.ts';

export interface LocalNodeParts {
  /** Asked for with every answer, because ports are known only once they are bound. */
  node(): NodeObject;
  config: ConfigSource;
  /** Whose state it shows: a service's as soon as its logs or its configuration are. */
  observes: NodeDescription['observes'];
  logs: LogDir;
  zone: Zone;
  /** Health checks that fail now. */
  problems(): Promise<NodeProblem[]>;
  /** What it does in its cluster. */
  role: string;
}

/** The node of this process. */
export class LocalNode implements NodeState {
  readonly #parts: LocalNodeParts;

  constructor(parts: LocalNodeParts) {
    this.#parts = parts;
  }

  async describe(): Promise<NodeDescription> {
    const { observes, zone, role } = this.#parts;
    const node = this.#parts.node();
    const problems = await this.#parts.problems();
    // Read last: the one who asks compares it with its own.
    const clockMs = Date.now();
    return {
      node,
      observes,
      clockMs,
      timeZone: zone.name,
      utcOffsetMinutes: Math.round(zone.offsetMsAt(clockMs) / 60_000),
      uptimeMs: Math.max(0, clockMs - node.onlineTime),
      versions: { porthole: node.version, node: process.versions.node },
      capabilities: ROUTE_IDS.filter((id) => getRoute(id).path.startsWith('/api/v1/')),
      problems,
      role,
    };
  }

  async config(): Promise<NodeConfig> {
    return { config: await this.#parts.config.text(), node: this.#parts.node() };
  }

  settings(): Promise<NodeSettings> {
    return this.#parts.config.settings();
  }

  listLogs(): Promise<LogEntry[]> {
    return this.#parts.logs.list();
  }

  logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return this.#parts.logs.details(options);
  }

  viewLog({ file, sizeBytes }: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    return this.#parts.logs.tail(file, sizeBytes, options);
  }

  openLog({ file, text = false }: FileRequest, { signal }: CallOptions = {}): Promise<OpenLog> {
    return this.#parts.logs.open(file, { signal, text });
  }

  searchLogs(request: SearchQuery, options: SearchOptions = {}): AsyncIterable<SearchItem[]> {
    return this.#parts.logs.search(request, options);
  }

  searchLogLines(request: SearchQuery, options: SearchOptions = {}): AsyncIterable<Uint8Array> {
    return this.#parts.logs.searchLines(request, options);
  }

  followLogs(request: FollowQuery, options: CallOptions = {}): AsyncIterable<FollowItem[]> {
    return this.#parts.logs.follow(request, options);
  }

  logHistogram(request: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    return this.#parts.logs.histogram(request, options);
  }

  logDigest(request: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    return this.#parts.logs.digest(request, options);
  }
}
