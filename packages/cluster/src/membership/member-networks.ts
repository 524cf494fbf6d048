import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { PortholeError } from '@porthole/contract';

/**
 * Networks without members: unspecified, multicast and link-local addresses, and cloud metadata services, which hand out
 * credentials.
 */
const NEVER_MEMBERS = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  '::/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  'fd00:ec2::254/128',
  // The same embedded in IPv6 (NAT64, 6to4).
  '64:ff9b::a9fe:0/112',
  '::a9fe:0/112',
  '64:ff9b::/112',
  '2002:a9fe::/32',
];

/** Setting name for errors. */
const SETTING = 'cluster.member-networks';

/** Restricts the addresses of members. */
export interface MemberNetworks {
  /** Throws MEMBER_REFUSED for a forbidden address. Host names pass: they are checked when resolved. */
  check(host: string): void;
  /** For connections: resolves a name to its allowed addresses, or fails. */
  lookup: LookupFunction;
}

/**
 * Networks in CIDR notation; without any, all but `NEVER_MEMBERS` are allowed. Throws for an invalid network. `who` is at these
 * addresses, for errors.
 */
export function createMemberNetworks(allowed: readonly string[] = [], who = 'members'): MemberNetworks {
  const list = createBlockList(allowed.length > 0 ? allowed : NEVER_MEMBERS);
  const isAllowed = (address: string): boolean => contains(list, address) === allowed.length > 0;
  const refusal = (address: string): PortholeError => {
    const why =
      allowed.length > 0
        ? `it is not in a network of ${SETTING}`
        : `it is link-local, unspecified, multicast or a cloud's metadata service${who === 'members' ? `; ${SETTING} can allow it` : ''}`;
    return new PortholeError('MEMBER_REFUSED', `${who} at ${address} are not contacted: ${why}`);
  };
  return {
    check(host) {
      const bare = host.replace(/^\[|\]$/g, '');
      if (isIP(bare) !== 0 && !isAllowed(bare)) throw refusal(bare);
    },
    lookup(hostname, options, callback) {
      systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, '');
        const usable = addresses.filter(({ address }) => isAllowed(address));
        const [first] = usable;
        if (first === undefined) return callback(refusal(addresses[0]?.address ?? hostname), '');
        if (options.all) callback(null, usable);
        else callback(null, first.address, first.family);
      });
    },
  };
}

function createBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    list.addSubnet(address, length === undefined ? (family === 'ipv4' ? 32 : 128) : Number(length), family);
  }
  return list;
}

/** IPv4-mapped IPv6 addresses (`::ffff:10.0.0.1`) count as IPv4. */
function contains(list: BlockList, address: string): boolean {
  const [bare = ''] = address.split('%');
  return list.check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6');
}
