import type { ClusterFollowItem } from '@porthole/contract';
import type { FollowQuery } from '@porthole/logs/types';
import { onTestFinished } from 'vitest';
import { type ClusterFollowOptions, followCluster } from '../records/cluster-follow.ts';
import type { ClusterParts } from '../records/cluster-parts.ts';

export interface CollectedFollow {
  readonly items: ClusterFollowItem[];
  /** Messages of the records, and what else was told by its type. */
  readonly told: string[];
  /** The first batch has come. */
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** A follow whose items are collected as they come; ended with the test. */
export function collectFollow(
  parts: ClusterParts,
  { query = { start: 'end' }, ...options }: ClusterFollowOptions & { query?: FollowQuery } = {},
): CollectedFollow {
  const leaving = new AbortController();
  const items: ClusterFollowItem[] = [];
  const batches = followCluster(parts, query, { firstWaitMs: 5, ...options, signal: leaving.signal });
  const ready = batches.next().then(() => {});
  const done = ready.then(async () => {
    for await (const batch of batches) items.push(...batch);
  });
  done.catch(() => {});
  const stop = () => {
    leaving.abort();
    return done;
  };
  onTestFinished(() => stop().catch(() => {}));
  return {
    items,
    get told() {
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
