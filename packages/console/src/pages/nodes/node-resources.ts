import type { ClusterConfigDiff } from '@porthole/client';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { canFollow, type TimeRange } from '../../state/view.ts';
import { type ErrorStrip, loadErrorStrip } from './error-counts.ts';

/* What several pages show of nodes. It outlives them, so that returning to one shows data at once. */

/** Makes every node scan its logs or configuration: refreshed less often than the node list. */
export const HEAVY_MS = 30_000;

const kept = new Map<string, { key: string; resource: Resource<unknown> }>();

interface Shown {
  /** Empty: all nodes. */
  labels: readonly string[];
  /** Nothing new falls into a range that has an end. */
  range?: TimeRange | null;
}

/** What nodes with certain labels report of a time range; of each kind, the last one is kept. */
export function keptResource<Value>(
  kind: string,
  { labels, range = null }: Shown,
  load: (selection: { labels?: readonly string[] }, signal: AbortSignal) => Promise<Value>,
): Resource<Value> {
  const key = JSON.stringify([labels, range]);
  const known = kept.get(kind);
  if (known?.key === key) return known.resource as Resource<Value>;
  const selection = labels.length === 0 ? {} : { labels };
  const every = canFollow(range) ? { everyMs: HEAVY_MS } : {};
  const resource = new Resource((signal) => load(selection, signal), every);
  kept.set(kind, { key, resource });
  return resource;
}

export function stripResource(shown: Shown): Resource<ErrorStrip> {
  const { range = null } = shown;
  return keptResource('strip', shown, (selection, signal) => loadErrorStrip(selection, range, signal));
}

export function driftResource(labels: readonly string[]): Resource<ClusterConfigDiff> {
  return keptResource('drift', { labels }, (selection, signal) => session.client.configDiff(selection, { signal }));
}
