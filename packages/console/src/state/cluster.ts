import type { ClusterNodes } from '@porthole/client';
import { Resource } from './resource.ts';
import { session } from './session.ts';

const REFRESH_MS = 10_000;

const COLOURS = 8;

/** The nodes of the cluster, shared by all pages. */
export const cluster = new Resource<ClusterNodes>((signal) => session.client.cluster.nodes({ signal }), {
  everyMs: REFRESH_MS,
});

/** Configuration keys of the node that serves this page; loaded once, on first use. */
export const configKeys = new Resource<string[]>(async (signal) =>
  (await session.client.settings({ signal })).settings.map(({ key }) => key),
);

/** 1 to 8, for the classes `node-1` to `node-8`; the same on every page as long as the members are the same. */
export function nodeColour(nodeId: string): number {
  return colourIn(cluster.state.value.value?.nodes.map(({ id }) => id) ?? [], nodeId);
}

/** Assigned by the order of ids. A node that is not a member gets a colour by its name. */
export function colourIn(ids: readonly string[], nodeId: string): number {
  const index = ids.toSorted().indexOf(nodeId);
  if (index >= 0) return (index % COLOURS) + 1;
  let sum = 0;
  for (const letter of nodeId) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_536;
  return (sum % COLOURS) + 1;
}
