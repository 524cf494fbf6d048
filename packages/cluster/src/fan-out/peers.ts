import { createClient, type NodeClient } from '@porthole/client';
import {
  type CallOptions,
  codeOf,
  isPattern,
  type Member,
  type MemberSelection,
  matchesPattern,
  type NodeState,
  PortholeError,
} from '@porthole/contract';
import { createZone, matchRegex, nearestNames, WorkerPool, type Zone } from '@porthole/logs';
import { ContractNode } from '../contract-only/contract-node.ts';
import type { TailNode } from '../contract-only/fetch-tail.ts';
import { MaskedNode } from '../contract-only/masked-node.ts';
import type { MemberMasking, OneMemberMasking } from '../contract-only/member-masking.ts';
import { MemberNode } from '../contract-only/member-node.ts';
import type { Membership } from '../membership/membership.ts';
import { UNKNOWN_ROLE } from '../membership/static-members.ts';
import type { MatchRegex } from '../records/search/search-snapshot.ts';
import { MemberAccess, type MemberAccessOptions } from './member-access.ts';
import { SharedBudget } from './response-budget.ts';

/** A follow that lost its member tries again after up to this, doubling; other questions are asked once. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Names shown when none is near. */
const SHOWN_NAMES = 5;

/** Threads that scan what was read from the files of members that only speak the contract, of all together. */
const TAIL_THREADS = 2;

/** On disk, of all such members together, when they are first read; within these bounds for each. */
const ALL_TAILS_BYTES = 1024 ** 3;
const MAX_TAILS_BYTES = 32 * 1024 ** 2;
const MIN_TAILS_BYTES = 1024 ** 2;

/** Of the bytes for a member, what one of its files may take. */
const FILE_SHARE = 32;

/** A member and how to ask it: the local node for this one, a client for every other. */
export interface Peer {
  member: Member;
  /** Throws for a member that is registered with an address that is none, or that is not contacted. */
  state: NodeState;
}

/** A member that is registered. */
export interface RegisteredPeer extends Peer {
  /** Has it forget what it keeps of another member; gives how much that was: 0 or 1. */
  forget(id: string, options: CallOptions): Promise<number>;
}

/** The members as they can be asked. Only members are ever contacted: no address comes from a request. */
export interface Peers {
  /** All members now, ordered by id. */
  all(): readonly RegisteredPeer[];
  /** Throws MEMBER_NOT_FOUND. */
  get(id: string): RegisteredPeer;
  /** Throws MEMBER_NOT_FOUND for an id without a pattern that is none. */
  select(selection: MemberSelection): readonly RegisteredPeer[];
  /** What the responses of all of them may hold at once. */
  readonly responses?: SharedBudget;
  /** For snapshots of them, which are searched by this node. */
  readonly matchRegex?: MatchRegex;
}

export interface ClosablePeers extends Peers {
  /** Removes what was copied of members that only speak the contract, and ends what reads it. */
  close(): Promise<void>;
}

export interface PeersOptions {
  membership: Pick<Membership, 'members'> & Partial<Pick<Membership, 'state'>>;
  /** This node, asked without a detour. */
  self: NodeState;
  selfId: string;
  /** Which members are contacted, and with what credentials. */
  access?: MemberAccessOptions;
  /** Hides the secrets of members that do not do it themselves. */
  masking: MemberMasking;
  /** How long the head of an answer may take. */
  timeoutMs: number;
  /** Of the responses of all members. */
  responses?: SharedBudget;
  /** In which members that do not say theirs write their times; the system's unless given. */
  zone?: Zone;
}

/** Clients are kept as long as their member is the same. Whoever makes them closes them. */
export function createPeers({ membership, self, selfId, ...options }: PeersOptions): ClosablePeers {
  const access = new MemberAccess(options.access ?? {}, () => membership.state?.kind ?? 'static');
  const responses = options.responses ?? new SharedBudget();
  let known = new Map<string, MemberPeer>();
  let threads: WorkerPool | undefined;

  const all = (): readonly RegisteredPeer[] => {
    const now = new Map<string, MemberPeer>();
    for (const member of membership.members) {
      const before = known.get(member.id);
      const isSame = before !== undefined && isSameRun(before.member, member);
      if (isSame) before.member = member;
      now.set(member.id, isSame ? before : createPeer(member));
    }
    for (const peer of known.values()) if (now.get(peer.member.id) !== peer) void peer.close();
    known = now;
    return [...now.values()];
  };

  const createPeer = (member: Member): MemberPeer => {
    let made: NodeClient | undefined;
    const client = () => {
      made ??= clientFor(member.url, access.fetchFor(member), { selfId, timeoutMs: options.timeoutMs, responses });
      return made;
    };
    // The one place where a member becomes a node that others read: nothing is passed on that is not masked.
    const createState = () => {
      const masking = options.masking.forMember();
      const masked = new MaskedNode(client(), masking);
      const createContractNode = () => contractNodeFor(client(), { masked, masking });
      return new MemberNode({ client: masked, createContractNode, onClose: () => masking.close() });
    };
    return new MemberPeer(member, {
      make: member.id === selfId ? () => self : createState,
      async forget(id, callOptions) {
        const { members } = await client().cluster.forget(id, callOptions);
        return members.reduce((sum, { count }) => sum + count, 0);
      },
    });
  };

  const contractNodeFor = (
    client: NodeState,
    { masked, masking }: { masked: MaskedNode; masking: OneMemberMasking },
  ): ContractNode => {
    threads ??= new WorkerPool(TAIL_THREADS);
    const { zone = createZone() } = options;
    const share = Math.floor(ALL_TAILS_BYTES / Math.max(1, membership.members.length));
    const maxTotalBytes = Math.min(MAX_TAILS_BYTES, Math.max(MIN_TAILS_BYTES, share));
    const limits = { maxTotalBytes, tailBytes: maxTotalBytes / FILE_SHARE };
    const tails: TailNode = {
      // Asked before anything is read: what is secret in its text must be known by then.
      async listLogs(callOptions) {
        await masked.learnSecrets(callOptions);
        return client.listLogs(callOptions);
      },
      viewLog: (request, callOptions) => client.viewLog(request, callOptions),
    };
    return new ContractNode({ node: masked, tails, scrubbing: masking.scrubbing, zone, threads, limits });
  };

  const get = (id: string): RegisteredPeer => {
    const peers = all();
    const peer = known.get(id);
    if (peer === undefined) throw memberNotFound(id, peers);
    return peer;
  };

  const select = (selection: MemberSelection): readonly RegisteredPeer[] => {
    const peers = all();
    for (const name of selection.nodes ?? []) {
      if (!isPattern(name) && !known.has(name)) throw memberNotFound(name, peers);
    }
    return peers.filter(({ member }) => isSelected(member, selection));
  };

  const close = async (): Promise<void> => {
    await Promise.all([...known.values()].map((peer) => peer.close()));
    await threads?.close();
  };

  const matchInThreads: MatchRegex = (filter, texts) => {
    threads ??= new WorkerPool(TAIL_THREADS);
    return matchRegex(threads, { filter, texts });
  };

  return { all, get, select, close, responses, matchRegex: matchInThreads };
}

export function isSelected(member: Member, { nodes, role }: MemberSelection): boolean {
  // One that has not said its role may be of this one: then it takes part, and is reported.
  if (role !== undefined && member.role !== role && member.role !== UNKNOWN_ROLE) return false;
  return nodes === undefined || nodes.some((name) => name === member.id || matchesPattern(member.id, name));
}

interface PeerDeps extends Pick<RegisteredPeer, 'forget'> {
  make(): NodeState;
}

/** Makes what asks the member when it is first asked. */
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

  async close(): Promise<void> {
    if (this.#state instanceof MemberNode) await this.#state.end();
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

function clientFor(
  url: string,
  fetch: typeof globalThis.fetch,
  { selfId, timeoutMs, responses }: Pick<PeersOptions, 'selfId' | 'timeoutMs'> & { responses: SharedBudget },
): NodeClient {
  return createClient({
    url,
    headers: { 'porthole-via': selfId },
    fetch,
    remoteTexts: 'hide',
    timeoutMs,
    responseBudget: responses,
    retries: 0,
    backoffMs: FIRST_WAIT_MS,
    maxBackoffMs: LONGEST_WAIT_MS,
  });
}

/** A node that was started anew is another one; one of which more is known than before is not. */
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
  return names.length === 0 ? 'there is none' : `there are ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`;
}
