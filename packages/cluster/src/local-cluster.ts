import type { ClusterEnd } from '@porthole/contract';
import {
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
  isSelected,
  type Member,
  type MemberSelection,
  type NodeState,
  PortholeError,
  type RecordingHead,
  type ResponseFacts,
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
import type { KnownMembers } from './state/query-members.ts';

/** Departed members whose recordings are looked for at the same time. */
const FOUND_AT_ONCE = 16;

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
    const known = knownMembers(deps, options);
    this.#records = { peers, clocks, membership: directory, directory: known, limits, cursors };
    this.#state = {
      cluster: name,
      membership,
      peers,
      clocks,
      directory: known,
      states,
      mask,
      fingerprint,
      readSettings: (config) => masking.readSettings(config),
      timeoutMs: limits.memberTimeoutMs,
      maxParallel: limits.maxParallel,
      nowMs: () => Date.now(), // clock: time ranges of questions
    };
  }

  /** Starts background work for the other members, if any. */
  static async open(options: LocalClusterOptions): Promise<LocalCluster> {
    return new LocalCluster(options, await openClusterParts(options));
  }

  get membership(): Membership {
    return this.#membership;
  }

  /** The registered members, and those that were. */
  get everKnown(): readonly Member[] {
    const known = [...this.#deps.profiles.all().map(({ member }) => member), ...this.#membership.members];
    return [...new Map(known.map((member) => [member.id, member])).values()];
  }

  /** Why members are not recorded; `null` if they are. */
  get recorderProblem(): string | null {
    return this.#deps.recorder.problem;
  }

  /** What is known of members without contacting them, for metrics. */
  get gauges(): ClusterGauges {
    return {
      ...clusterGauges({ ...this.#deps, membership: this.#membership, refreshMs: this.#refreshMs }),
      drift: this.#deps.drift.count,
      silentMembers: this.#deps.peers.silent.count,
      // clock: time ranges of questions
      recorded: this.#deps.recordings.usage().map(({ asOfMs, ...usage }) => ({ ...usage, ageMs: Date.now() - asOfMs })),
      keptCursors: this.#records.cursors.usage,
    };
  }

  /** Deregisters and stops background work. */
  async close(): Promise<void> {
    const { clocks, directory, collector, recorder, recordings, states, peers, watch } = this.#deps;
    clocks.close();
    directory.close();
    await Promise.all([this.#membership.close(), collector.close(), recorder.close()]);
    await Promise.all([states?.close(), watch.close()]);
    await peers.close();
    await recordings.close();
  }

  /** Which node sends events about members to webhooks. */
  get senders(): WebhookSenders {
    return this.#deps.senders;
  }

  member(id: string): NodeState {
    const { directory, peers } = this.#deps;
    const isDeparted = directory.departed().some(({ member }) => member.id === id);
    return isDeparted ? this.recordedMember(id) : peers.get(id).state;
  }

  recordedMember(id: string, options?: { onlyHere?: boolean }): NodeState {
    return this.#deps.recordings.member(id, options);
  }

  forget(id: string, options?: ForgetOptions): Promise<ForgottenMember> {
    return forgetMember(this.#state, this.#deps.directory, { id, ...options });
  }

  async recordingHead(id: string): Promise<RecordingHead> {
    const head = this.#deps.recordings.head(id);
    if (head) return head;
    throw new PortholeError('MEMBER_NOT_FOUND', `this node has recorded nothing of ${JSON.stringify(id)}`);
  }

  async nodes(options?: CallOptions): Promise<ClusterNodes> {
    await this.#findRecorded({}, options);
    return clusterNodes(this.#state, options);
  }

  async config(request: MemberSelection, options?: CallOptions): Promise<ClusterConfig> {
    await this.#findRecorded(request, options);
    await this.#deps.roleDiscovery.run(options);
    return clusterConfig(this.#state, request, options);
  }

  async configDiff(request: ConfigDiffRequest, options?: CallOptions): Promise<ClusterConfigDiff> {
    await this.#findRecorded(request, options);
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

  #covered<T extends ResponseFacts>(response: T, asked: AskedRange = {}): T {
    return withCoverage(response, asked, this.#membership.state);
  }

  /** Looks for the freshest recordings of departed members. */
  async #findRecorded(selection: MemberSelection, options: CallOptions = {}): Promise<void> {
    const { directory, recordings } = this.#deps;
    const departed = directory.departed().filter(({ member }) => isSelected(member, selection));
    await inParallel(departed, FOUND_AT_ONCE, ({ member }) => recordings.find(member.id, options));
  }

  /** Roles are needed only if members are selected by role. */
  async #discoverRoles(request: MemberSelection, options?: CallOptions): Promise<void> {
    await this.#findRecorded(request, options);
    const { role, labels } = request;
    if (role !== undefined || labels !== undefined) await this.#deps.roleDiscovery.run(options);
  }
}

function knownMembers({ directory, recordings }: ClusterParts, { recorder }: LocalClusterOptions): KnownMembers {
  return {
    of: (id) => directory.of(id),
    standingOf: (id, outcome) => directory.standingOf(id, outcome),
    departed: () => directory.departed().flatMap(({ member }) => recordings.known(member.id) ?? []),
    has: (id) => recorder.count > 0 || directory.of(id) !== undefined,
    find: (id) => recordings.find(id),
  };
}
