import type { Member } from '@porthole/contract';
import { checkMemberId } from '../member-id.ts';
import { readAddress } from '../member-url.ts';
import { readJsonObject, readNodeObject, refusal } from '../node-object.ts';

/** A LinDB node by what it registered. It is asked over plain HTTP, the only way it speaks. Throws what is wrong. */
export function readLindbValue(role: string, value: Uint8Array): Member {
  const node = readNodeObject(readJsonObject(value));
  const { hostIp, httpPort } = node;
  if (hostIp === '' || /[^A-Za-z0-9.:_-]/.test(hostIp)) throw refusal('its hostIp is no address');
  if (httpPort === 0) throw refusal('it has no HTTP port');
  const host = hostIp.includes(':') ? `[${hostIp}]` : hostIp;
  const { url } = readAddress(`http://${host}:${httpPort}`);
  return { id: checkMemberId(`${role}-${hostIp}:${httpPort}`), role, node, url, isSelf: false };
}
