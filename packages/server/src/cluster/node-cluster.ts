import type {
  ClusterGauges,
  LocalCluster,
  MemberAccessOptions,
  Membership,
  SelfMember,
  ViewKeys,
} from '@porthole/cluster';
import {
  type AroundRequest,
  type CallOptions,
  type ClusterState,
  type ConfigDiffRequest,
  type ConfigHistoryRequest,
  type FollowOptions,
  type ForgetOptions,
  labelsOf,
  type Member,
  type MemberSelection,
  matchesPattern,
  type NodeObject,
  type NodeState,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import {
  createZone,
  type DigestQuery,
  type FieldsQuery,
  type FollowQuery,
  type HistogramQuery,
  type Scrubbing,
  type SearchQuery,
  type TopQuery,
  type Zone,
} from '@porthole/logs';
import { allWithin, ONCE, Shared } from '@porthole/logs/shared';
import type { NodeArchive } from '../archive/node-archive.ts';
import type { NodeOtlp } from '../archive/node-otlp.ts';
import type { ReloadedGroup } from '../auth/reloaded-files.ts';
import { ConfigThread } from '../config/config-thread.ts';
import { TomlError } from '../config/formats/toml-error.ts';
import type { EventLog } from '../events/event-log.ts';
import { ownDirs } from '../own-dirs.ts';
import type { Logger } from '../own-log/own-log.ts';
import { parseMemberZone, readFormats } from '../settings/setting-kinds.ts';
import type { Settings } from '../settings/settings.ts';
import type { Webhook } from '../settings/webhooks.ts';
import type { ClusterFiles } from './cluster-files.ts';
import { createMemberFetch } from './member-fetch.ts';

export interface NodeClusterDeps {
  settings: Settings;
  files: ClusterFiles;
  state: NodeState;
  /** Time zone of members that do not report theirs. */
  zone: Zone;
  /** Masks secrets in log text. */
  scrubbing: Scrubbing;
  log: Logger;
  /** If `archive.url` is set. */
  archive?: NodeArchive | undefined;
  /** If `ship.otlp` is set. */
  otlp?: Pick<NodeOtlp, 'start'> | undefined;
  /** Where events about members are written; absent: nowhere. */
  events?: EventLog | undefined;
  /** If `notify.webhook` is set. */
  notifier?: { start(node: string): Promise<void>; close(): Promise<void> } | undefined;
  /** Resolves when no client waits for this node, or after this time. */
  untilFree?(mostMs: number): Promise<void>;
}

/** Of the five seconds that a stop waits for what the node is connected to: shipping has the rest. */
const LEAVING_MS = 2500;

/** What a node without a cluster shows. */
export const NO_GAUGES: ClusterGauges = {
  members: [],
  namesakeUrl: null,
  drift: null,
  silentMembers: 0,
  recorded: [],
  keptCursors: { count: 0, bytes: 0 },
};

/**
 * The cluster of a running node. Its code is loaded when other members are configured, or on the first cluster request, so
 * that a single node starts without it.
 */
export class NodeCluster implements ClusterState {
  readonly #deps: NodeClusterDeps;
  #self: SelfMember | undefined;
  /** Called by the start; requests of other members may come before it. */
  #onStart: (() => void)[] = [];
  #isClosed = false;
  readonly #opening = new Shared<OpenCluster>(ONCE);
  #opened: LocalCluster | undefined;

  constructor(deps: NodeClusterDeps) {
    this.#deps = deps;
  }

  /** Files that are reloaded when they change. */
  get files(): ReloadedGroup[] {
    return this.#deps.files.groups;
  }

  /** Whether other members or a registry are configured. */
  get isConfigured(): boolean {
    const { members, etcd } = this.#deps.settings.cluster;
    return members.length > 0 || etcd.length > 0;
  }

  /** The current number of members, and whether the list is up to date. */
  get status(): { members: number; isFresh: boolean; detail: string } {
    const membership = this.#opened?.membership;
    if (!membership && this.isConfigured)
      return { members: 1, isFresh: false, detail: 'the list of members was not read yet' };
    if (!membership) return { members: 1, isFresh: true, detail: 'not part of a cluster' };
    const { members, state } = membership;
    const isFresh = state.state === 'ok';
    return {
      members: members.length,
      isFresh,
      detail: state.detail ?? `${members.length} members, from ${state.kind}`,
    };
  }

  /** Why members are not recorded; `null` if they are, or there are none. */
  get recorderProblem(): string | null {
    return this.#opened?.recorderProblem ?? null;
  }

  /** What is known of the other members, for metrics; nothing unless there are any. */
  get gauges(): ClusterGauges {
    return this.#opened?.gauges ?? NO_GAUGES;
  }

  /** Joins, once the ports are bound. A registry that does not respond does not prevent the start. */
  async start(node: NodeObject, url: string): Promise<void> {
    const { settings } = this.#deps;
    const { role, nodeId } = settings.cluster;
    const name = node.httpPort === 0 ? node.hostName : `${node.hostName}:${node.httpPort}`;
    const id = nodeId || name.replace(/[^A-Za-z0-9.:_-]/g, '-').slice(-128);
    this.#self = { id, role, labels: labelsOf(settings.node.labels), node, url: url.replace(/\/$/, '') };
    this.#releaseWaiting();
    if (this.isConfigured) await this.#open();
    await this.#deps.archive?.start(this.#self, () => this.status.members);
    await this.#deps.otlp?.start(this.#self);
    await this.#deps.notifier?.start(id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#releaseWaiting();
    // A cluster that could not be opened was reported to whoever opened it; there is nothing to close.
    const opened = this.#opening.last().then((open) => open?.local.close());
    await allWithin(LEAVING_MS, [this.#deps.notifier?.close(), opened]);
  }

  async selfId(): Promise<string> {
    return (this.#self ?? (await this.#untilStarted())).id;
  }

  /** Which node sends events about members; `undefined` until it has joined. */
  get senders(): LocalCluster['senders'] | undefined {
    return this.#opened?.senders;
  }

  /** The members, and those that were. */
  get everKnown(): readonly Member[] {
    return this.#opened?.everKnown ?? [];
  }

  /** Where members share saved views; `null`: nowhere, `undefined`: until it has joined. */
  get viewKeys(): ViewKeys | null | undefined {
    if (!this.isConfigured) return null;
    return this.#opened && (this.#opened.membership.views ?? null);
  }

  /** While this node starts, no member was asked yet: requests wait for that. */
  async opened(): Promise<void> {
    if (this.isConfigured && !this.#opened) await this.#open();
  }

  member(id: string): NodeState {
    if (this.#opened) return this.#opened.member(id);
    if (id === this.#self?.id) return this.#deps.state;
    if (this.isConfigured)
      throw new PortholeError(
        'UNREACHABLE',
        `this node is starting: a member named ${JSON.stringify(id)} was not asked yet`,
      );
    throw new PortholeError(
      'MEMBER_NOT_FOUND',
      `no member named ${JSON.stringify(id)}; this node is not part of a cluster`,
    );
  }

  async forget(id: string, options?: ForgetOptions) {
    return (await this.#open()).state.forget(id, options);
  }

  async recordingHead(id: string) {
    return (await this.#open()).local.recordingHead(id);
  }

  recordedMember(id: string, options?: { onlyHere?: boolean }): NodeState {
    if (this.#opened) return this.#opened.recordedMember(id, options);
    throw new PortholeError('MEMBER_NOT_FOUND', `nothing was recorded of ${JSON.stringify(id)}`);
  }

  async nodes(options?: CallOptions) {
    return (await this.#open()).state.nodes(options);
  }

  async config(request: MemberSelection, options?: CallOptions) {
    return (await this.#open()).state.config(request, options);
  }

  async configDiff(request: ConfigDiffRequest, options?: CallOptions) {
    return (await this.#open()).state.configDiff(request, options);
  }

  async logFiles(request: MemberSelection, options?: CallOptions) {
    return (await this.#open()).state.logFiles(request, options);
  }

  async *search(request: SearchQuery & MemberSelection, options?: SearchOptions) {
    yield* (await this.#records(request)).search(request, options);
  }

  async *followLogs(request: FollowQuery & MemberSelection, options?: FollowOptions) {
    yield* (await this.#open()).state.followLogs(request, options);
  }

  async logHistogram(request: HistogramQuery & MemberSelection, options?: SearchOptions) {
    return (await this.#records(request)).logHistogram(request, options);
  }

  async logDigest(request: DigestQuery & MemberSelection, options?: SearchOptions) {
    return (await this.#records(request)).logDigest(request, options);
  }

  async logFields(request: FieldsQuery & MemberSelection, options?: SearchOptions) {
    return (await this.#records(request)).logFields(request, options);
  }

  async logTop(request: TopQuery & MemberSelection, options?: SearchOptions) {
    return (await this.#records(request)).logTop(request, options);
  }

  async *events(request: SearchQuery & MemberSelection, options?: SearchOptions) {
    yield* (await this.#open()).state.events(request, options);
  }

  async *followEvents(request: FollowQuery & MemberSelection, options?: FollowOptions) {
    yield* (await this.#open()).state.followEvents(request, options);
  }

  async configHistory(request: ConfigHistoryRequest & MemberSelection, options?: CallOptions) {
    return (await this.#open()).state.configHistory(request, options);
  }

  async *around(request: AroundRequest, options?: CallOptions) {
    yield* (await this.#records(request)).around(request, options);
  }

  async #open(): Promise<OpenCluster> {
    const self = this.#self ?? (await this.#untilStarted());
    return this.#opening.run(async () => {
      const local = await this.#load(self);
      this.#opened = local;
      return { local, state: (await this.#deps.archive?.withPast(local)) ?? local };
    });
  }

  async #untilStarted(): Promise<SelfMember> {
    if (!this.#isClosed) await new Promise<void>((resolve) => this.#onStart.push(resolve));
    if (!this.#self) throw new PortholeError('SHUTTING_DOWN', 'the node was stopped before it had started');
    return this.#self;
  }

  #releaseWaiting(): void {
    for (const resolve of this.#onStart.splice(0)) resolve();
  }

  /** Where the records of a request are read. */
  async #records({ store }: MemberSelection): Promise<ClusterState> {
    if (store === 'archive' && !this.#deps.archive)
      throw new PortholeError('NOT_SUPPORTED', 'this node has no archive: archive.url is not set');
    return (await this.#open()).state;
  }

  async #load(self: SelfMember): Promise<LocalCluster> {
    const { settings, files, state, zone, scrubbing, log, events } = this.#deps;
    const { cluster } = settings;
    const { LocalCluster: Local } = await import('@porthole/cluster');
    const { secretKeys, maxBytes } = settings.config;
    const thread = new ConfigThread(secretKeys);
    const membership = await createMembership(self, this.#deps);
    await membership.start();
    return Local.open({
      name: cluster.name,
      membership,
      self: state,
      selfId: self.id,
      access: this.isConfigured ? await this.#access() : {},
      zone,
      zoneOf: readZones(cluster.memberZones),
      formats: readFormats(settings.log.formats),
      limits: {
        firstBatchMs: cluster.firstBatchTimeoutMs,
        memberTimeoutMs: cluster.memberTimeoutMs,
        maxParallel: cluster.maxParallel,
      },
      refreshMs: cluster.refreshMs,
      recorder: {
        dir: ownDirs(settings).recorded,
        count: cluster.recorders,
        maxBytes: cluster.recordBytes,
        maxMs: cluster.recordMinutes * 60_000,
        keepMs: cluster.recordKeepMs,
        untilFree: this.#deps.untilFree,
      },
      fingerprint: await files.fingerprint(),
      mask: (text) => maskToml(text, thread),
      maskSource: (text) => maskSource(text, thread),
      maxConfigBytes: maxBytes,
      findSecrets: async (text) => (settings.logs.scrub ? (await thread.run('secrets', text)).values : []),
      scrubbing,
      webhooks: settings.notify.webhook.map((text) => (JSON.parse(text) as Webhook).name),
      events: events && { past: events.past, write: (event) => events.write(event) },
      report: (problem) => log.warn('recorder', problem),
    });
  }

  /** How members are contacted. Without members, the code for it is not loaded. */
  async #access(): Promise<MemberAccessOptions> {
    const { settings, files } = this.#deps;
    const { tls, cluster } = settings;
    const { createMemberNetworks } = await import('@porthole/cluster');
    const networks = createMemberNetworks(cluster.memberNetworks);
    const contact = await createMemberFetch(files.memberTls, networks.lookup);
    files.onMemberTls(contact.renew);
    const [tlsSetting] = [
      ...(tls.certFile === '' ? [] : ['tls.cert-file']),
      ...(cluster.caFile === '' ? [] : ['cluster.ca-file']),
      ...(cluster.certFile === '' ? [] : ['cluster.cert-file']),
    ];
    return { fetch: contact.fetch, token: () => files.token, networks, httpsOnly: cluster.httpsOnly, tlsSetting };
  }
}

interface OpenCluster {
  local: LocalCluster;
  /** With the archive, if there is one. */
  state: ClusterState;
}

/** The zones of members that the settings name. */
function readZones(memberZones: readonly string[]): (id: string) => Zone | undefined {
  const zones = memberZones.flatMap((given) => parseMemberZone(given) ?? []);
  return (id) => {
    const found = zones.find(({ members }) => matchesPattern(id, members));
    return found && createZone(found.zone);
  };
}

/** A configuration that is not TOML, or takes too long, cannot be masked. */
async function maskToml(text: string, thread: ConfigThread): Promise<string | undefined> {
  try {
    return await thread.run('mask', text);
  } catch (error) {
    if (!(error instanceof TomlError || error instanceof PortholeError)) throw error;
    return undefined;
  }
}

/** What is not valid TOML although it is named so is masked as text. */
async function maskSource(text: string, thread: ConfigThread): Promise<string> {
  const { splitSource } = await import('../config/config-view.ts');
  try {
    return (await thread.run('view', splitSource(text))).source;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return (await thread.run('view', [{ path: '', text, format: 'text' }])).source;
  }
}

/** How the members of the cluster are known: from a list, or from a registry. */
export async function createMembership(
  self: SelfMember,
  { settings, files, log }: Pick<NodeClusterDeps, 'settings' | 'files' | 'log'>,
): Promise<Membership> {
  const { name, members, etcd, etcdUser, lindbNamespace, leaseMs, recordKeepMs } = settings.cluster;
  const { createEtcdMembers, createLindbMembers, createStaticMembers } = await import('@porthole/cluster');
  if (etcd.length === 0) return createStaticMembers({ self, members });
  const access = {
    self,
    endpoints: etcd,
    tls: () => files.etcd.tls,
    log,
    ...(etcdUser && { user: etcdUser, password: () => files.etcd.password ?? '' }),
  };
  if (lindbNamespace) return createLindbMembers({ ...access, namespace: lindbNamespace });
  return createEtcdMembers({
    ...access,
    cluster: name,
    leaseSeconds: Math.ceil(leaseMs / 1000),
    keepDeparturesSeconds: Math.ceil(recordKeepMs / 1000),
  });
}
