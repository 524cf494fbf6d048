import type { NodePast } from '@porthole/cluster/past';
import {
  type CallOptions,
  type ConfigHistory,
  type ConfigHistoryRequest,
  type ConfigOptions,
  type ConfigVersion,
  type FileRequest,
  type FollowOptions,
  getRoute,
  type Labels,
  type LogFilesOptions,
  type NodeConfig,
  type NodeDescription,
  type NodeObject,
  type NodeProblem,
  type NodeSettings,
  type NodeState,
  PortholeError,
  ROUTE_IDS,
  type SearchOptions,
  type ShippingState,
  searchItems,
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
  Histogram,
  HistogramQuery,
  LogDir,
  LogEntry,
  LogFileDetails,
  OpenLog,
  SearchEnd,
  SearchItem,
  SearchQuery,
  Top,
  TopQuery,
  Zone,
} from '@porthole/logs';
import type { RecordBatch } from '@porthole/records';
import type { ConfigSource } from './config/service-config.ts';

export interface LocalNodeDeps {
  /** Called for every response, because ports are known only once they are bound. */
  node(): NodeObject;
  config: ConfigSource;
  /** `service` if the logs or the configuration shown are those of a service. */
  observes: NodeDescription['observes'];
  logs: LogDir;
  zone: Zone;
  /** Health checks that fail now. */
  problems(): Promise<NodeProblem[]>;
  /** The role of the node in its cluster. */
  role: string;
  labels: Labels;
  /** What happened to it; `undefined` if that is not kept. */
  past?: NodePast | undefined;
  /** How far its logs are shipped to the archive; `undefined` if they are not. */
  shipping?(): ShippingState | undefined;
}

/** `NodeState` of this process. */
export class LocalNode implements NodeState {
  readonly #deps: LocalNodeDeps;
  /** The same object for as long as nothing in it has changed, so that it is encoded only once. */
  #config: NodeConfig | undefined;

  constructor(deps: LocalNodeDeps) {
    this.#deps = deps;
  }

  async describe(): Promise<NodeDescription> {
    const { observes, zone, role, labels } = this.#deps;
    const node = this.#deps.node();
    const problems = await this.#deps.problems();
    const archive = this.#deps.shipping?.();
    // Read last: the client compares it with its own clock.
    const clockMs = Date.now(); // clock: the clock that is shown to others
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
      labels,
      ...(archive && { archive }),
    };
  }

  async config({ format }: ConfigOptions = {}): Promise<NodeConfig> {
    const node = this.#deps.node();
    if (format === 'source') return { config: await this.#deps.config.source(), node };
    const config = await this.#deps.config.text();
    const last = this.#config;
    if (last?.config === config && isSameNode(last.node, node)) return last;
    this.#config = Object.freeze({ config, node: Object.freeze({ ...node }) });
    return this.#config;
  }

  settings(): Promise<NodeSettings> {
    return this.#deps.config.settings();
  }

  listLogs(): Promise<LogEntry[]> {
    return this.#deps.logs.list();
  }

  logFiles(options: LogFilesOptions = {}): Promise<LogFileDetails[]> {
    return this.#deps.logs.details(options);
  }

  viewLog({ file, sizeBytes }: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    return this.#deps.logs.tail(file, sizeBytes, options);
  }

  openLog({ file, text = false }: FileRequest, { signal }: CallOptions = {}): Promise<OpenLog> {
    return this.#deps.logs.open(file, { signal, text });
  }

  search(request: SearchQuery, options: SearchOptions = {}): AsyncIterable<RecordBatch | SearchEnd> {
    return this.#deps.logs.search(request, options);
  }

  /** The same as objects, in lists; the last item of the last one is the end. */
  searchLogs(request: SearchQuery, options: SearchOptions = {}): AsyncIterable<SearchItem[]> {
    return searchItems(this, request, options);
  }

  followLogs(request: FollowQuery, options: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    return this.#deps.logs.follow(request, options);
  }

  logHistogram(request: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    return this.#deps.logs.histogram(request, options);
  }

  logDigest(request: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    return this.#deps.logs.digest(request, options);
  }

  logFields(request: FieldsQuery, options: SearchOptions = {}): Promise<Fields> {
    return this.#deps.logs.fields(request, options);
  }

  logTop(request: TopQuery, options: SearchOptions = {}): Promise<Top> {
    return this.#deps.logs.top(request, options);
  }

  events(request: SearchQuery, options: SearchOptions = {}): AsyncIterable<RecordBatch | SearchEnd> {
    return this.#past.events(request, options);
  }

  followEvents(request: FollowQuery, options: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    return this.#past.followEvents(request, options);
  }

  async configHistory(request: ConfigHistoryRequest, options: CallOptions = {}): Promise<ConfigHistory> {
    return this.#past.configHistory(request, options);
  }

  async configVersion(version: string): Promise<ConfigVersion> {
    return this.#past.configVersion(version);
  }

  get #past(): NodePast {
    if (this.#deps.past) return this.#deps.past;
    throw new PortholeError('NOT_SUPPORTED', 'this node keeps no events: events.max-size is 0');
  }
}

function isSameNode(one: NodeObject, other: NodeObject): boolean {
  const keys = Object.keys(other) as (keyof NodeObject)[];
  return keys.length === Object.keys(one).length && keys.every((key) => one[key] === other[key]);
}
