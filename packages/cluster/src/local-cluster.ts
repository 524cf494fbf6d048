import type {
  AroundRequest,
  CallOptions,
  ClusterConfig,
  ClusterConfigDiff,
  ClusterDigest,
  ClusterFields,
  ClusterFollowItem,
  ClusterHistogram,
  ClusterItem,
  ClusterLogFiles,
  ClusterNodes,
  ClusterState,
  ClusterTop,
  ForgetOptions,
  ForgottenMember,
  GroupCall,
  MemberSelection,
  NodeDescription,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type { Scrubbing, UserFormat, Zone } from '@porthole/logs';
import type {
  DigestQuery,
  FieldsQuery,
  FollowQuery,
  HistogramQuery,
  SearchQuery,
  TopQuery,
} from '@porthole/logs/types';
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
import { searchCluster, searchClusterLines } from './records/search/cluster-search.ts';
import { clusterFiles } from './state/cluster-files.ts';
import { clusterNodes, forgetMember, type NodesDeps } from './state/cluster-nodes.ts';
import { clusterDigest } from './state/counts/cluster-digest.ts';
import { clusterFields } from './state/counts/cluster-fields.ts';
import { clusterHistogram } from './state/counts/cluster-histogram.ts';
import { clusterTop } from './state/counts/cluster-top.ts';
import { clusterConfig } from './state/settings/cluster-config.ts';
import { configDiff } from './state/settings/config-diff.ts';
import type { SettingsDeps } from './state/settings/fetch-settings.ts';
import { type Masked, rememberMasked } from './state/settings/remember-masked.ts';
import type { SecretFingerprint } from './state/settings/secret-fingerprint.ts';
import { SnapshotCache } from './state/snapshots/snapshot-cache.ts';
import { SnapshotCollector } from './state/snapshots/snapshot-collector.ts';
import { SnapshotNode } from './state/snapshots/snapshot-node.ts';
import { createSnapshotStore } from './state/snapshots/snapshot-store.ts';
import { answerGroup } from './tree/answer-group.ts';
import type { TreeOptions } from './tree/plan-groups.ts';
import { createTree } from './tree/tree.ts';

export interface LocalClusterOptions {
  /** Name of the cluster. */
  name: string;
  /** Already started; closed with the cluster. */
  membership: Membership;
  self: NodeState;
  selfId: string;
  /** Decides which members are contacted and with which credentials. */
  access: MemberAccessOptions;
  /** Time zone of members that do not report theirs. */
  zone: Zone;
  /** Formats of their logs, tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
  limits: ClusterLimits;
  /** When questions go through helpers; default: never. */
  tree?: TreeOptions | undefined;
  /** Interval of clock measurements and snapshots. */
  refreshMs: number;
  snapshots: { dir: string; maxBytes: number; keepMs: number };
  fingerprint: SecretFingerprint | undefined;
  /** Masks the secrets of a configuration; `undefined` if that is not possible. */
  mask(configText: string): Masked;
  /** Maximum size of the configuration of a member. */
  maxConfigBytes?: number;
  /** The secret values in a configuration, to mask them in the logs of its member. Throws if it is not TOML. */
  findSecrets(configText: string): readonly string[] | Promise<readonly string[]>;
  /** The log masking of this node. */
  scrubbing: Scrubbing;
  /** Reports problems to the own log. */
  report(problem: string): void;
}

/** Departures are stored even without snapshots: some hundred bytes each. */
const MIN_SNAPSHOT_BYTES = 1024 * 1024;

interface LocalClusterDeps {
  snapshots: SnapshotCache;
  directory: MemberDirectory;
  peers: ClosablePeers;
  clocks: ClockTable;
  collector: SnapshotCollector;
  roleDiscovery: RoleDiscovery;
  masking: MemberMasking;
  /** Settles when directories of killed processes were removed. */
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
      tree: createTree(options.tree, membership.state),
      nowMs: () => Date.now(),
    };
  }

  /** Starts measuring clocks and taking snapshots of the other members, if any. */
  static async open(options: LocalClusterOptions): Promise<LocalCluster> {
    const { membership, self, selfId, access, zone, formats, limits, refreshMs, report } = options;
    const mask = rememberMasked(options.mask);
    const { memberTimeoutMs: timeoutMs } = limits;
    const { dir, maxBytes, keepMs } = options.snapshots;
    const isAlone = membership.state.kind === 'alone';
    const snapshots = new SnapshotCache({
      // A node without a cluster must not leave an empty directory behind.
      store: isAlone || maxBytes === 0 ? null : createSnapshotStore(dir),
      report: report,
      maxTotalBytes: Math.max(maxBytes, MIN_SNAPSHOT_BYTES),
      maxAgeMs: keepMs,
    });
    await snapshots.load();
    const directory = new MemberDirectory({ membership, snapshots: snapshots });
    const { fingerprint, findSecrets, scrubbing, maxConfigBytes } = options;
    const masking = new MemberMasking({ mask, fingerprint, findSecrets: findSecrets, scrubbing, maxConfigBytes });
    const peers = createPeers({ membership: directory, self, selfId, access, masking, zone, formats, timeoutMs });
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
      { snapshots, directory, peers, clocks, collector, roleDiscovery, masking, cleaning },
    );
  }

  get membership(): Membership {
    return this.#membership;
  }

  /** Why snapshots are in memory only; `null` if there is no problem. */
  get snapshotProblem(): string | null {
    return this.#deps.snapshots.problem;
  }

  /** Deregisters and stops background work. */
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

  async *searchLogLines(
    request: SearchQuery & MemberSelection,
    options?: SearchOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    await this.#discoverRoles(request, options);
    yield* searchClusterLines(this.#records, request, options);
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

  async logFields(request: FieldsQuery & MemberSelection, options?: SearchOptions): Promise<ClusterFields> {
    await this.#discoverRoles(request, options);
    return clusterFields(this.#state, request, options);
  }

  async logTop(request: TopQuery & MemberSelection, options?: SearchOptions): Promise<ClusterTop> {
    await this.#discoverRoles(request, options);
    return clusterTop(this.#state, request, options);
  }

  async *around(request: AroundRequest, options?: CallOptions): AsyncGenerator<ClusterItem[], void, undefined> {
    await this.#discoverRoles(request, options);
    yield* searchAround(this.#records, request, options);
  }

  askGroup(call: GroupCall): AsyncIterable<Uint8Array> {
    return answerGroup({ peers: this.#deps.peers, maxParallel: this.#state.maxParallel }, call);
  }

  /** Roles are needed only if members are selected by role. */
  async #discoverRoles({ role }: MemberSelection, options?: CallOptions): Promise<void> {
    if (role !== undefined) await this.#deps.roleDiscovery.run(options);
  }
}

async function cleanUp(report: LocalClusterOptions['report']): Promise<void> {
  try {
    await removeStaleTails();
  } catch (error) {
    report(`cannot remove mirrored logs left by an earlier process: ${(error as NodeJS.ErrnoException).code}`);
  }
}
