import { setTimeout as wait } from 'node:timers/promises';
import type { NodeLogs } from '@porthole/cluster/alone';
import {
  type CallOptions,
  type FileRequest,
  type LogFilesOptions,
  loadGaps,
  type SearchOptions,
  searchItems,
} from '@porthole/contract';
import type {
  DigestQuery,
  FieldsQuery,
  FollowItem,
  FollowQuery,
  HistogramQuery,
  LogDir,
  SearchQuery,
  TopQuery,
} from '@porthole/logs';
import { awaitedLater } from '@porthole/logs/shared';
import type { SearchEnd } from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import type { FileHolder, PrintedSearch } from './log-source.ts';
import type { StdinSpool } from './stdin-spool.ts';

/** A local directory as a node has it. */
export class LocalLogs implements NodeLogs, FileHolder {
  protected readonly dir: LogDir;

  constructor(dir: LogDir) {
    this.dir = dir;
  }

  listLogs() {
    return this.dir.list();
  }

  logFiles(options?: LogFilesOptions) {
    return this.dir.details(options);
  }

  openLog({ file, text = false }: FileRequest) {
    return this.dir.open(file, { text });
  }

  search(query: SearchQuery, options?: PrintedSearch): AsyncIterable<RecordBatch | SearchEnd> {
    return this.dir.search(query, options);
  }

  followLogs(query: FollowQuery, options: CallOptions = {}): AsyncIterable<FollowItem[]> {
    return loadGaps<FollowItem>(this.dir.follow(query, options), query, {
      ...options,
      search: (_, missed) => searchItems(this, missed, options),
      wait: (ms, signal) => wait(ms, undefined, signal && { signal }),
    });
  }

  logHistogram(query: HistogramQuery, options?: SearchOptions) {
    return this.dir.histogram(query, options);
  }

  logDigest(query: DigestQuery, options?: SearchOptions) {
    return this.dir.digest(query, options);
  }

  logTop(query: TopQuery, options?: SearchOptions) {
    return this.dir.top(query, options);
  }

  logFields(query: FieldsQuery, options?: SearchOptions) {
    return this.dir.fields(query, options);
  }
}

/** Standard input, which ends: so does following it. */
export class StdinLogs extends LocalLogs {
  readonly #spool: StdinSpool;

  constructor(dir: LogDir, spool: StdinSpool) {
    super(dir);
    this.#spool = spool;
  }

  /** All its records as they come, wherever the query begins: none of them is old. */
  override async *followLogs(query: FollowQuery, options: CallOptions = {}): AsyncGenerator<FollowItem[]> {
    const { start: _start, ...filter } = query;
    const inputEnd = new AbortController();
    const ended = awaitedLater(this.#spool.ended.finally(() => inputEnd.abort()));
    const signal = options.signal ? AbortSignal.any([options.signal, inputEnd.signal]) : inputEnd.signal;
    let cursor: string | undefined;
    try {
      for await (const items of super.followLogs({ ...filter, start: { timeMs: 0 } }, { ...options, signal })) {
        const shown = items.filter(({ type }) => type !== 'end');
        for (const item of shown) if (item.type === 'record' && !item.unfinished) cursor = item.cursor;
        if (shown.length > 0) yield shown;
      }
    } catch (error) {
      if (!inputEnd.signal.aborted) throw error;
    }
    options.signal?.throwIfAborted();
    await ended;
    yield* this.#searchRest(filter, cursor, options);
  }

  /** What came after the last record that the follow returned. */
  async *#searchRest(
    filter: Omit<FollowQuery, 'start'>,
    cursor: string | undefined,
    options: CallOptions,
  ): AsyncGenerator<FollowItem[]> {
    const start = cursor === undefined ? {} : { start: { cursor } };
    const query = { ...filter, order: 'oldest', before: 0, after: 0, limit: Number.MAX_SAFE_INTEGER } as const;
    for await (const items of searchItems(this, { ...query, ...start }, options)) {
      const records = items.filter((item) => item.type === 'record');
      if (records.length > 0) yield records;
    }
  }
}
