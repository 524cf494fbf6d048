import type { ClusterEnd } from '@porthole/contract';
import {
  type AnswerFacts,
  type AroundRequest,
  type AskedRange,
  type CallOptions,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterConfigHistory,
  type ClusterDigest,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterNodes,
  type ClusterState,
  type ClusterTop,
  type ConfigDiffRequest,
  type ConfigHistoryRequest,
  type FollowOptions,
  type ForgetOptions,
  type ForgottenMember,
  type HeldSnapshot,
  isSelected,
  type MemberSelection,
  type NodeState,
  PortholeError,
  type SearchOptions,
  withCoverage,
} from '@porthole/contract';
import type {
  DigestQuery,
  FieldsQuery,
  FollowQuery,
  HistogramQuery,
  SearchQuery,
  TopQuery,
} from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import { clusterConfigHistory, clusterEvents, followClusterEvents } from './cluster-events.ts';
import type { Membership } from './membership/membership.ts';
import type { WebhookSenders } from './membership/webhook-senders.ts';
import { type ClusterParts, type LocalClusterOptions, openClusterParts } from './open-cluster.ts';
import { followCluster } from './records/follow/cluster-follow.ts';
import { searchAround } from './records/search/around.ts';
import type { ClusterDeps } from './records/search/cluster-deps.ts';
import { searchCluster } from './records/search/cluster-search.ts';
import { CursorKeeper } from './records/search/cursor-keeper.ts';
import { inParallel } from './requests/bounded-calls.ts';
import type { SettingsDeps } from './settings/fetch-settings.ts';
import { clusterConfig, configDiff } from './state/cluster-config.ts';
import { clusterFiles } from './state/cluster-files.ts';
import { clusterNodes, forgetMember, type NodesDeps } from './state/cluster-nodes.ts';
import { clusterDigest } from './state/counts/cluster-digest.ts';
import { clusterFields } from './state/counts/cluster-fields.ts';
import { clusterHistogram } from './state/counts/cluster-histogram.ts';
import { clusterTop } from './state/counts/cluster-top.ts';
import { type ClusterGauges, clusterGauges } from './state/member-gauges.ts';
import { LazySnapshotNode, SnapshotNode } from './state/snapshots/snapshot-node.ts';

/** Snapshots of departed members that are fetched from others at the same time. */
const FETCHED_AT_ONCE = 16;

/** The cluster as this node sees it. */
export class LocalCluster implements ClusterState {
  readonly #membership: Membership;
  readonly #deps: ClusterParts;
  readonly #refreshMs: number;
  readonly #records: ClusterDeps;
  readonly #state: NodesDeps & SettingsDeps;

  private constructor(options: LocalClusterOptions, deps: ClusterParts) {
    const { name, membership, limits, fingerprint } = options;
    const { directory, peers, clocks, masking, mask, states } = deps;
    this.#membership = membership;
    this.#deps = deps;
    this.#refreshMs = options.refreshMs;
    const cursors = new CursorKeeper(options.selfId);
    this.#records = { peers, clocks, membership: directory, directory, limits, cursors };
    this.#state = {
      cluster: name,
      membership,
      peers,
      clocks,
      directory,
      states,
      mask,
      fingerprint,
      readSettings: (config) => masking.readSettings(config),
      timeoutMs: limits.memberTimeoutMs,
      maxParallel: limits.maxParallel,
      nowMs: () => Date.now(),
    };
  }

  /** Starts background work for the other members, if any. */
  static async open(options: LocalClusterOptions): Promise<LocalCluster> {
    return new LocalCluster(options, await openClusterParts(options));
  }

  get membership(): Membership {
    return this.#membership;
  }

  /** What is known of members without contacting them, for metrics. */
  get gauges(): ClusterGauges {
    return {
      ...clusterGauges({ ...this.#deps, membership: this.#membership, refreshMs: this.#refreshMs }),
      drift: this.#deps.drift.count,
      silentMembers: this.#deps.peers.silent.count,
      keptCursors: this.#records.cursors.usage,
    };
  }

  /** Why snapshots are in memory only; `null` if there is no problem. */
  get snapshotProblem(): string | null {
    return this.#deps.snapshots.problem;
  }

  /** Deregisters and stops background work. */
  async close(): Promise<void> {
    const { clocks, directory, collector, states, peers, watch, cleaning } = this.#deps;
    clocks.close();
    directory.close();
    await Promise.all([this.#membership.close(), collector.close(), states?.close(), watch.close(), cleaning]);
    await peers.close();
  }

  /** Which node sends events about members to webhooks. */
  get senders(): WebhookSenders {
    return this.#deps.senders;
  }

  member(id: string): NodeState {
    const { directory, peers, held } = this.#deps;
    const departed = directory.departed().find(({ member }) => member.id === id);
    if (!departed) return peers.get(id).state;
    const { matchRegex } = peers;
    const isAlone = true;
    if (!held.isElsewhere(id)) return new SnapshotNode(departed, matchRegex, { isAlone });
    return new LazySnapshotNode(
      async (options) => new SnapshotNode((await held.find(id, options)) ?? departed, matchRegex, { isAlone }),
    );
  }

  forget(id: string, options?: ForgetOptions): Promise<ForgottenMember> {
    return forgetMember(this.#state, this.#deps.directory, { id, ...options });
  }

  async heldSnapshot(id: string): Promise<HeldSnapshot> {
    const snapshot = this.#deps.held.lend(id);
    if (snapshot) return snapshot;
    throw new PortholeError('MEMBER_NOT_FOUND', `this node has no snapshot of ${JSON.stringify(id)}`);
  }

  nodes(options?: CallOptions): Promise<ClusterNodes> {
    return clusterNodes(this.#state, options);
  }

  async config(request: MemberSelection, options?: CallOptions): Promise<ClusterConfig> {
    await this.#fetchSnapshots(request, options);
    await this.#deps.roleDiscovery.run(options);
    return clusterConfig(this.#state, request, options);
  }

  async configDiff(request: ConfigDiffRequest, options?: CallOptions): Promise<ClusterConfigDiff> {
    await this.#fetchSnapshots(request, options);
    await this.#deps.roleDiscovery.run(options);
    return this.#covered(await configDiff(this.#state, request, options));
  }

  async logFiles(request: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles> {
    await this.#discoverRoles(request, options);
    return this.#covered(await clusterFiles(this.#state, request, options));
  }

  async *search(
    request: SearchQuery & MemberSelection,
    options?: SearchOptions,
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    await this.#discoverRoles(request, options);
    yield* searchCluster(this.#records, request, options);
  }

  async *followLogs(
    request: FollowQuery & MemberSelection,
    options?: FollowOptions,
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    await this.#discoverRoles(request, options);
    yield* followCluster(this.#records, request, options);
  }

  async logHistogram(request: HistogramQuery & MemberSelection, options?: SearchOptions): Promise<ClusterHistogram> {
    await this.#discoverRoles(request, options);
    return this.#covered(await clusterHistogram(this.#state, request, options), request);
  }

  async logDigest(request: DigestQuery & MemberSelection, options?: SearchOptions): Promise<ClusterDigest> {
    await this.#discoverRoles(request, options);
    return this.#covered(await clusterDigest(this.#state, request, options), request);
  }

  async logFields(request: FieldsQuery & MemberSelection, options?: SearchOptions): Promise<ClusterFields> {
    await this.#discoverRoles(request, options);
    return this.#covered(await clusterFields(this.#state, request, options), request);
  }

  async logTop(request: TopQuery & MemberSelection, options?: SearchOptions): Promise<ClusterTop> {
    await this.#discoverRoles(request, options);
    return this.#covered(await clusterTop(this.#state, request, options), request);
  }

  async *events(
    request: SearchQuery & MemberSelection,
    options?: SearchOptions,
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    await this.#discoverRoles(request, options);
    yield* clusterEvents(this.#records, request, options);
  }

  async *followEvents(
    request: FollowQuery & MemberSelection,
    options?: FollowOptions,
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    await this.#discoverRoles(request, options);
    yield* followClusterEvents(this.#records, request, options);
  }

  async configHistory(
    request: ConfigHistoryRequest & MemberSelection,
    options?: CallOptions,
  ): Promise<ClusterConfigHistory> {
    await this.#discoverRoles(request, options);
    return clusterConfigHistory(this.#state, request, options);
  }

  async *around(request: AroundRequest, options?: CallOptions): AsyncGenerator<ClusterItem[], void, undefined> {
    await this.#discoverRoles(request, options);
    yield* searchAround(this.#records, request, options);
  }

  #covered<T extends AnswerFacts>(answer: T, asked: AskedRange = {}): T {
    return withCoverage(answer, asked, this.#membership.state);
  }

  /** Fetches the snapshots of departed members that others keep. */
  async #fetchSnapshots(selection: MemberSelection, options: CallOptions = {}): Promise<void> {
    const { directory, held, keepers } = this.#deps;
    if (keepers.keepsAll) return;
    const missing = directory
      .departed()
      .filter(({ member }) => isSelected(member, selection) && held.isElsewhere(member.id));
    await inParallel(missing, FETCHED_AT_ONCE, ({ member }) => held.find(member.id, options));
  }

  /** Roles are needed only if members are selected by role. */
  async #discoverRoles(request: MemberSelection, options?: CallOptions): Promise<void> {
    await this.#fetchSnapshots(request, options);
    const { role, labels } = request;
    if (role !== undefined || labels !== undefined) await this.#deps.roleDiscovery.run(options);
  }
}
