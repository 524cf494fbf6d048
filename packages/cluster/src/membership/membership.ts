import type { Labels, Member, MembershipState, NodeObject } from '@porthole/contract';
import { checkMemberId, readMemberAddress } from './member-address.ts';

/** What a node writes to the registry on a clean shutdown. */
export interface Departure {
  /** Start time of the run that stopped; a later run of the same id has not left. */
  onlineTime: number;
  /** By its own clock. */
  leftMs: number;
}

/** What a member reports about itself. */
export interface MemberFacts {
  role: string;
  /** Absent: unchanged. */
  labels?: Labels | undefined;
  node: NodeObject;
}

/** The members of the cluster, from a static list, etcd or the registrations of LinDB. */
export interface Membership {
  /** Known members including this node, ordered by id. Listeners are called after every change. */
  readonly members: readonly Member[];
  readonly state: MembershipState;
  /** Where another node is that is registered with the id of this one; `null`: there is none. */
  readonly namesakeUrl?: string | null;
  /** The departure of a former member, if it deregistered. */
  getDeparture?(id: string): Departure | undefined;
  /** For a static list: stores what a member reports about itself. */
  learn?(id: string, facts: MemberFacts): void;
  /** Where nodes keep their state for the others; absent without a registry of nodes like this one. */
  readonly states?: StateKeys;
  /** What the members keep together; absent without a registry of nodes like this one. */
  readonly views?: ViewKeys;
  /** Called after every change of members or state; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /**
   * Registers this node if there is a registry, and starts watching. Resolves when the members are known or the registry turns
   * out to be unavailable: the node is then alone until it responds. Never throws because of that.
   */
  start(): Promise<void>;
  /** Deregisters and stops watching. Idempotent. */
  close(): Promise<void>;
}

/** A small value of each member in the registry, which ends with its registration; and others by name. */
export interface StateKeys {
  /** Replaces that of this node. */
  publish(value: string, name?: string): void;
  /** Those of all members by id, with a name by `id/name`; anyone with access can have written them. Rejects if the registry does not respond. */
  read(options: { signal: AbortSignal }): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Values by key in the registry that outlive the nodes that wrote them. Both reject if the registry does not respond. */
export interface ViewKeys {
  /** All of them, but none of more than `maxBytes`; anyone with access can have written them. */
  read(options: { maxBytes: number; maxKeys: number; signal: AbortSignal }): Promise<ReadonlyMap<string, Uint8Array>>;
  write(key: string, value: string, options: { signal: AbortSignal }): Promise<void>;
}

type LogMethod = (tag: string, message: string, context?: Readonly<Record<string, unknown>>) => void;

/** The part of the own log that a membership needs. */
export interface MembershipLog {
  readonly info: LogMethod;
  readonly warn: LogMethod;
}

/** This node as other members see it. */
export type SelfMember = Omit<Member, 'isSelf'>;

/** Throws PARAMETER_INVALID if other members would reject it. */
export function selfMember({ id, role, labels, node, url }: SelfMember): Member {
  return { id: checkMemberId(id), role, labels, node, url: readMemberAddress(url).url, isSelf: true };
}

export function byId(left: Member, right: Member): number {
  return left.id < right.id ? -1 : 1;
}
