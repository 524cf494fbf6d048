import { BlockList, isIP } from 'node:net';

const LOOPBACK = loopbackAddresses();

/** Whether only this machine can reach a server on this host. A name other than `localhost` may resolve to anything. */
export function isLoopbackHost(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return /^localhost\.?$/i.test(host);
  return LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

function loopbackAddresses(): BlockList {
  const addresses = new BlockList();
  // Also matches the same addresses written as IPv6 (::ffff:127.0.0.1).
  addresses.addSubnet('127.0.0.0', 8, 'ipv4');
  addresses.addAddress('::1', 'ipv6');
  return addresses;
}
