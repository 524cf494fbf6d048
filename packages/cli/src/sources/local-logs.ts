import { setTimeout as wait } from 'node:timers/promises';
import { type CallOptions, type FileRequest, loadGaps, type SearchOptions } from '@porthole/contract';
import type { DigestQuery, FollowItem, FollowQuery, HistogramQuery, LogDir, SearchQuery } from '@porthole/logs';
import type { FileHolder, LogState } from './log-source.ts';

/** A local directory with the interface of a node. */
export class LocalLogs implements LogState, FileHolder {
  readonly #dir: LogDir;

  constructor(dir: LogDir) {
    this.#dir = dir;
  }

  logFiles(options?: CallOptions) {
    return this.#dir.details(options);
  }

  openLog({ file, text = false }: FileRequest) {
    return this.#dir.open(file, { text });
  }

  searchLogs(query: SearchQuery, options?: SearchOptions) {
    return this.#dir.search(query, options);
  }

  followLogs(query: FollowQuery, options: CallOptions = {}) {
    return loadGaps<FollowItem>(this.#dir.follow(query, options), query, {
      ...options,
      search: (_, missed) => this.#dir.search(missed, options),
      wait: (ms, signal) => wait(ms, undefined, signal && { signal }),
    });
  }

  logHistogram(query: HistogramQuery, options?: SearchOptions) {
    return this.#dir.histogram(query, options);
  }

  logDigest(query: DigestQuery, options?: SearchOptions) {
    return this.#dir.digest(query, options);
  }
}
