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
  ForgetOptions,
  ForgottenMember,
  MemberSelection,
  MomentRequest,
  NodeDescription,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type { Scrubbing, Zone } from '@porthole/logs';
import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import { MemberMasking } from './contract-only/member-masking.ts';
import { removeStaleTails } from './contract-only/tails-dir.ts';
import { ClockTable } from './fan-out/clock.ts';
import { Introductions } from './fan-out/introductions.ts';
import type { MemberAccessOptions } from './fan-out/member-access.ts';
import { type ClosablePeers, createPeers } from './fan-out/peers.ts';
import { MemberDirectory } from './membership/member-directory.ts';
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
import { forgetMember } from './state/forget-member.ts';
import { KeptWords } from './state/kept-words.ts';
import { LastWords } from './state/last-words.ts';
import { type Masked, rememberMasked } from './state/remember-masked.ts';
import type { SecretFingerprint } from './state/secret-fingerprint.ts';
import { SnapshotNode } from './state/snapshot-node.ts';
import type { SettingsParts } from './state/told-settings.ts';
import { createWordsStore } from './state/words-store.ts';

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
  lastWords: { dir: string; maxBytes: number; keepMs: number };
  fingerprint: SecretFingerprint | undefined;
  /** The text with its secrets masked; `undefined` where that cannot be done. */
  mask(configText: string): Masked;
  /** Of another member; a larger one is refused before it is masked. */
  maxConfigBytes?: number;
  /** Values in a configuration that are secret, to be masked in the logs of its member. Throws for what is not TOML. */
  secretsOf(configText: string): readonly string[] | Promise<readonly string[]>;
  /** What this node masks in the text of logs. */
  scrubbing: Scrubbing;
  /** What an operator should know, in words for the log. */
  tell(problem: string): void;
}

/** Marks of members that departed are kept even where snapshots are not: some hundred bytes each. */
const LEAST_KEPT_BYTES = 1024 * 1024;

interface ClusterDeps {
  kept: KeptWords;
  directory: MemberDirectory;
  peers: ClosablePeers;
  clocks: ClockTable;
  lastWords: LastWords;
  introductions: Introductions;
  masking: MemberMasking;
  /** What processes that were killed have left is being removed. */
  cleaning: Promise<void>;
}

/** The cluster as this node sees it. */
export class LocalCluster implements ClusterState {
  readonly #membership: Membership;
  readonly #deps: ClusterDeps;
  readonly #records: ClusterParts;
  readonly #state: NodesParts & SettingsParts;

  private constructor(options: LocalClusterOptions, deps: ClusterDeps) {
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
      settingsOf: (config) => masking.settingsOf(config),
      timeoutMs: limits.memberTimeoutMs,
      maxParallel: limits.maxParallel,
      nowMs: () => Date.now(),
    };
  }

  /** Begins to measure clocks and to take snapshots of the other members, if there are any. */
  static async open(options: LocalClusterOptions): Promise<LocalCluster> {
    const { membership, self, selfId, access, zone, limits, refreshMs, tell } = options;
    const mask = rememberMasked(options.mask);
    const { memberTimeoutMs: timeoutMs } = limits;
    const { dir, maxBytes, keepMs } = options.lastWords;
    const isAlone = membership.state.kind === 'alone';
    const kept = new KeptWords({
      // A node that is alone has no other members, and leaves no empty directory behind.
      store: isAlone || maxBytes === 0 ? null : createWordsStore(dir),
      tell,
      maxTotalBytes: Math.max(maxBytes, LEAST_KEPT_BYTES),
      maxAgeMs: keepMs,
    });
    await kept.load();
    const directory = new MemberDirectory({ membership, kept });
    const { fingerprint, secretsOf, scrubbing, maxConfigBytes } = options;
    const masking = new MemberMasking({ mask, fingerprint, secretsOf, scrubbing, maxConfigBytes });
    const peers = createPeers({ membership: directory, self, selfId, access, masking, zone, timeoutMs });
    const onDescription = (id: string, description: NodeDescription) => directory.learn(id, description);
    const clocks = new ClockTable({ peers, selfId, timeoutMs, onDescription });
    const lastWords = new LastWords({ kept, peers, clocks, mask, listenMs: refreshMs, timeoutMs });
    const introductions = new Introductions({ peers, clocks, directory, timeoutMs, againMs: refreshMs });
    const cleaning = isAlone ? Promise.resolve() : cleanUp(tell);
    if (!isAlone) {
      clocks.start(refreshMs, directory);
      if (maxBytes > 0) lastWords.start();
    }
    return new LocalCluster(
      { ...options, mask },
      {
        kept,
        directory,
        peers,
        clocks,
        lastWords,
        introductions,
        masking,
        cleaning,
      },
    );
  }

  get membership(): Membership {
    return this.#membership;
  }

  /** Why snapshots are kept in memory only; `null` while all is well. */
  get lastWordsProblem(): string | null {
    return this.#deps.kept.problem;
  }

  /** Deregisters and ends what runs in the background. */
  async close(): Promise<void> {
    const { clocks, directory, lastWords, peers, cleaning } = this.#deps;
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
    await this.#deps.introductions.make(options);
    return clusterConfig(this.#state, request, options);
  }

  async configDiff(request: MemberSelection, options?: CallOptions): Promise<ClusterConfigDiff> {
    await this.#deps.introductions.make(options);
    return configDiff(this.#state, request, options);
  }

  async logFiles(request: MemberSelection, options?: CallOptions): Promise<ClusterLogFiles> {
    await this.#introduceFor(request, options);
    return clusterFiles(this.#state, request, options);
  }

  async *searchLogs(
    request: SearchQuery & MemberSelection,
    options?: SearchOptions,
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    await this.#introduceFor(request, options);
    yield* searchCluster(this.#records, request, options);
  }

  async *followLogs(
    request: FollowQuery & MemberSelection,
    options?: CallOptions,
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    await this.#introduceFor(request, options);
    yield* followCluster(this.#records, request, options);
  }

  async logHistogram(request: HistogramQuery & MemberSelection, options?: SearchOptions): Promise<ClusterHistogram> {
    await this.#introduceFor(request, options);
    return clusterHistogram(this.#state, request, options);
  }

  async logDigest(request: DigestQuery & MemberSelection, options?: SearchOptions): Promise<ClusterDigest> {
    await this.#introduceFor(request, options);
    return clusterDigest(this.#state, request, options);
  }

  async *moment(request: MomentRequest, options?: CallOptions): AsyncGenerator<ClusterItem[], void, undefined> {
    await this.#introduceFor(request, options);
    yield* momentOf(this.#records, request, options);
  }

  /** Roles count only where members are chosen by them. */
  async #introduceFor({ role }: MemberSelection, options?: CallOptions): Promise<void> {
    if (role !== undefined) await this.#deps.introductions.make(options);
  }
}

async function cleanUp(tell: LocalClusterOptions['tell']): Promise<void> {
  try {
    await removeStaleTails();
  } catch (error) {
    tell(`copies of logs that an earlier process left are not removed: ${(error as NodeJS.ErrnoException).code}`);
  }
}
