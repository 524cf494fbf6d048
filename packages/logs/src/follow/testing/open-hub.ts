import { onTestFinished } from 'vitest';
import { HandleCache } from '../../file/handle-cache.ts';
import { SharedReads } from '../../file/shared-reads.ts';
import { createZone } from '../../parse/zone.ts';
import { listFiles } from '../../read/list.ts';
import { compileRegex } from '../../scan/match/regex.ts';
import type { FollowItem, FollowQuery, FoundRecord } from '../../types.ts';
import { FollowHub, type FollowHubDeps } from '../follow-hub.ts';
import { followLimit } from '../lazy-follow-hub.ts';
import { fileSearch } from './file-search.ts';

/** A hub for the directory with the obvious search; closed when the test ends. */
export function openHub(dir: string, options: Partial<FollowHubDeps> = {}): FollowHub {
  const zone = createZone('UTC');
  const handles = new HandleCache(dir);
  const hub = new FollowHub({
    dir,
    handles,
    reads: new SharedReads(),
    zone,
    list: () => listFiles(dir),
    isCurrent: () => false,
    search: fileSearch(dir, zone),
    isTimed: async () => true,
    isText: async () => true,
    matchRegex: async ({ regex = '', caseSensitive = false }, texts) => {
      const compiled = await compileRegex(regex, { caseSensitive });
      return texts.map((text) => compiled.test(text.toString()));
    },
    pollMs: 25,
    limit: followLimit({}),
    ...options,
  });
  onTestFinished(async () => {
    await hub.close();
    handles.close();
  });
  return hub;
}

/** A follow whose items are collected as fast as they arrive. */
export interface Collected {
  readonly items: FollowItem[];
  /** Texts of the records. */
  readonly texts: string[];
  /** Resolves when the query was accepted. */
  ready: Promise<void>;
  /** Resolves when the follow has ended; rejects if it failed. */
  done: Promise<void>;
  stop(): Promise<void>;
}

export function collectFollow(hub: FollowHub, query: Partial<FollowQuery>, { positions = false } = {}): Collected {
  const abort = new AbortController();
  const items: FollowItem[] = [];
  const batches = hub.follow({ start: 'end', raw: true, ...query }, { signal: abort.signal, positions });
  const ready = batches.next().then(() => {});
  const done = ready.then(async () => {
    for await (const batch of batches) items.push(...batch);
  });
  // A test that expects a failure awaits `ready` or `done`; if none does, it must not be an unhandled rejection.
  done.catch(() => {});
  return {
    items,
    ready,
    done,
    get texts() {
      return recordTexts(items);
    },
    async stop() {
      abort.abort();
      await done;
    },
  };
}

export function recordTexts(items: readonly FollowItem[]): string[] {
  return onlyRecords(items).map(({ raw = '' }) => raw);
}

export function onlyRecords(items: readonly FollowItem[]): FoundRecord[] {
  return items.filter((item) => item.type === 'record');
}
