import { PortholeError } from '@porthole/contract';
import { departureName, encodeDeparture, readDeparture } from './departure-value.ts';
import type { EtcdAccess } from './etcd/etcd-connection.ts';
import { encodeEtcdValue, readEtcdValue } from './etcd-value.ts';
import { quote } from './member-id.ts';
import type { Membership } from './membership.ts';
import type { MembershipLog } from './membership-log.ts';
import { RegistryMembers } from './registry-members.ts';
import { type SelfMember, selfMember } from './self-member.ts';

const WEEK_SECONDS = 7 * 24 * 3600;

const CLUSTER_NAME = /^[A-Za-z0-9._-]{1,128}$/;

export interface EtcdMembersOptions extends EtcdAccess {
  self: SelfMember;
  /** `http://host:port`, `https://host:port` or `host:port`; tried in this order, again and again. */
  endpoints: readonly string[];
  /** Name of the cluster; those with another do not see each other. */
  cluster: string;
  /** How long a node that was killed stays listed. etcd makes it longer where it is below its own minimum (about 2 s). */
  leaseSeconds: number;
  /** How long the registry keeps that a node has left. A week unless given. */
  keepDeparturesSeconds?: number;
  /** This node included; what is beyond is not listed. */
  maxMembers?: number;
  log: MembershipLog;
}

/** Members that register themselves in etcd. Throws PARAMETER_INVALID for options that can never work. */
export function createEtcdMembers({
  cluster,
  leaseSeconds,
  keepDeparturesSeconds = WEEK_SECONDS,
  ...options
}: EtcdMembersOptions): Membership {
  if (!CLUSTER_NAME.test(cluster)) {
    throw new PortholeError('PARAMETER_INVALID', `${quote(cluster)} is no name of a cluster: letters, digits and ._-`);
  }
  if (!Number.isInteger(leaseSeconds) || leaseSeconds < 1) {
    throw new PortholeError('PARAMETER_INVALID', `a lease of ${leaseSeconds} seconds makes no sense`);
  }
  const self = selfMember(options.self);
  const prefix = `/porthole/${cluster}/members/`;
  return new RegistryMembers({
    ...options,
    kind: 'etcd',
    self,
    prefixes: [prefix],
    read: (key, value) => readEtcdValue(key.slice(prefix.length), value),
    readDeparture: (key, value) => readDeparture(key.slice(prefix.length), value),
    registration: {
      key: `${prefix}${self.id}`,
      value: encodeEtcdValue(self),
      leaseSeconds,
      departure: {
        key: `${prefix}${departureName(self.id)}`,
        value: () => encodeDeparture({ onlineTime: self.node.onlineTime, leftMs: Date.now() }),
        keepSeconds: keepDeparturesSeconds,
      },
    },
  });
}
