import type { Member, MembershipState } from '@porthole/contract';

/** Who is there. Where that comes from (a list, etcd, LinDB's registrations) is behind it. */
export interface Membership {
  /** Known members, this node included, ordered by id. Changes only between two calls of the listeners. */
  readonly members: readonly Member[];
  readonly state: MembershipState;
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
