import { type CallOptions, errorMessage, type NodeDescription, type NodeState } from '@porthole/contract';
import type { Scrubbing, UserFormat, Zone } from '@porthole/logs';
import { NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import { MemberMasking } from './contract-only/member-masking.ts';
import { removeStaleTails } from './contract-only/tails-dir.ts';
import { ClockTable } from './fan-out/clock.ts';
import { type MemberEvents, MemberWatch } from './fan-out/member-watch.ts';
import { type ClosablePeers, createPeers } from './fan-out/peers.ts';
import { RoleDiscovery } from './fan-out/role-discovery.ts';
import { isSilent, MemberDirectory } from './membership/member-directory.ts';
import type { Membership } from './membership/membership.ts';
import { SnapshotCache } from './membership/snapshots/snapshot-cache.ts';
import { createSnapshotStore } from './membership/snapshots/snapshot-store.ts';
import { CONTRACT_ROLE } from './membership/static-members.ts';
import { WebhookSenders } from './membership/webhook-senders.ts';
import type { ClusterLimits } from './records/search/cluster-deps.ts';
import { withDeadline } from './requests/bounded-calls.ts';
import type { MemberAccessOptions } from './requests/member-access.ts';
import { toOutcome } from './requests/member-failure.ts';
import { type Masked, rememberMasked, type SecretFingerprint } from './settings/secrets.ts';
import { ConfigDrift } from './state/config-drift.ts';
import { PublishedStates } from './state/published-states.ts';
import { HeldSnapshots } from './state/snapshots/held-snapshots.ts';
import { SnapshotCollector } from './state/snapshots/snapshot-collector.ts';
import { SnapshotKeepers } from './state/snapshots/snapshot-keepers.ts';

export interface LocalClusterOptions {
  /** Name of the cluster. */
  name: string;
  /** Already started; closed with the cluster. */
  membership: Membership;
  self: NodeState;
  selfId: string;
  /** Decides which members are contacted and with which credentials. */
  access: MemberAccessOptions;
  /** Time zone assumed of members that do not report theirs. */
  zone: Zone;
  /** The zone of such a member, by its id, if it is known. */
  zoneOf?: ((id: string) => Zone | undefined) | undefined;
  /** Formats of their logs, tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
  limits: ClusterLimits;
  /** Interval of clock measurements, samples of members and snapshots. */
  refreshMs: number;
  /** Up to this many members all are contacted for each list, and every node keeps the snapshots of all; default: 16. */
  directMembers?: number;
  snapshots: { dir: string; maxBytes: number; keepMs: number };
  fingerprint: SecretFingerprint | undefined;
  /** Masks the secrets of a configuration; `undefined` if that is not possible. */
  mask(configText: string): Masked;
  /** The text of a configuration in any format, with its secrets masked. */
  maskSource(text: string): Promise<string>;
  /** Maximum size of the configuration of a member. */
  maxConfigBytes?: number;
  /** The secret values in a configuration, to mask them in the logs of its member. Throws if it is not TOML. */
  findSecrets(configText: string): readonly string[] | Promise<readonly string[]>;
  /** The log masking of this node. */
  scrubbing: Scrubbing;
  /** Where events about members are written; absent: nowhere. */
  events?: MemberEvents | undefined;
  /** Names of the webhooks that this node sends events to. */
  webhooks?: readonly string[] | undefined;
  /** Reports problems to the own log. */
  report(problem: string): void;
}

/** Departures are stored even without snapshots: some hundred bytes each. */
const MIN_SNAPSHOT_BYTES = 1024 * 1024;

/** Contacting so many for each list of nodes is cheap, and as fresh as can be. */
const DIRECT_MEMBERS = 16;

/** Questions give a member up after different parts of its deadline; this is less than any of them. */
const MISSED_SHARE = 0.6;

export interface ClusterParts {
  snapshots: SnapshotCache;
  directory: MemberDirectory;
  peers: ClosablePeers;
  clocks: ClockTable;
  collector: SnapshotCollector;
  drift: ConfigDrift;
  keepers: SnapshotKeepers;
  /** Absent without a registry of nodes like this one. */
  states: PublishedStates | undefined;
  held: HeldSnapshots;
  /** Signs of life of the other members. */
  watch: MemberWatch;
  senders: WebhookSenders;
  roleDiscovery: RoleDiscovery;
  masking: MemberMasking;
  /** Masks the secrets of a configuration. */
  mask(configText: string): Masked;
  /** Settles when directories of killed processes were removed. */
  cleaning: Owned;
}

/** Creates the parts of a cluster, and starts their background work if there are other members. */
export async function openClusterParts(options: LocalClusterOptions): Promise<ClusterParts> {
  const { membership, self, selfId, access, zone, zoneOf, formats, limits, refreshMs, report } = options;
  const mask = rememberMasked(options.mask);
  const { memberTimeoutMs: timeoutMs } = limits;
  const isAlone = membership.state.kind === 'alone';
  const snapshots = await openSnapshots(options, { isAlone });
  const directory = new MemberDirectory({ membership, snapshots });
  const { maskSource, fingerprint, findSecrets, scrubbing, maxConfigBytes } = options;
  const masking = new MemberMasking({ mask, maskSource, fingerprint, findSecrets, scrubbing, maxConfigBytes });
  const missedAfterMs = Math.min(limits.firstBatchMs, timeoutMs) * MISSED_SHARE;
  const onContractOnly = (id: string) => directory.learn(id, { role: CONTRACT_ROLE, node: peers.get(id).member.node });
  const contacts = { access, masking, onContractOnly, zone, zoneOf, formats, timeoutMs, missedAfterMs };
  const { events, webhooks = [] } = options;
  const notifies = webhooks.length > 0;
  const watch = new MemberWatch({ membership, peers: () => peers, selfId, events, notifies, report });
  const isLost = (id: string) => watch.signs.lossOf(id) !== undefined;
  const senders = new WebhookSenders({ keys: membership.states, selfId, isLost });
  const peers = createPeers({ membership: directory, self, selfId, signs: watch.signs, ...contacts });
  directory.askWith((id) => respondsStill(peers, id, timeoutMs));
  const onDescription = (id: string, description: NodeDescription) => directory.learn(id, description);
  const clocks = new ClockTable({ peers, selfId, timeoutMs, onDescription, report });
  const collector = new SnapshotCollector({
    snapshots,
    peers,
    clocks,
    mask,
    keeps: (id) => keepers.keeps(id),
    onCollected: (callOptions) => drift.update(callOptions),
    report,
    listenMs: refreshMs,
    timeoutMs,
  });
  const { directMembers = DIRECT_MEMBERS } = options;
  const keepers = new SnapshotKeepers({ directory, selfId, directMembers });
  const nowMs = () => Date.now();
  const isLarge = () => !keepers.keepsAll;
  const states =
    membership.states &&
    new PublishedStates({ keys: membership.states, self, selfId, isLarge, timeoutMs, report, nowMs });
  const held = new HeldSnapshots({ snapshots, peers, clocks, selfId, timeoutMs, keepers, nowMs });
  directory.use({
    find: (id) => held.find(id),
    isElsewhere: (id) => held.isElsewhere(id),
    lastSeenMs: (id) => clocks.heardMs(id),
  });
  const roleDiscovery = new RoleDiscovery({ peers, clocks, directory, timeoutMs, againMs: refreshMs });
  const discoverRoles = (callOptions: CallOptions) => roleDiscovery.run(callOptions);
  const drift = new ConfigDrift({ snapshots, directory, self, discoverRoles, refreshMs });
  const cleaning = isAlone ? NO_WORK : cleanUp(report);
  if (!isAlone) {
    clocks.start(refreshMs, directory);
    if (options.snapshots.maxBytes > 0) collector.start();
    states?.start();
    watch.start();
    senders.start(webhooks);
  }
  const state = { snapshots, directory, collector, drift, held, roleDiscovery, masking, mask };
  return { ...state, peers, clocks, keepers, states, watch, senders, cleaning };
}

/** Whether a member responds at all, if only that it lacks what it is asked for. */
async function respondsStill(peers: ClosablePeers, id: string, timeoutMs: number): Promise<boolean> {
  try {
    await withDeadline((signal) => peers.get(id).state.describe({ signal }), { timeoutMs });
    return true;
  } catch (error) {
    return !isSilent(toOutcome(error).outcome);
  }
}

async function openSnapshots(
  { snapshots: { dir, maxBytes, keepMs }, report }: LocalClusterOptions,
  { isAlone }: { isAlone: boolean },
): Promise<SnapshotCache> {
  const snapshots = new SnapshotCache({
    // A node without a cluster must not leave an empty directory behind.
    store: isAlone || maxBytes === 0 ? null : createSnapshotStore(dir),
    report,
    maxTotalBytes: Math.max(maxBytes, MIN_SNAPSHOT_BYTES),
    maxAgeMs: keepMs,
  });
  await snapshots.load();
  return snapshots;
}

function cleanUp(report: LocalClusterOptions['report']): Owned {
  return owned(removeStaleTails(), (error) =>
    report(`cannot remove mirrored logs left by an earlier process: ${errorMessage(error)}`),
  );
}
