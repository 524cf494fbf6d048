import type {
  CallOptions,
  ClusterConfig,
  ClusterConfigDiff,
  ClusterDigest,
  ClusterFollowItem,
  ClusterHistogram,
  ClusterItem,
  ClusterLogFiles,
  ClusterNodes,
  ClusterState,
  MemberSelection,
  MomentRequest,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import { ClockTable } from './fan-out/clock.ts';
import { type ClosablePeers, createPeers } from './fan-out/peers.ts';
import type { Membership } from './membership/membership.ts';
import { followCluster } from './records/cluster-follow.ts';
import type { ClusterLimits, ClusterParts } from './records/cluster-parts.ts';
import { searchCluster } from './records/cluster-search.ts';
import { momentOf } from './records/moment.ts';
import { clusterConfig } from './state/cluster-config.ts';
import { clusterDigest } from './state/cluster-digest.ts';
import { clusterFiles } from './state/cluster-files.ts';
import { clusterHistogram } from './state/cluster-histogram.ts';
import { clusterNodes, type NodesParts } from './state/cluster-nodes.ts';
import { configDiff } from './state/config-diff.ts';
import { LastWords } from './state/last-words.ts';
import { rememberMasked } from './state/remember-masked.ts';
import type { SecretFingerprint } from './state/secret-fingerprint.ts';
import { createWordsStore } from './state/words-store.ts';

export interface LocalClusterOptions {
  /** Name of the cluster. */
  name: string;
  /** Started already; closed with the cluster. */
  membership: Membership;
  self: NodeState;
  selfId: string;
  /** Shown to every other member. */
  token: string | undefined;
  fetch: typeof fetch | undefined;
  /** In which members that do not say theirs write their times. */
  zone: Zone;
  limits: ClusterLimits;
  /** How often clocks are measured and members are listened to. */
  refreshMs: number;
  lastWords: { dir: string; maxBytes: number; keepMs: number };
  fingerprint: SecretFingerprint | undefined;
  /** The text with its secrets masked; `undefined` where that cannot be done. */
  mask(configText: string): string | undefined;
  /** What an operator should know, in words for the log. */
  tell(problem: string): void;
}

/** The cluster as this node sees it. */
export class LocalCluster implements ClusterState {
  readonly #membership: Membership;
  readonly #peers: ClosablePeers;
  readonly #clocks: ClockTable;
  readonly #lastWords: LastWords;
  readonly #records: ClusterParts;
  readonly #state: NodesParts & { fingerprint: SecretFingerprint | undefined };

  private constructor(
    options: LocalClusterOptions,
    parts: { peers: ClosablePeers; clocks: ClockTable; lastWords: LastWords },
  ) {
    const { name, membership, limits, mask, fingerprint } = options;
    const { peers, clocks, lastWords } = parts;
    this.#membership = membership;
    this.#peers = peers;
    this.#clocks = clocks;
    this.#lastWords = lastWords;
    this.#records = { peers, clocks, membership, lastWords, limits };
    this.#state = {
      cluster: name,
      membership,
      peers,
      clocks,
      lastWords,
      mask,
      fingerprint,
      timeoutMs: limits.memberTimeoutMs,
      maxParallel: limits.maxParallel,
      nowMs: () => Date.now(),
    };
  }

  /** Begins to measure clocks and to listen to the other members, if there are any. */
  static async open(options: LocalClusterOptions): Promise<LocalCluster> {
    const { membership, self, selfId, token, fetch, zone, limits, refreshMs, tell } = options;
    const mask = rememberMasked(options.mask);
    const { memberTimeoutMs: timeoutMs } = limits;
    const peers = createPeers({ membership, self, selfId, token, fetch, zone, timeoutMs });
    const clocks = new ClockTable({ peers, selfId, timeoutMs });
    const { dir, maxBytes, keepMs } = options.lastWords;
    const isAlone = membership.state.kind === 'alone';
    const lastWords = await LastWords.open({
      peers,
      clocks,
      mask,
      tell,
      // A node that is alone has nobody to listen to, and leaves no empty directory behind.
      store: isAlone || maxBytes === 0 ? null : createWordsStore(dir),
      listenMs: refreshMs,
      timeoutMs,
      maxTotalBytes: maxBytes,
      maxAgeMs: keepMs,
    });
    if (!isAlone) {
      clocks.start(refreshMs);
      if (maxBytes > 0) lastWords.start();
    }
    return new LocalCluster({ ...options, mask }, { peers, clocks, lastWords });
  }

  get membership(): Membership {
    return this.#membership;
  }

  /** Why last words are kept in memory only; `null` while all is well. */
  get lastWordsProblem(): string | null {
    return this.#lastWords.problem;
  }

  /** Deregisters and ends what runs in the background. */
  async close(): Promise<void> {
    this.#clocks.close();
    await Promise.all([this.#membership.close(), this.#lastWords.close()]);
    await this.#peers.close();
  }

  member(id: string): NodeState {
    return this.#peers.get(id).state;
  }

  nodes(options?: CallOptions): Promise<ClusterNodes> {
    return clusterNodes(this.#state, options);
  }

  config(request: MemberSelection, options?: CallOptions): Promise<ClusterConfig> {
    return clusterConfig(this.#state, request, options);
  }

  configDiff(request: MemberSelection, options?: CallOptions): Promise<ClusterConfigDiff> {
    return configDiff(this.#state, request, options);
  }

  logFiles(request: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles> {
    return clusterFiles(this.#state, request, options);
  }

  searchLogs(request: SearchQuery & MemberSelection, options?: SearchOptions): AsyncIterable<ClusterItem[]> {
    return searchCluster(this.#records, request, options);
  }

  followLogs(request: FollowQuery & MemberSelection, options?: CallOptions): AsyncIterable<ClusterFollowItem[]> {
    return followCluster(this.#records, request, options);
  }

  logHistogram(request: HistogramQuery & MemberSelection, options?: SearchOptions): Promise<ClusterHistogram> {
    return clusterHistogram(this.#state, request, options);
  }

  logDigest(request: DigestQuery & MemberSelection, options?: SearchOptions): Promise<ClusterDigest> {
    return clusterDigest(this.#state, request, options);
  }

  moment(request: MomentRequest, options?: CallOptions): AsyncIterable<ClusterItem[]> {
    return momentOf(this.#records, request, options);
  }
}
