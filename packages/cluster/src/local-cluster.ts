import type {
  AroundRequest,
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
  ForgetOptions,
  ForgottenMember,
  MemberSelection,
  NodeDescription,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type { Scrubbing, Zone } from '@porthole/logs';
import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import { MemberMasking } from './contract-only/member-masking.ts';
import { removeStaleTails } from './contract-only/tails-dir.ts';
import { ClockTable } from './fan-out/clock.ts';
import type { MemberAccessOptions } from './fan-out/member-access.ts';
import { type ClosablePeers, createPeers } from './fan-out/peers.ts';
import { RoleDiscovery } from './fan-out/role-discovery.ts';
import { MemberDirectory } from './membership/member-directory.ts';
import type { Membership } from './membership/membership.ts';
import type { ClusterDeps, ClusterLimits } from './records/cluster-deps.ts';
import { followCluster } from './records/follow/cluster-follow.ts';
import { searchAround } from './records/search/around.ts';
import { searchCluster } from './records/search/cluster-search.ts';
import { clusterFiles } from './state/cluster-files.ts';
import { clusterNodes, type NodesDeps } from './state/cluster-nodes.ts';
import { clusterDigest } from './state/counts/cluster-digest.ts';
import { clusterHistogram } from './state/counts/cluster-histogram.ts';
import { forgetMember } from './state/forget-member.ts';
import { clusterConfig } from './state/settings/cluster-config.ts';
import { configDiff } from './state/settings/config-diff.ts';
import type { SettingsDeps } from './state/settings/fetch-settings.ts';
import { type Masked, rememberMasked } from './state/settings/remember-masked.ts';
import type { SecretFingerprint } from './state/settings/secret-fingerprint.ts';
import { SnapshotCache } from './state/snapshots/snapshot-cache.ts';
import { SnapshotCollector } from './state/snapshots/snapshot-collector.ts';
import { SnapshotNode } from './state/snapshots/snapshot-node.ts';
import { createSnapshotStore } from './state/snapshots/snapshot-store.ts';

export interface LocalClusterOptions {
  /** Name of the cluster. */
  name: string;
  /** Started already; closed with the cluster. */
  membership: Membership;
  self: NodeState;
  selfId: string;
  /** Which members are contacted, and with what credentials. */
  access: MemberAccessOptions;
  /** In which members that do not say theirs write their times. */
  zone: Zone;
  limits: ClusterLimits;
  /** How often clocks are measured and members are listened to. */
  refreshMs: number;
  snapshots: { dir: string; maxBytes: number; keepMs: number };
  fingerprint: SecretFingerprint | undefined;
  /** The text with its secrets masked; `undefined` where that cannot be done. */
  mask(configText: string): Masked;
  /** Of another member; a larger one is refused before it is masked. */
  maxConfigBytes?: number;
  /** Values in a configuration that are secret, to be masked in the logs of its member. Throws for what is not TOML. */
  findSecrets(configText: string): readonly string[] | Promise<readonly string[]>;
  /** What this node masks in the text of logs. */
  scrubbing: Scrubbing;
  /** What an operator should know, in words for the log. */
  report(problem: string): void;
}

/** Marks of members that departed are kept even where snapshots are not: some hundred bytes each. */
const MIN_SNAPSHOT_BYTES = 1024 * 1024;

interface LocalClusterDeps {
  snapshots: SnapshotCache;
  directory: MemberDirectory;
  peers: ClosablePeers;
  clocks: ClockTable;
  collector: SnapshotCollector;
  roleDiscovery: RoleDiscovery;
  masking: MemberMasking;
  /** What processes that were killed have left is being removed. */
  cleaning: Promise<void>;
}

/** The cluster as this node sees it. */
export class LocalCluster implements ClusterState {
  readonly #membership: Membership;
  readonly #deps: LocalClusterDeps;
  readonly #records: ClusterDeps;
  readonly #state: NodesDeps & SettingsDeps;

  private constructor(options: LocalClusterOptions, deps: LocalClusterDeps) {
    const { name, membership, limits, mask, fingerprint } = options;
    const { directory, peers, clocks, masking } = deps;
    this.#membership = membership;
    this.#deps = deps;
    this.#records = { peers, clocks, membership: directory, directory, limits };
    this.#state = {
      cluster: name,
      membership,
      peers,
      clocks,
      directory,
      mask,
      fingerprint,
      readSettings: (config) => masking.readSettings(config),
      timeoutMs: limits.memberTimeoutMs,
      maxParallel: limits.maxParallel,
      nowMs: () => Date.now(),
    };
  }

  /** Begins to measure clocks and to take snapshots of the other members, if there are any. */
  static async open(options: LocalClusterOptions): Promise<LocalCluster> {
    const { membership, self, selfId, access, zone, limits, refreshMs, report } = options;
    const mask = rememberMasked(options.mask);
    const { memberTimeoutMs: timeoutMs } = limits;
    const { dir, maxBytes, keepMs } = options.snapshots;
    const isAlone = membership.state.kind === 'alone';
    const snapshots = new SnapshotCache({
      // A node that is alone has no other members, and leaves no empty directory behind.
      store: isAlone || maxBytes === 0 ? null : createSnapshotStore(dir),
      report: report,
      maxTotalBytes: Math.max(maxBytes, MIN_SNAPSHOT_BYTES),
      maxAgeMs: keepMs,
    });
    await snapshots.load();
    const directory = new MemberDirectory({ membership, snapshots: snapshots });
    const { fingerprint, findSecrets, scrubbing, maxConfigBytes } = options;
    const masking = new MemberMasking({ mask, fingerprint, findSecrets: findSecrets, scrubbing, maxConfigBytes });
    const peers = createPeers({ membership: directory, self, selfId, access, masking, zone, timeoutMs });
    const onDescription = (id: string, description: NodeDescription) => directory.learn(id, description);
    const clocks = new ClockTable({ peers, selfId, timeoutMs, onDescription });
    const collector = new SnapshotCollector({
      snapshots: snapshots,
      peers,
      clocks,
      mask,
      listenMs: refreshMs,
      timeoutMs,
    });
    const roleDiscovery = new RoleDiscovery({ peers, clocks, directory, timeoutMs, againMs: refreshMs });
    const cleaning = isAlone ? Promise.resolve() : cleanUp(report);
    if (!isAlone) {
      clocks.start(refreshMs, directory);
      if (maxBytes > 0) collector.start();
    }
    return new LocalCluster(
      { ...options, mask },
      {
        snapshots: snapshots,
        directory,
        peers,
        clocks,
        collector: collector,
        roleDiscovery: roleDiscovery,
        masking,
        cleaning,
      },
    );
  }

  get membership(): Membership {
    return this.#membership;
  }

  /** Why snapshots are kept in memory only; `null` while all is well. */
  get snapshotProblem(): string | null {
    return this.#deps.snapshots.problem;
  }

  /** Deregisters and ends what runs in the background. */
  async close(): Promise<void> {
    const { clocks, directory, collector: lastWords, peers, cleaning } = this.#deps;
    clocks.close();
    directory.close();
    await Promise.all([this.#membership.close(), lastWords.close(), cleaning]);
    await peers.close();
  }

  member(id: string): NodeState {
    const { directory, peers } = this.#deps;
    const departed = directory.departed().find(({ member }) => member.id === id);
    return departed ? new SnapshotNode(departed, peers.matchRegex) : peers.get(id).state;
  }

  forget(id: string, options?: ForgetOptions): Promise<ForgottenMember> {
    return forgetMember(this.#state, this.#deps.directory, { id, ...options });
  }

  nodes(options?: CallOptions): Promise<ClusterNodes> {
    return clusterNodes(this.#state, options);
  }

  async config(request: MemberSelection, options?: CallOptions): Promise<ClusterConfig> {
    await this.#deps.roleDiscovery.run(options);
    return clusterConfig(this.#state, request, options);
  }

  async configDiff(request: MemberSelection, options?: CallOptions): Promise<ClusterConfigDiff> {
    await this.#deps.roleDiscovery.run(options);
    return configDiff(this.#state, request, options);
  }

  async logFiles(request: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles> {
    await this.#discoverRoles(request, options);
    return clusterFiles(this.#state, request, options);
  }

  async *searchLogs(
    request: SearchQuery & MemberSelection,
    options?: SearchOptions,
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    await this.#discoverRoles(request, options);
    yield* searchCluster(this.#records, request, options);
  }

  async *followLogs(
    request: FollowQuery & MemberSelection,
    options?: CallOptions,
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    await this.#discoverRoles(request, options);
    yield* followCluster(this.#records, request, options);
  }

  async logHistogram(request: HistogramQuery & MemberSelection, options?: SearchOptions): Promise<ClusterHistogram> {
    await this.#discoverRoles(request, options);
    return clusterHistogram(this.#state, request, options);
  }

  async logDigest(request: DigestQuery & MemberSelection, options?: SearchOptions): Promise<ClusterDigest> {
    await this.#discoverRoles(request, options);
    return clusterDigest(this.#state, request, options);
  }

  async *around(request: AroundRequest, options?: CallOptions): AsyncGenerator<ClusterItem[], void, undefined> {
    await this.#discoverRoles(request, options);
    yield* searchAround(this.#records, request, options);
  }

  /** Roles count only where members are chosen by them. */
  async #discoverRoles({ role }: MemberSelection, options?: CallOptions): Promise<void> {
    if (role !== undefined) await this.#deps.roleDiscovery.run(options);
  }
}

async function cleanUp(report: LocalClusterOptions['report']): Promise<void> {
  try {
    await removeStaleTails();
  } catch (error) {
    report(`copies of logs that an earlier process left are not removed: ${(error as NodeJS.ErrnoException).code}`);
  }
}
