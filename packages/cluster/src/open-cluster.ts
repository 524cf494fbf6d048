import { type CallOptions, errorMessage, type NodeDescription, type NodeState } from '@porthole/contract';
import type { Scrubbing, UserFormat, Zone } from '@porthole/logs';
import { owned } from '@porthole/logs/shared';
import type { FollowQuery } from '@porthole/logs/types';
import { MemberMasking } from './contract-only/member-masking.ts';
import { ClockTable } from './fan-out/clock.ts';
import { type MemberEvents, MemberWatch } from './fan-out/member-watch.ts';
import { type ClosablePeers, createPeers } from './fan-out/peers.ts';
import { RoleDiscovery } from './fan-out/role-discovery.ts';
import { isSilent, MemberDirectory } from './membership/member-directory.ts';
import type { Membership } from './membership/membership.ts';
import { ProfileCache } from './membership/profiles/profile-cache.ts';
import { createProfileStore } from './membership/profiles/profile-store.ts';
import { CONTRACT_ROLE } from './membership/static-members.ts';
import { WebhookSenders } from './membership/webhook-senders.ts';
import { PassedRecords } from './recorder/passed-records.ts';
import { Recorder, type RecorderEvents } from './recorder/recorder.ts';
import { Recorders } from './recorder/recorders.ts';
import { Recordings } from './recorder/recordings.ts';
import type { ClusterLimits } from './records/search/cluster-deps.ts';
import { withDeadline } from './requests/bounded-calls.ts';
import type { MemberAccessOptions } from './requests/member-access.ts';
import { toOutcome } from './requests/member-failure.ts';
import { type Masked, rememberByText, type SecretFingerprint } from './settings/secrets.ts';
import { ConfigDrift } from './state/config-drift.ts';
import { ProfileCollector } from './state/profile-collector.ts';
import { PublishedStates } from './state/published-states.ts';

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
  /** Interval of clock measurements, samples of members and their configurations. */
  refreshMs: number;
  /** Up to this many members all are contacted for each list, and every node keeps the configurations of all; default: 16. */
  directMembers?: number;
  recorder: {
    dir: string;
    /** How many nodes record each member. */
    count: number;
    /** Of each member, at most. */
    maxBytes: number;
    maxMs: number;
    /** How long members that left or failed are listed. */
    keepMs: number;
    /** See `RecorderDeps`. */
    untilFree?: ((mostMs: number) => Promise<void>) | undefined;
  };
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
  /** Where events about members and the recorder are written; absent: nowhere. */
  events?: (MemberEvents & RecorderEvents) | undefined;
  /** Names of the webhooks that this node sends events to. */
  webhooks?: readonly string[] | undefined;
  /** Reports problems to the own log. */
  report(problem: string): void;
}

/** For the configurations and lists of files of all members. */
const MAX_PROFILE_BYTES = 64 * 1024 * 1024;

/** Contacting so many for each list of nodes is cheap, and as fresh as can be. */
const DIRECT_MEMBERS = 16;

/** Questions give a member up after different parts of its deadline; this is less than any of them. */
const MISSED_SHARE = 0.6;

export interface ClusterParts {
  profiles: ProfileCache;
  directory: MemberDirectory;
  peers: ClosablePeers;
  clocks: ClockTable;
  collector: ProfileCollector;
  drift: ConfigDrift;
  recorders: Recorders;
  recordings: Recordings;
  recorder: Recorder;
  /** Absent without a registry of nodes like this one. */
  states: PublishedStates | undefined;
  /** Signs of life of the other members. */
  watch: MemberWatch;
  senders: WebhookSenders;
  roleDiscovery: RoleDiscovery;
  masking: MemberMasking;
  /** Masks the secrets of a configuration. */
  mask(configText: string): Masked;
}

/** Creates the parts of a cluster, and starts their background work if there are other members. */
export async function openClusterParts(options: LocalClusterOptions): Promise<ClusterParts> {
  const { membership, self, selfId, access, zone, zoneOf, formats, limits, refreshMs, report } = options;
  const mask = rememberByText(options.mask);
  const findSecrets = rememberByText(options.findSecrets);
  const { memberTimeoutMs: timeoutMs } = limits;
  const isAlone = membership.state.kind === 'alone';
  const profiles = await openProfiles(options, {
    isAlone,
    // Some may be dropped before the rest is there.
    onDropped: (id) =>
      void owned(
        Promise.resolve().then(() => recordings.drop(id)),
        (error) => report(`cannot delete what was recorded of ${id}: ${errorMessage(error)}`),
      ),
  });
  const directory = new MemberDirectory({ membership, profiles });
  const { maskSource, fingerprint, scrubbing, maxConfigBytes } = options;
  const masking = new MemberMasking({ mask, maskSource, fingerprint, findSecrets, scrubbing, maxConfigBytes });
  const missedAfterMs = Math.min(limits.firstBatchMs, timeoutMs) * MISSED_SHARE;
  const onContractOnly = (id: string) => directory.learn(id, { role: CONTRACT_ROLE, node: peers.get(id).member.node });
  const copyOf = (id: string) => recordings.copyOf(id);
  const keeperFor = (id: string, request: FollowQuery) => passed?.keeperFor(id, request);
  const found = { onContractOnly, copyOf, keeperFor, zone, zoneOf, formats };
  const contacts = { access, masking, ...found, timeoutMs, missedAfterMs };
  const { events, webhooks = [] } = options;
  const notifies = webhooks.length > 0;
  const watch = new MemberWatch({ membership, peers: () => peers, selfId, events, notifies, report });
  const isLost = (id: string) => watch.signs.lossOf(id) !== undefined;
  const senders = new WebhookSenders({ keys: membership.states, selfId, isLost });
  const peers = createPeers({ membership: directory, self, selfId, signs: watch.signs, ...contacts });
  directory.askWith((id) => respondsStill(peers, id, timeoutMs));
  const onDescription = (id: string, description: NodeDescription) => directory.learn(id, description);
  const clocks = new ClockTable({ peers, selfId, timeoutMs, onDescription, report });
  const collector = new ProfileCollector({
    profiles,
    peers,
    clocks,
    mask,
    keeps: (id) => recorders.keeps(id),
    onCollected: (callOptions) => drift.update(callOptions),
    report,
    listenMs: refreshMs,
    timeoutMs,
  });
  const { directMembers = DIRECT_MEMBERS } = options;
  const { count, dir, maxBytes, maxMs } = options.recorder;
  const recorders = new Recorders({ directory, peers, selfId, count, directMembers });
  const nowMs = () => Date.now(); // clock: time ranges of questions
  const isLarge = () => !recorders.keepsAll;
  const states =
    membership.states &&
    new PublishedStates({ keys: membership.states, self, selfId, isLarge, timeoutMs, report, nowMs });
  const contact = { peers, clocks, selfId, timeoutMs, nowMs };
  const recordings: Recordings = new Recordings({
    dir,
    limits: { maxBytes, maxMs },
    profiles,
    recorders,
    zone,
    formats,
    ...contact,
  });
  const { untilFree } = options.recorder;
  const recorder = new Recorder({ recorders, recordings, directory, peers, clocks, events, untilFree, report, nowMs });
  const isRecorded = (id: string) => recorder.follows(id) || recorder.problem !== null;
  const passed = count > 0 ? new PassedRecords({ recordings, isRecorded, clocks, report, nowMs }) : undefined;
  directory.use((id) => clocks.heardMs(id));
  const roleDiscovery = new RoleDiscovery({ peers, clocks, directory, timeoutMs, againMs: refreshMs });
  const discoverRoles = (callOptions: CallOptions) => roleDiscovery.run(callOptions);
  const drift = new ConfigDrift({ profiles, directory, self, discoverRoles, refreshMs });
  if (!isAlone) {
    clocks.start(refreshMs, directory);
    collector.start();
    states?.start();
    await recordings.load().catch((error: unknown) => report(`cannot read what was recorded: ${errorMessage(error)}`));
    if (count > 0) recorder.start();
    watch.start();
    senders.start(webhooks);
  }
  const state = {
    profiles,
    directory,
    collector,
    drift,
    recorders,
    recordings,
    recorder,
    roleDiscovery,
    masking,
    mask,
  };
  return { ...state, peers, clocks, states, watch, senders };
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

async function openProfiles(
  { recorder: { dir, keepMs }, report }: LocalClusterOptions,
  { isAlone, onDropped }: { isAlone: boolean; onDropped(id: string): void },
): Promise<ProfileCache> {
  // A node without a cluster must not leave an empty directory behind.
  const store = isAlone ? null : createProfileStore(dir);
  const profiles = new ProfileCache({ store, report, maxTotalBytes: MAX_PROFILE_BYTES, maxAgeMs: keepMs, onDropped });
  await profiles.load();
  return profiles;
}
