import { PortholeError } from '@porthole/contract';
import type { EtcdAccess } from './etcd/etcd-connection.ts';
import { departureName, encodeDeparture, encodeEtcdValue, readDeparture, readEtcdValue } from './etcd-value.ts';
import { quote } from './member-id.ts';
import type { Membership, MembershipLog } from './membership.ts';
import { RegistryMembers } from './registry-members.ts';
import { type SelfMember, selfMember } from './self-member.ts';

const WEEK_SECONDS = 7 * 24 * 3600;

const CLUSTER_NAME = /^[A-Za-z0-9._-]{1,128}$/;

export interface EtcdMembersOptions extends EtcdAccess {
  self: SelfMember;
  /** `http://host:port`, `https://host:port` or `host:port`; tried in this order, repeatedly. */
  endpoints: readonly string[];
  /** Name of the cluster; nodes with another name are separate. */
  cluster: string;
  /** How long a killed node stays listed. etcd raises it to its own minimum (about 2 s). */
  leaseSeconds: number;
  /** How long the registry remembers that a node left. Default: a week. */
  keepDeparturesSeconds?: number;
  /** Including this node; further ones are ignored. */
  maxMembers?: number;
  log: MembershipLog;
}

/** Members that register themselves in etcd. Throws PARAMETER_INVALID for invalid options. */
export function createEtcdMembers({
  cluster,
  leaseSeconds,
  keepDeparturesSeconds = WEEK_SECONDS,
  ...options
}: EtcdMembersOptions): Membership {
  if (!CLUSTER_NAME.test(cluster)) {
    throw new PortholeError(
      'PARAMETER_INVALID',
      `invalid cluster name ${quote(cluster)}: expected letters, digits and ._-`,
    );
  }
  if (!Number.isInteger(leaseSeconds) || leaseSeconds < 1) {
    throw new PortholeError('PARAMETER_INVALID', `invalid lease of ${leaseSeconds} seconds`);
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
