import { codeOf, MEMBER_ID, type Member } from '@porthole/contract';
import { checkMemberId } from './member-id.ts';
import { readAddress } from './member-url.ts';
import type { Departure } from './membership.ts';
import { readJsonObject, readNodeObject, refusal } from './node-object.ts';

const ROLE = /^[A-Za-z0-9_-]{1,32}$/;

/** The registration of a node: docs/cluster.md, "Keys in etcd". */
export function encodeEtcdValue({ id, role, url, node }: Member): string {
  return JSON.stringify({ id, role, url, node });
}

/** Decodes a member from its key, without prefix, and value. Throws if they are invalid. */
export function readEtcdValue(name: string, value: Uint8Array): Member {
  checkMemberId(name);
  const { id, role, url, node } = readJsonObject(value);
  if (id !== name) throw refusal('its id differs from its key');
  if (typeof role !== 'string' || !ROLE.test(role)) throw refusal('its role is not a short name');
  if (typeof url !== 'string') throw refusal('its url is not a string');
  return { id, role, node: readNodeObject(node), url: readAddress(url).url, isSelf: false };
}

/** Below the key of the member, so that permission to register includes permission to leave; ids contain no slash. */
const SUFFIX = '/left';

export function departureName(id: string): string {
  return `${id}${SUFFIX}`;
}

/** Written by a node that shuts down cleanly: docs/cluster.md, "Keys in etcd". */
export function encodeDeparture({ onlineTime, leftMs }: Departure): string {
  return JSON.stringify({ onlineTime, leftMs });
}

/** Takes the key without its prefix; `undefined` if it is not the key of a departure. */
export function readDeparture(
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
