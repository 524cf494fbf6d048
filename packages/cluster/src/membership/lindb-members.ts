import { type Member, PortholeError, quoteInput } from '@porthole/contract';
import type { EtcdAccess } from './etcd/etcd-access.ts';
import { checkMemberId, readAddress } from './member-address.ts';
import { type Membership, type MembershipLog, type SelfMember, selfMember } from './membership.ts';
import { readJsonObject, readNodeObject, refusal } from './node-object.ts';
import { RegistryMembers } from './registry-members.ts';

const DEFAULT_NAMESPACE = '/lindb-cluster';

/** Paths of LinDB registrations below the namespace. */
const ROLES = [
  { role: 'broker', path: '/normal/live/nodes/' },
  { role: 'storage', path: '/normal/storage/live/nodes/' },
  { role: 'root', path: '/root/live/nodes/' },
];

export interface LindbMembersOptions extends EtcdAccess {
  self: SelfMember;
  /** LinDB's own etcd: `http://host:port`, `https://host:port` or `host:port`. */
  endpoints: readonly string[];
  /** The `namespace` setting of LinDB. */
  namespace?: string;
  /** Including this node; further ones are ignored. */
  maxMembers?: number;
  log: MembershipLog;
}

/** The registered LinDB nodes plus this node. Read-only: nothing is written to the etcd of LinDB. */
export function createLindbMembers(options: LindbMembersOptions): Membership {
  const namespace = (options.namespace ?? DEFAULT_NAMESPACE).replace(/\/+$/, '');
  if (!/^[^\0]{0,512}$/.test(namespace)) {
    throw new PortholeError('PARAMETER_INVALID', `invalid namespace ${quoteInput(namespace)}`);
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

/** Decodes a LinDB registration. LinDB supports plain HTTP only. Throws if the value is invalid. */
export function readLindbValue(role: string, value: Uint8Array): Member {
  const node = readNodeObject(readJsonObject(value));
  const { hostIp, httpPort } = node;
  if (hostIp === '' || /[^A-Za-z0-9.:_-]/.test(hostIp)) throw refusal('its hostIp is not an address');
  if (httpPort === 0) throw refusal('it has no HTTP port');
  const host = hostIp.includes(':') ? `[${hostIp}]` : hostIp;
  const { url } = readAddress(`http://${host}:${httpPort}`);
  return { id: checkMemberId(`${role}-${hostIp}:${httpPort}`), role, labels: {}, node, url, isSelf: false };
}
