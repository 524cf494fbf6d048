import { isIP } from 'node:net';
import { MEMBER_ID, MEMBER_ROLE } from '@porthole/contract';
import type { SettingKind } from './setting-kind.ts';
import { parseOrigin, textKind } from './text-kinds.ts';

/** Part of the keys in a registry. */
const CLUSTER_NAME = /^[A-Za-z0-9._-]{1,64}$/;

export function clusterName(): SettingKind<string> {
  return textKind({
    name: 'cluster name',
    noun: 'a cluster name',
    accepted: '1 to 64 letters, digits, dots, dashes and underscores',
    parse: (text) => (CLUSTER_NAME.test(text) ? text : undefined),
  });
}

export function role(): SettingKind<string> {
  return textKind({
    name: 'role',
    noun: 'a role',
    accepted: '1 to 32 letters, digits, dashes and underscores',
    parse: (text) => (MEMBER_ROLE.test(text) ? text : undefined),
  });
}

export function memberId(): SettingKind<string> {
  return textKind({
    name: 'member id',
    noun: 'a member id',
    accepted: '1 to 128 letters, digits and ".:_-", or ""',
    parse: (text) => (text === '' || isMemberId(text) ? text : undefined),
  });
}

/** `https://host:port` of a registry. */
export function endpoint(): SettingKind<string> {
  return textKind({
    name: 'URL',
    noun: 'a URL',
    accepted: 'like "http://10.0.0.7:2379", without a path, a user and a password',
    parse: parseEndpoint,
  });
}

/** A network members may be in. */
export function network(): SettingKind<string> {
  return textKind({
    name: 'network',
    noun: 'a network',
    accepted: 'an address and a prefix length, like "10.0.0.0/8" or "fd00::/8"',
    parse: (text) => (isNetwork(text) ? text.toLowerCase() : undefined),
  });
}

function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (length === undefined) return true;
  return /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

/** The URL of a member, optionally with its id: `broker-1=https://10.0.0.7:7300`. */
export function memberAddress(): SettingKind<string> {
  return textKind({
    name: 'member',
    noun: 'a member',
    accepted: 'a URL like "http://10.0.0.7:7300", or "ID=URL", without a path, a user and a password',
    parse: (text) => {
      const [, id, url = ''] = /^(?:([^=/]*)=)?(.*)$/s.exec(text) ?? [];
      const address = parseEndpoint(url);
      if (address === undefined || id === undefined) return address;
      return isMemberId(id) ? `${id}=${address}` : undefined;
    },
  });
}

/** `.` and `..` have a meaning in paths. */
function isMemberId(text: string): boolean {
  return MEMBER_ID.test(text) && text !== '.' && text !== '..';
}

function parseEndpoint(text: string): string | undefined {
  return parseOrigin(text.replace(/\/$/, ''));
}
