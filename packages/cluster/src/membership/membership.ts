import type { Member, MembershipState, NodeObject } from '@porthole/contract';

/** What a node leaves in the registry when it stops in order. */
export interface Departure {
  /** Of the run that stopped; a later run of the same id that is missing has not left. */
  onlineTime: number;
  /** By its own clock. */
  leftMs: number;
}

/** What a member says of itself. */
export interface MemberFacts {
  role: string;
  node: NodeObject;
}

/** Who is there. Where that comes from (a list, etcd, LinDB's registrations) is behind it. */
export interface Membership {
  /** Known members, this node included, ordered by id. Changes only between two calls of the listeners. */
  readonly members: readonly Member[];
  readonly state: MembershipState;
  /** How a member that is not listed any more stopped, where it deregistered itself. */
  getDeparture?(id: string): Departure | undefined;
  /** For a list that names addresses only: takes what a member says of itself. */
  learn?(id: string, facts: MemberFacts): void;
  /** Called after every change of members or state; returns what ends that. */
  onChange(listener: () => void): () => void;
  /**
   * Registers this node where there is a registry, and begins to watch. Resolves when the members are known, or as soon
   * as it is known that the registry does not answer: then the node is alone until it does. Never throws for that.
   */
  start(): Promise<void>;
  /** Deregisters at once and ends. More than once is harmless. */
  close(): Promise<void>;
}
