import { MEMBER_ID } from '@porthole/contract';
import type { Departure } from './membership.ts';
import { readJsonObject } from './node-object.ts';

/** Below the key of the member, so that whoever may register may also leave; no id holds a slash. */
const SUFFIX = '/left';

export function departureName(id: string): string {
  return `${id}${SUFFIX}`;
}

/** What a node that stops in order writes: docs/cluster.md, "Keys in etcd". */
export function encodeDeparture({ onlineTime, leftMs }: Departure): string {
  return JSON.stringify({ onlineTime, leftMs });
}

/** By the key without its prefix; `undefined` where that is no key of a departure. */
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
  } catch {
    return undefined; // whoever cannot say that it left has not left
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
