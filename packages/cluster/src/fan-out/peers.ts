import { createMemberClient, type MemberClient } from '@porthole/client/member';
import {
  type CallOptions,
  codeOf,
  type FetchFunction,
  isPattern,
  isSelected,
  type Member,
  type MemberSelection,
  type NodeState,
  namedNodes,
  PATHS,
  PortholeError,
  type RecordingHead,
  ResponseClock,
} from '@porthole/contract';
import { createZone, nearestNames, type UserFormat, WorkerPool, type Zone } from '@porthole/logs';
import type { FollowQuery } from '@porthole/logs/types';
import { ContractNode, type CopyTarget } from '../contract-only/contract-node.ts';
import type { TailNode } from '../contract-only/fetch-tail.ts';
import { MaskedNode, type MemberMasking, type OneMemberMasking } from '../contract-only/member-masking.ts';
import { type FollowKeeper, MemberNode } from '../contract-only/member-node.ts';
import type { Membership } from '../membership/membership.ts';
import { MemberAccess, type MemberAccessOptions } from '../requests/member-access.ts';
import { SharedBudget } from '../requests/response-budget.ts';
import { PROBE, SilentMembers, type WatchedMember } from '../requests/silent-members.ts';

/** Names listed when none is similar. */
const SHOWN_NAMES = 5;

/** Threads that scan the mirrored files of contract-only members, shared by all of them. */
const TAIL_THREADS = 2;

/** Disk space for all contract-only members together, divided among them within these bounds. */
const ALL_TAILS_BYTES = 1024 ** 3;
const MAX_TAILS_BYTES = 32 * 1024 ** 2;
const MIN_TAILS_BYTES = 1024 ** 2;

/** Fraction of the bytes of a member that one file may use. */
const FILE_SHARE = 32;

/** Retry delays of a follow, doubling; other requests are not retried. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Failures of a node that responds. */
const RESPONSES: ReadonlySet<string> = new Set(['NOT_SUPPORTED', 'UNAUTHENTICATED', 'FORBIDDEN', 'BAD_ANSWER']);

/** A member and how to query it: the local node for this one, a client for every other. */
export interface Peer {
  member: Member;
  /** Throws for a member with an invalid address, or one that must not be contacted. */
  state: NodeState;
  /** Whether it is more than a contract-only node; may contact it. */
  isPorthole?(options: CallOptions): Promise<boolean>;
  /** Whether the last request to it failed. */
  readonly hasFailed?: boolean;
  /** Contacts it: the start of its run, 0 if it does not say. Rejects if nothing comes from itself. */
  ping?(options: CallOptions): Promise<number>;
}

/** A registered member. */
export interface RegisteredPeer extends Peer {
  /** Makes it drop what it knows of another member; returns 1 if that was something. */
  forget(id: string, options: CallOptions): Promise<number>;
  /** What it has recorded of another member; `undefined` if that is nothing. */
  recordingHead?(id: string, options: CallOptions): Promise<RecordingHead | undefined>;
  /** Another member by what it has recorded of that one. */
  recordedMember?(id: string): NodeState | undefined;
}

/** The members with their clients. Only members are contacted: no address ever comes from a request. */
export interface Peers {
  /** All current members, ordered by id. */
  all(): readonly RegisteredPeer[];
  /** Throws MEMBER_NOT_FOUND. */
  get(id: string): RegisteredPeer;
  /** Throws MEMBER_NOT_FOUND for an unknown id that is not a pattern. */
  select(selection: MemberSelection, departed?: ReadonlySet<string>): readonly RegisteredPeer[];
  /** Memory budget shared by the responses of all members. */
  readonly responses?: SharedBudget;
}

export interface ClosablePeers extends Peers {
  /** Members that requests do not wait for. */
  readonly silent: Pick<SilentMembers, 'count'>;
  /** Stops reading the files of contract-only members. */
  close(): Promise<void>;
}

export interface PeersOptions {
  membership: Pick<Membership, 'members'> & Partial<Pick<Membership, 'state'>>;
  /** This node, queried without HTTP. */
  self: NodeState;
  selfId: string;
  /** Decides which members are contacted and with which credentials. */
  access?: MemberAccessOptions;
  /** Masks the secrets of members that do not mask them themselves. */
  masking: MemberMasking;
  /** Timeout until the response head. */
  timeoutMs: number;
  /** A request given up after this time without a response counts as missed. Default: half of the timeout. */
  missedAfterMs?: number;
  /** Shared by the responses of all members. */
  responses?: SharedBudget;
  /** Time zone assumed of members that do not report theirs; default: the zone of the system. */
  zone?: Zone;
  /** Called with its id for everything that comes from a member itself, and for every contact that fails. */
  signs?: { sign(id: string): void; failed(id: string): void } | undefined;
  /** Called when a member turns out to implement only the contract. */
  onContractOnly?: ((id: string) => void) | undefined;
  /** The zone of such a member, by its id, if it is known. */
  zoneOf?: ((id: string) => Zone | undefined) | undefined;
  /** Who keeps the records of a follow of a member; default: nobody. */
  keeperFor?: ((id: string, request: FollowQuery) => FollowKeeper | undefined) | undefined;
  /** Where the files of such a member are copied to; default: a temporary directory. */
  copyOf?: ((id: string) => CopyTarget) | undefined;
  /** Formats of the logs of members that do not detect them; tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
}

/** Clients are reused as long as their member is the same. The creator closes it. */
export function createPeers({ membership, self, selfId, ...options }: PeersOptions): ClosablePeers {
  const access = new MemberAccess(options.access ?? {}, () => membership.state?.kind ?? 'static');
  const responses = options.responses ?? new SharedBudget();
  const silent = new SilentMembers({ waitMs: options.missedAfterMs ?? options.timeoutMs / 2 });
  let known = new Map<string, MemberPeer>();
  let listed: { members: readonly Member[]; peers: readonly RegisteredPeer[] } | undefined;
  let threads: WorkerPool | undefined;

  const all = (): readonly RegisteredPeer[] => {
    const { members } = membership;
    // A list is replaced, never changed; each member is looked up for each request.
    if (listed?.members === members) return listed.peers;
    const now = new Map<string, MemberPeer>();
    for (const member of members) {
      const before = known.get(member.id);
      const isSame = before !== undefined && (isSameRun(before.member, member) || before.survives(member));
      if (isSame) before.member = member;
      now.set(member.id, isSame ? before : createPeer(member));
    }
    for (const peer of known.values()) if (now.get(peer.member.id) !== peer) void peer.close();
    known = now;
    listed = { members, peers: [...now.values()] };
    return listed.peers;
  };

  const createPeer = (member: Member): MemberPeer => {
    let made: MemberClient | undefined;
    const clock = new ResponseClock();
    let watched: WatchedMember | undefined;
    const contact = () => {
      const { id } = member;
      const { signs } = options;
      const listener = signs && { sign: () => signs.sign(id), failed: () => signs.failed(id) };
      watched ??= silent.watch(member.url, access.fetchFor(member), listener);
      return watched.fetch;
    };
    const client = () => {
      made ??= clientFor(member.url, clock.watch(contact()), {
        selfId,
        timeoutMs: options.timeoutMs,
        responses,
      });
      return made;
    };
    // Every response of a member passes through here, so nothing is passed on unmasked.
    const createState = () => {
      const masking = options.masking.forMember();
      const masked = new MaskedNode(client(), masking);
      const createContractNode = () => contractNodeFor(client(), { masked, masking, clock, id: member.id });
      const keeperFor = (request: FollowQuery) => options.keeperFor?.(member.id, request);
      return new MemberNode({ client: masked, createContractNode, keeperFor, onClose: () => masking.close() });
    };
    const isSelf = member.id === selfId;
    return new MemberPeer(member, {
      make: isSelf ? () => self : createState,
      close: () => watched?.close(),
      heard: () => watched?.heard(),
      hasFailed: () => watched?.hasFailed() ?? false,
      probe: async (signal) => {
        // Contract-only members have this route; for any other they would write an error to their log.
        const response = await contact()(`${member.url}${PATHS.logList}`, { ...PROBE, signal });
        const reader = response.body?.getReader();
        await reader?.read();
        await reader?.cancel();
        if (response.status > 500) throw new PortholeError('UNREACHABLE', `status ${response.status}`);
      },
      async forget(id, callOptions) {
        const { members } = await client().forget(id, callOptions);
        return members.reduce((sum, { count }) => sum + count, 0);
      },
      recordingHead: async (id, callOptions) => client().recordingHead(id, callOptions),
      recordedMember: (id) => client().recordedMember(id),
    });
  };

  const contractNodeFor = (
    client: NodeState,
    { masked, masking, clock, id }: { masked: MaskedNode; masking: OneMemberMasking; clock: ResponseClock; id: string },
  ): ContractNode => {
    threads ??= new WorkerPool(TAIL_THREADS);
    const { zone = createZone(), formats } = options;
    const share = Math.floor(ALL_TAILS_BYTES / Math.max(1, membership.members.length));
    const copy = options.copyOf?.(id);
    // Copies may grow to twice as much.
    const maxBytes = Math.min(MAX_TAILS_BYTES, (copy?.maxBytes ?? Infinity) / 2);
    const maxTotalBytes = Math.min(maxBytes, Math.max(MIN_TAILS_BYTES, share));
    const limits = { maxTotalBytes, tailBytes: maxTotalBytes / FILE_SHARE };
    const tails: TailNode = {
      clock,
      // Fetched before anything is read: the secrets to mask must be known by then.
      async listLogs(callOptions) {
        await masked.learnSecrets(callOptions);
        return client.listLogs(callOptions);
      },
      viewLog: (request, callOptions) => client.viewLog(request, callOptions),
    };
    const memberZone = options.zoneOf?.(id);
    options.onContractOnly?.(id);
    const { scrubbing } = masking;
    return new ContractNode({ node: masked, tails, scrubbing, zone, memberZone, formats, threads, limits, copy });
  };

  const get = (id: string): RegisteredPeer => {
    const peers = all();
    const peer = known.get(id);
    if (peer === undefined) throw memberNotFound(id, peers);
    return peer;
  };

  const select = (selection: MemberSelection, departed: ReadonlySet<string> = new Set()): readonly RegisteredPeer[] => {
    const peers = all();
    for (const name of namedNodes(selection)) {
      if (!isPattern(name) && !known.has(name) && !departed.has(name)) throw memberNotFound(name, peers);
    }
    return peers.filter(({ member }) => isSelected(member, selection));
  };

  const close = async (): Promise<void> => {
    await Promise.all([...known.values()].map((peer) => peer.close()));
    await threads?.close();
  };

  return { all, get, select, close, silent, responses };
}

interface MemberClientOptions {
  selfId: string;
  /** Timeout until the response head. */
  timeoutMs: number;
  /** Shared by the responses of all members. */
  responses: SharedBudget;
}

/** How this node asks a member. */
function clientFor(
  url: string,
  fetch: FetchFunction,
  { selfId, timeoutMs, responses }: MemberClientOptions,
): MemberClient {
  return createMemberClient({
    url,
    // Members are near: compressing would take longer than sending, and no member can make this node inflate its response.
    headers: { 'porthole-via': selfId, 'accept-encoding': 'identity' },
    fetch,
    remoteTexts: 'hide',
    timeoutMs,
    responseBudget: responses,
    retries: 0,
    backoffMs: FIRST_WAIT_MS,
    maxBackoffMs: LONGEST_WAIT_MS,
  });
}

interface PeerDeps extends Required<Pick<RegisteredPeer, 'forget' | 'recordingHead' | 'recordedMember'>> {
  make(): NodeState;
  close(): void;
  heard(): void;
  hasFailed(): boolean;
  /** Rejects if the member does not respond. */
  probe(signal: AbortSignal): Promise<void>;
}

/** Creates the client of the member on first use. */
class MemberPeer implements RegisteredPeer {
  member: Member;
  readonly #deps: PeerDeps;
  #state: NodeState | undefined;

  constructor(member: Member, deps: PeerDeps) {
    this.member = member;
    this.#deps = deps;
  }

  get state(): NodeState {
    this.#state ??= this.#deps.make();
    return this.#state;
  }

  async isPorthole(options: CallOptions): Promise<boolean> {
    return !(this.state instanceof MemberNode) || this.state.isPorthole(options);
  }

  get hasFailed(): boolean {
    return this.#deps.hasFailed();
  }

  async ping({ signal = new AbortController().signal }: CallOptions): Promise<number> {
    try {
      return (await this.state.describe({ signal })).node.onlineTime;
    } catch (error) {
      signal.throwIfAborted();
      // It has another interface, or does not accept this node. A contract-only member is not asked for a description.
      if (!RESPONSES.has(codeOf(error))) throw error;
      await this.#deps.probe(signal);
      return 0;
    }
  }

  /** Whether it stays the same after a restart: what was read of the files of a contract-only member is still of use. */
  survives({ url }: Member): boolean {
    if (url !== this.member.url || !(this.#state instanceof MemberNode) || !this.#state.restarted()) return false;
    this.#deps.heard();
    return true;
  }

  async close(): Promise<void> {
    this.#deps.close();
    if (this.#state instanceof MemberNode) await this.#state.end();
  }

  async recordingHead(id: string, options: CallOptions): Promise<RecordingHead | undefined> {
    try {
      return await this.#deps.recordingHead(id, options);
    } catch (error) {
      if (codeOf(error) === 'MEMBER_NOT_FOUND') return undefined;
      throw error;
    }
  }

  recordedMember(id: string): NodeState | undefined {
    return this.#deps.recordedMember(id);
  }

  async forget(id: string, options: CallOptions): Promise<number> {
    try {
      return await this.#deps.forget(id, options);
    } catch (error) {
      if (codeOf(error) === 'MEMBER_NOT_FOUND') return 0;
      throw error;
    }
  }
}

/** A restarted node counts as a different one, unless it survives that; learning more about a node does not change it. */
function isSameRun(a: Member, b: Member): boolean {
  const isSameAddress = a.url === b.url && a.isSelf === b.isSelf;
  return isSameAddress && (a.node.onlineTime === b.node.onlineTime || a.node.onlineTime === 0);
}

function memberNotFound(id: string, peers: readonly Peer[]): PortholeError {
  const names = peers.map(({ member }) => member.id);
  const near = nearestNames(id, names);
  const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : membersHint(names);
  return new PortholeError('MEMBER_NOT_FOUND', `no member of the cluster is named ${JSON.stringify(id)}: ${hint}`);
}

function membersHint(names: readonly string[]): string {
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : '';
  return names.length === 0
    ? 'there are no members'
    : `known members: ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`;
}
