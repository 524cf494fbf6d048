import { codeOf, MEMBER_ID, type Member, PortholeError, quoteInput, readLabels } from '@porthole/contract';
import type { EtcdAccess } from './etcd/etcd-access.ts';
import { checkMemberId, readMemberAddress } from './member-address.ts';
import { type Departure, type Membership, type MembershipLog, type SelfMember, selfMember } from './membership.ts';
import { readJsonObject, readNodeObject, refusal } from './node-object.ts';
import { RegistryMembers } from './registry-members.ts';

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
      `invalid cluster name ${quoteInput(cluster)}: expected letters, digits and ._-`,
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
    statePrefix: `/porthole/${cluster}/state/`,
    viewPrefix: `/porthole/${cluster}/views/`,
    read: (key, value) => readEtcdValue(key.slice(prefix.length), value),
    readDeparture: (key, value) => readDeparture(key.slice(prefix.length), value),
    registration: {
      key: `${prefix}${self.id}`,
      value: encodeEtcdValue(self),
      leaseSeconds,
      departure: {
        key: `${prefix}${departureName(self.id)}`,
        // clock: when a node left
        value: () => encodeDeparture({ onlineTime: self.node.onlineTime, leftMs: Date.now() }),
        keepSeconds: keepDeparturesSeconds,
      },
    },
  });
}

const ROLE = /^[A-Za-z0-9_-]{1,32}$/;

/** The registration of a node: docs/cluster.md, "Keys in etcd". */
export function encodeEtcdValue({ id, role, labels, url, node }: Member): string {
  return JSON.stringify({ id, role, labels, url, node });
}

/** Decodes a member from its key, without prefix, and value. Throws if they are invalid. */
export function readEtcdValue(name: string, value: Uint8Array): Member {
  checkMemberId(name);
  const { id, role, labels, url, node } = readJsonObject(value);
  if (id !== name) throw refusal('its id differs from its key');
  if (typeof role !== 'string' || !ROLE.test(role)) throw refusal('its role is not a short name');
  if (typeof url !== 'string') throw refusal('its url is not a string');
  const address = readMemberAddress(url);
  return { id, role, labels: readLabels(labels), node: readNodeObject(node), url: address.url, isSelf: false };
}

/** Below the key of the member, so that permission to register includes permission to leave; ids contain no slash. */
const SUFFIX = '/left';

function departureName(id: string): string {
  return `${id}${SUFFIX}`;
}

/** Written by a node that shuts down cleanly: docs/cluster.md, "Keys in etcd". */
function encodeDeparture({ onlineTime, leftMs }: Departure): string {
  return JSON.stringify({ onlineTime, leftMs });
}

/** Takes the key without its prefix; `undefined` if it is not the key of a departure. */
function readDeparture(
  name: string,
  value: Uint8Array | undefined,
): { id: string; departure: Departure | undefined } | undefined {
  if (!name.endsWith(SUFFIX)) return undefined;
  const id = name.slice(0, -SUFFIX.length);
  if (!MEMBER_ID.test(id)) return undefined;
  return { id, departure: value && readValue(value) };
}

function readValue(value: Uint8Array): Departure | undefined {
  try {
    const { onlineTime, leftMs } = readJsonObject(value);
    return isTime(onlineTime) && isTime(leftMs) ? { onlineTime, leftMs } : undefined;
  } catch (error) {
    if (codeOf(error) !== 'BAD_ANSWER') throw error;
    return undefined; // an invalid departure is ignored
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
