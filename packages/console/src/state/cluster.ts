import type { ClusterNodes } from '@porthole/client';
import { Resource } from './resource.ts';
import { session } from './session.ts';

const REFRESH_MS = 10_000;

const COLOURS = 8;

/** The nodes of the cluster, as every page shows them. */
export const cluster = new Resource<ClusterNodes>((signal) => session.client.cluster.nodes({ signal }), {
  everyMs: REFRESH_MS,
});

/** 1 to 8, for the class `node-1` to `node-8`: the same on every page as long as the members are the same. */
export function nodeColour(nodeId: string): number {
  return colourIn(cluster.state.value.value?.nodes.map(({ id }) => id) ?? [], nodeId);
}

/** By the order of ids, whatever order they are told in. One that is not among them has a colour by its name. */
export function colourIn(ids: readonly string[], nodeId: string): number {
  const index = ids.toSorted().indexOf(nodeId);
  if (index >= 0) return (index % COLOURS) + 1;
  let sum = 0;
  for (const letter of nodeId) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_536;
  return (sum % COLOURS) + 1;
}
