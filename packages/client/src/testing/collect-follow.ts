import type { FollowOptions } from '@porthole/contract';
import type { FollowItem, FollowQuery, FoundRecord } from '@porthole/logs/types';
import { onTestFinished } from 'vitest';
import type { HttpMember } from '../member.ts';

export interface CollectedFollow {
  readonly items: FollowItem[];
  /** Messages of the records, by file name. */
  messages(file: string): string[];
  count(type: FollowItem['type']): number;
  /** The first batch has arrived. */
  readonly ready: Promise<void>;
  /** Settles when it has ended; rejects with its failure. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** A follow whose items are collected as they arrive; it ends with the test. */
export function collectFollow(client: HttpMember, query: FollowQuery, options: FollowOptions = {}): CollectedFollow {
  const controller = new AbortController();
  const items: FollowItem[] = [];
  const batches = client.followLogs(query, { ...options, signal: controller.signal })[Symbol.asyncIterator]();
  const ready = batches.next().then(({ value = [] }) => {
    items.push(...value); // it is empty, unless the connection is lost before it sends anything
  });
  const done = ready.then(async () => {
    for (let batch = await batches.next(); !batch.done; batch = await batches.next()) items.push(...batch.value);
  });
  done.catch(() => {}); // a test that expects a failure awaits `done`; all others end before it
  const stop = async () => {
    controller.abort();
    await done;
  };
  onTestFinished(() => stop().catch(() => {})); // the same failure as that of `done`
  return {
    items,
    ready,
    done,
    stop,
    messages: (file) =>
      items
        .filter((item): item is FoundRecord => item.type === 'record' && item.file.startsWith(file))
        .map(({ message }) => message),
    count: (type) => items.filter((item) => item.type === type).length,
  };
}
