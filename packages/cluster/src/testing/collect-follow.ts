import type { ClusterFollowItem } from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs/types';
import { onTestFinished } from 'vitest';
import { type ClusterFollowOptions, followCluster } from '../records/follow/cluster-follow.ts';
import type { ClusterDeps } from '../records/search/cluster-deps.ts';

export interface CollectedFollow {
  readonly items: ClusterFollowItem[];
  /** Messages of records, and types of other items. */
  readonly summaries: string[];
  /** Resolves with the first batch. */
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Collects the items of a follow; stopped when the test ends. */
export function collectFollow(
  deps: ClusterDeps,
  { query = { start: 'end' }, ...options }: ClusterFollowOptions & { query?: FollowQuery } = {},
): CollectedFollow {
  const controller = new AbortController();
  const items: ClusterFollowItem[] = [];
  const batches = followCluster(deps, query, { firstWaitMs: 5, ...options, signal: controller.signal });
  const ready = batches.next().then(() => {});
  const done = ready.then(async () => {
    for await (const batch of batches) items.push(...batch);
  });
  done.catch(() => {});
  const stop = () => {
    controller.abort();
    return done;
  };
  onTestFinished(() => stop().catch(() => {}));
  return {
    items,
    get summaries() {
      return items.map((item) => {
        if (item.type === 'record') return `${item.node} ${item.message}${item.isUnsure ? '?' : ''}`;
        return item.type === 'member' ? `${item.node} ${item.report.outcome}` : item.type;
      });
    },
    ready,
    done,
    stop,
  };
}
