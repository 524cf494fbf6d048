import type { DiskIndexUsage } from './disk-index/disk-index.ts';

/** Resources in use: exported as metrics and checked by the leak tests. */
export interface EngineUsage {
  /** Scanning threads, and jobs running or queued on them. */
  threads: number;
  jobs: number;
  /** Threads replaced so far because they died or did not stop when requested. */
  replacedThreads: number;
  /** Searches and counts in progress. */
  searches: number;
  indexBytes: number;
  /** What is kept on disk. */
  diskIndex: DiskIndexUsage;
  /** Logs being followed, and directory watchers. */
  readers: number;
  watchers: number;
}

export const NO_DISK_INDEX: DiskIndexUsage = {
  bytes: 0,
  files: 0,
  dropped: 0,
  evicted: 0,
  problem: undefined,
  builtBytes: 0,
};

/** Before the first query. */
export const NO_ENGINE: EngineUsage = {
  threads: 0,
  jobs: 0,
  replacedThreads: 0,
  searches: 0,
  indexBytes: 0,
  diskIndex: NO_DISK_INDEX,
  readers: 0,
  watchers: 0,
};
