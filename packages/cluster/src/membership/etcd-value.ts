import type { Member } from '@porthole/contract';
import { checkMemberId } from './member-id.ts';
import { readAddress } from './member-url.ts';
import { readJsonObject, readNodeObject, refusal } from './node-object.ts';

const ROLE = /^[A-Za-z0-9_-]{1,32}$/;

/** What a node writes about itself: docs/cluster.md, "Keys in etcd". */
export function encodeEtcdValue({ id, role, url, node }: Member): string {
  return JSON.stringify({ id, role, url, node });
}

/** The member that a key, without its prefix, and its value tell of. Throws what is wrong with them. */
export function readEtcdValue(name: string, value: Uint8Array): Member {
  checkMemberId(name);
  const { id, role, url, node } = readJsonObject(value);
  if (id !== name) throw refusal('its id is not that of its key');
  if (typeof role !== 'string' || !ROLE.test(role)) throw refusal('its role is no short name');
  if (typeof url !== 'string') throw refusal('its url is no text');
  return { id, role, node: readNodeObject(node), url: readAddress(url).url, isSelf: false };
}
