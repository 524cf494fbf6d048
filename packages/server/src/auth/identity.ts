import { isIPv6 } from 'node:net';
import { isRole, ROLES, type Role } from '@porthole/contract';
import { escapeRegex } from '@porthole/logs/query';

/** How a client was authenticated. */
type CredentialKind = 'token' | 'jwt' | 'certificate' | 'program' | 'anonymous';

/** An authenticated client. */
export interface Identity {
  name: string;
  kind: CredentialKind;
  roles: readonly Role[];
  /** It sent the cluster token of this node: another node, or a client that shares its token. */
  isMember?: true;
}

/** Every client, if no credentials are required. */
export const ANONYMOUS: Identity = { name: 'anonymous', kind: 'anonymous', roles: ROLES };

/**
 * The identity of a client; or why it was refused, as a message for the client; or that nothing is known, because the
 * program that embeds the node failed to identify it.
 */
export type AuthResult = { identity: Identity } | { refusal: string } | { isUnknown: true };

interface RoleRule {
  pattern: RegExp;
  roles: readonly Role[];
}

/** Maps values to roles by rules like `ops-*=viewer+config`, which were validated with the settings. */
export function createRoleRules(rules: readonly string[]): (values: readonly string[]) => Role[] {
  const parsed = rules.map(parseRule);
  return (values) => {
    const given = new Set(
      parsed.flatMap(({ pattern, roles }) => (values.some((value) => pattern.test(value)) ? roles : [])),
    );
    return ROLES.filter((role) => given.has(role));
  };
}

function parseRule(rule: string): RoleRule {
  const equals = rule.lastIndexOf('=');
  const source = rule.slice(0, equals).split(/\*+/).map(escapeRegex).join('.*');
  return {
    pattern: new RegExp(`^${source}$`, 'su'),
    roles: rule
      .slice(equals + 1)
      .split('+')
      .filter(isRole),
  };
}

/** Groups of an IPv6 address that identify a client: an owner of one address usually owns the whole /64. */
const NETWORK_GROUPS = 4;

/** An address in its usual form: IPv4 without the `::ffff:` prefix of dual-stack sockets. */
export function plainAddress(address = ''): string {
  // Every request asks, and nearly all clients have IPv4.
  if (!address.includes(':')) return address;
  return address.replace(/^\[|\]$/g, '').replace(/^::ffff:(?=\d+\.)/i, '');
}

/** The key that rates and failures are counted by: the address, or the /64 of an IPv6 address. */
export function clientNetwork(address: string | undefined): string {
  const plain = plainAddress(address);
  const bare = plain.includes('%') ? plain.replace(/%.*$/, '') : plain;
  if (!bare.includes(':') || !isIPv6(bare)) return bare;
  const [front = '', back] = bare.split('::');
  const groups = front === '' ? [] : front.split(':');
  const missing = back === undefined ? 0 : 8 - groups.length - (back === '' ? 0 : back.split(':').length);
  const full = [...groups, ...Array<string>(missing).fill('0'), ...(back ? back.split(':') : [])];
  const network = full.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

const MEMBER = 'member:';

/**
 * The key that streams and searches are counted by: the identity if known, else the network. Other nodes all have the same
 * identity: each is a client of its own.
 */
export function clientKey({ identity, address }: { identity: Identity | undefined; address: string }): string {
  if (identity?.isMember) return `${MEMBER}${clientNetwork(address)}`;
  return identity === undefined || identity.kind === 'anonymous'
    ? clientNetwork(address)
    : `${identity.kind}:${identity.name}`;
}

/** Whether it is another node, which asks for many clients. */
export function isMemberKey(client: string): boolean {
  return client.startsWith(MEMBER);
}
