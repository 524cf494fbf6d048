import { PortholeError } from '@porthole/contract';
import type { EtcdAccess } from '../etcd/etcd-connection.ts';
import { quote } from '../member-id.ts';
import type { Membership } from '../membership.ts';
import type { MembershipLog } from '../membership-log.ts';
import { RegistryMembers } from '../registry-members.ts';
import { type SelfMember, selfMember } from '../self-member.ts';
import { readLindbValue } from './lindb-value.ts';

const DEFAULT_NAMESPACE = '/lindb-cluster';

/** Where LinDB's nodes register, below its namespace. */
const ROLES = [
  { role: 'broker', path: '/normal/live/nodes/' },
  { role: 'storage', path: '/normal/storage/live/nodes/' },
  { role: 'root', path: '/root/live/nodes/' },
];

export interface LindbMembersOptions extends EtcdAccess {
  self: SelfMember;
  /** LinDB's own etcd: `http://host:port`, `https://host:port` or `host:port`. */
  endpoints: readonly string[];
  /** LinDB's setting `namespace`. */
  namespace?: string;
  /** This node included; what is beyond is not listed. */
  maxMembers?: number;
  log: MembershipLog;
}

/** LinDB's nodes as they registered themselves, and this node beside them. Reads only: nothing is written to LinDB's etcd. */
export function createLindbMembers(options: LindbMembersOptions): Membership {
  const namespace = (options.namespace ?? DEFAULT_NAMESPACE).replace(/\/+$/, '');
  if (!/^[^\0]{0,512}$/.test(namespace)) {
    throw new PortholeError('PARAMETER_INVALID', `${quote(namespace)} is no namespace`);
  }
  const places = ROLES.map(({ role, path }) => ({ role, prefix: `${namespace}${path}` }));
  return new RegistryMembers({
    ...options,
    kind: 'lindb',
    self: selfMember(options.self),
    prefixes: places.map(({ prefix }) => prefix),
    read: (key, value) => {
      const place = places.find(({ prefix }) => key.startsWith(prefix));
      return readLindbValue(place?.role ?? 'node', value);
    },
  });
}
