import {
  type ExchangeRequest,
  type ExchangeResponse,
  type Member,
  type NodeState,
  PortholeError,
} from '@porthole/contract';
import type { RegisteredPeer } from '../../fan-out/peers.ts';
import type { Inspection } from '../../state/inspect-member.ts';
import { Gossip } from '../gossip.ts';

const REFRESH_MS = 30_000;

/** A member as others see it: it responds to exchanges and can be looked at, unless it is down or does not take part. */
export interface FakeMember {
  isDown: boolean;
  isMute: boolean;
  gossip: Gossip;
  /** How often it was contacted. */
  exchanges: number;
  looks: number;
  /** Replaces its responses. */
  lie?: (response: unknown) => unknown;
  learned: Map<string, { clockMs: number; uncertaintyMs: number }>;
}

/** Members in this process, in a time that passes only when it is told to. */
export class GossipCluster {
  readonly members = new Map<string, FakeMember>();
  nowMs = 1_000_000;
  readonly #directMembers: number;
  #random = 1;

  /** `directMembers`: up to this many, it is a small cluster. */
  constructor(count: number, { directMembers = 0 } = {}) {
    this.#directMembers = directMembers;
    const ids = Array.from({ length: count }, (_, place) => `n${String(place).padStart(3, '0')}`);
    for (const id of ids) this.members.set(id, this.#create(id, ids));
  }

  get(id: string): FakeMember {
    return this.members.get(id) as FakeMember;
  }

  get all(): FakeMember[] {
    return [...this.members.values()];
  }

  /** One round of every member that is up. */
  async round(ms = REFRESH_MS / 6): Promise<void> {
    for (const member of this.members.values()) {
      if (!member.isDown && !member.isMute) await member.gossip.round();
      this.nowMs += Math.round(ms / this.members.size);
    }
  }

  async rounds(count: number): Promise<void> {
    for (let left = count; left > 0; left--) await this.round();
  }

  /** A new run of a member, which knows nothing. */
  restart(id: string): void {
    this.members.set(id, this.#create(id, [...this.members.keys()]));
  }

  peer(id: string, isSelf = false): RegisteredPeer {
    const target = () => this.get(id);
    const exchange = async (request: ExchangeRequest): Promise<ExchangeResponse> => {
      const member = target();
      member.exchanges++;
      this.nowMs += 1;
      if (member.isDown) throw refused();
      if (member.isMute) throw new PortholeError('NOT_SUPPORTED', 'no such route');
      const response = await member.gossip.respond(JSON.parse(JSON.stringify(request)));
      this.nowMs += 1;
      const sent = JSON.parse(JSON.stringify(response));
      return (member.lie ? member.lie(sent) : sent) as ExchangeResponse;
    };
    return { member: memberOf(id, isSelf), state: {} as NodeState, forget: async () => 0, knowledge: { exchange } };
  }

  #create(id: string, ids: readonly string[]): FakeMember {
    const members = ids.map((each) => memberOf(each, each === id));
    const learned: FakeMember['learned'] = new Map();
    const gossip = new Gossip({
      peers: { all: () => ids.map((each) => this.peer(each, each === id)) },
      selfId: id,
      directory: { members, onChange: () => () => {}, learn: () => {} },
      clocks: {
        learn: (of, { clockMs, takenMs, uncertaintyMs }) =>
          learned.set(of, { clockMs: clockMs - takenMs, uncertaintyMs }),
      },
      inspect: async ({ member }) => this.#look(member.id),
      refreshMs: REFRESH_MS,
      timeoutMs: 5000,
      directMembers: this.#directMembers,
      random: () => this.#nextRandom(),
      source: { nowMs: () => this.nowMs + clockOffset(id), runningMs: () => this.nowMs },
    });
    return { isDown: false, isMute: false, gossip, exchanges: 0, looks: 0, learned };
  }

  #look(id: string): Inspection {
    const member = this.get(id);
    member.looks++;
    if (member.isDown) throw refused();
    const facts = {
      node: memberOf(id, false).node,
      timeZone: 'UTC',
      uptimeMs: this.nowMs,
      lastRecordMs: null,
      recentErrors: 3,
      problems: [],
    };
    const capabilities = member.isMute ? [] : ['clusterExchange'];
    return { facts, role: 'node', labels: {}, capabilities, clockMs: this.nowMs + clockOffset(id), tripMs: 0 };
  }

  /** The same in each run. */
  #nextRandom(): number {
    this.#random = (Math.imul(this.#random, 1_103_515_245) + 12_345) >>> 0;
    return this.#random / 2 ** 32;
  }
}

/** The clock of each member is wrong in its own way. */
export function clockOffset(id: string): number {
  return 1_700_000_000_000 + Number(id.slice(1)) * 1000;
}

function memberOf(id: string, isSelf: boolean): Member {
  const node = { hostIp: '10.0.0.1', hostName: id, grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };
  return { id, role: 'node', labels: {}, node, url: `http://${id}.invalid`, isSelf };
}

function refused(): PortholeError {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  return new PortholeError('UNREACHABLE', 'refused', { cause });
}
