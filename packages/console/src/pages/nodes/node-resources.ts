import type { ClusterConfigDiff } from '@porthole/client';
import { session } from '../../state/session.ts';
import { canFollow, type TimeRange } from '../../state/time-range.ts';
import { type Loaded, useLoaded } from '../../ui/hooks.ts';
import { type ErrorStrip, loadErrorStrip } from './error-counts.ts';

/* What several pages show of nodes. It outlives them, so that returning to one shows data at once. */

/** Makes every node scan its logs or configuration: refreshed less often than the node list. */
export const HEAVY_MS = 30_000;

interface Shown {
  /** Empty: all nodes. */
  labels: readonly string[];
  /** Nothing new falls into a range that has an end. */
  range?: TimeRange | null;
}

/** What nodes with certain labels report of a time range; of each kind, the last one is kept. */
export function useReported<Value>(
  kept: string,
  { labels, range = null }: Shown,
  load: (selection: { labels?: readonly string[] }, signal: AbortSignal) => Promise<Value>,
): Loaded<Value> {
  const selection = labels.length === 0 ? {} : { labels };
  return useLoaded(JSON.stringify([labels, range]), (signal) => load(selection, signal), {
    kept,
    ...(canFollow(range) && { everyMs: HEAVY_MS }),
  });
}

export function useStrip(shown: Shown): Loaded<ErrorStrip> {
  const { range = null } = shown;
  return useReported('strip', shown, (selection, signal) => loadErrorStrip(selection, range, signal));
}

export function useDrift(labels: readonly string[]): Loaded<ClusterConfigDiff> {
  return useReported('drift', { labels }, (selection, signal) => session.client.configDiff(selection, { signal }));
}
