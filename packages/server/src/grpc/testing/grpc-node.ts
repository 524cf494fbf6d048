import type {
  CallOptions,
  ConfigHistory,
  ConfigHistoryRequest,
  ConfigVersion,
  FileRequest,
  NodeConfig,
  NodeDescription,
  NodeSettings,
  NodeState,
  SearchOptions,
  ViewRequest,
} from '@porthole/contract';
import { codeOf, encodeFile, PortholeError } from '@porthole/contract';
import type {
  ByteStream,
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  OpenLog,
  SearchEnd,
  SearchItem,
  SearchQuery,
  Top,
  TopQuery,
} from '@porthole/logs/types';
import { type RecordBatch, toBatches } from '@porthole/records';
import type {
  EventScopeMessage,
  FollowLogsRequestMessage,
  NodeHistoryMessage,
  ReadLogRequestMessage,
  RecordMessage,
} from '../generated/messages.ts';
import { Connection, type ConnectOptions } from './connection.ts';
import {
  present,
  readConfig,
  readCounts,
  readDescription,
  readDigest,
  readEnd,
  readFields,
  readFileDetails,
  readFollowItem,
  readRecord,
  readSettings,
  readTop,
} from './read-messages.ts';
import {
  countRequest,
  digestRequest,
  fieldsRequest,
  followRequest,
  searchRequest,
  topRequest,
} from './write-requests.ts';

/** A `NodeState` over gRPC, with the same responses as the node itself. */
export class GrpcNode implements NodeState {
  readonly #connection: Connection;

  constructor(port: number, options: ConnectOptions = {}) {
    this.#connection = new Connection(port, options);
  }

  close(): void {
    this.#connection.close();
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    return readDescription(await this.#connection.call('Describe', {}, options));
  }

  async config(options: CallOptions = {}): Promise<NodeConfig> {
    return readConfig(await this.#connection.call('GetConfig', {}, options));
  }

  async settings(options: CallOptions = {}): Promise<NodeSettings> {
    return readSettings(await this.#connection.call('GetSettings', {}, options));
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    return (await this.#connection.call('ListLogs', {}, options)).logs;
  }

  async logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return (await this.#connection.call('DescribeLogs', { src: [] }, options)).logs.map(readFileDetails);
  }

  async viewLog({ file, sizeBytes: size }: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    encodeFile({ file });
    const messages = this.#connection.stream('ViewLog', { file, size }, options);
    await messages.next();
    const { sizeBytes } = present((await messages.next()).value);
    return { sizeBytes: sizeBytes ?? undefined, chunks: readChunks(messages), close: () => closeStream(messages) };
  }

  async openLog({ file, text }: FileRequest, options: CallOptions = {}): Promise<OpenLog> {
    encodeFile({ file });
    const { name, sizeBytes, modifiedMs, etag } = await this.#connection.call('StatLog', { file, text }, options);
    const closing = new AbortController();
    return {
      name,
      sizeBytes,
      modifiedMs,
      etag,
      read: (start, end, { signal } = {}) => {
        if (closing.signal.aborted) throw new TypeError(`${JSON.stringify(name)} is closed`);
        const range = { start: Math.max(0, start), end: Math.min(end, sizeBytes) };
        const ending = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
        return this.#readRange({ file, text, etag, ...range }, ending);
      },
      close: async () => closing.abort(),
    };
  }

  async *#readRange(request: ReadLogRequestMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    if (request.start >= (request.end ?? 0)) return;
    try {
      yield* readChunks(this.#connection.stream('ReadLog', request, { signal }));
    } catch (error) {
      // The range was within the file when it was opened.
      if (codeOf(error) !== 'RANGE_NOT_SATISFIABLE') throw error;
      throw new PortholeError(
        'LOG_FILE_TRUNCATED',
        `${JSON.stringify(request.file)} was truncated while it was being read`,
      );
    }
  }

  search(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<RecordBatch | SearchEnd> {
    return toBatches<FoundRecord, SearchEnd>(this.#emitted(query, options));
  }

  async *#emitted(
    query: SearchQuery,
    options: SearchOptions,
    events?: EventScopeMessage,
  ): AsyncGenerator<SearchItem[]> {
    // Context records come after their match, maybe in the next message: a match is emitted when the next one begins.
    let open: FoundRecord | undefined;
    const request = { ...searchRequest(query, options), events };
    const messages = this.#connection.stream('SearchLogs', request, pickSignal(options));
    for await (const message of messages) {
      const whole: SearchItem[] = [];
      for (const { record, before, after, end } of message?.items ?? []) {
        if (before) open?.before?.push(readRecord(before));
        if (after) open?.after?.push(readRecord(after));
        if (!record && !end) continue;
        if (open) whole.push(open);
        open = record ? foundRecord(record, query) : undefined;
        if (end) whole.push({ type: 'end', ...readEnd(end), cursor: end.cursor ?? null });
      }
      yield whole;
    }
  }

  followLogs(query: FollowQuery, options: CallOptions = {}): AsyncGenerator<FollowItem[]> {
    return this.#follow(followRequest(query), options);
  }

  async *#follow(request: FollowLogsRequestMessage, options: CallOptions): AsyncGenerator<FollowItem[]> {
    try {
      for await (const message of this.#connection.stream('FollowLogs', request, options))
        yield (message?.items ?? []).map(readFollowItem);
    } catch (error) {
      if (!options.signal?.aborted) throw error;
      yield [{ type: 'end', reason: 'cancelled' }];
    }
  }

  events(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<RecordBatch | SearchEnd> {
    return toBatches<FoundRecord, SearchEnd>(this.#emitted(query, options, { kinds: [] }));
  }

  followEvents(query: FollowQuery, options: CallOptions = {}): AsyncGenerator<FollowItem[]> {
    return this.#follow({ ...followRequest(query), events: { kinds: [] } }, options);
  }

  async configHistory(request: ConfigHistoryRequest, options: CallOptions = {}): Promise<ConfigHistory> {
    const message = { key: request.key ?? '', atMs: request.atMs, limit: request.limit };
    const { nodes } = await this.#connection.call('GetConfigHistory', message, options);
    return readHistory(present(nodes[0]));
  }

  async configVersion(version: string, options: CallOptions = {}): Promise<ConfigVersion> {
    const { settings, ...message } = await this.#connection.call('GetConfigVersion', { version }, options);
    return { ...message, settings: settings.map(({ key, valueJson }) => ({ key, value: JSON.parse(valueJson) })) };
  }

  async logHistogram(query: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    return readCounts(await this.#connection.call('CountLogs', countRequest(query, options), pickSignal(options)));
  }

  async logDigest(query: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    return readDigest(await this.#connection.call('DigestLogs', digestRequest(query, options), pickSignal(options)));
  }

  async logFields(query: FieldsQuery, options: SearchOptions = {}): Promise<Fields> {
    return readFields(await this.#connection.call('ListFields', fieldsRequest(query, options), pickSignal(options)));
  }

  async logTop(query: TopQuery, options: SearchOptions = {}): Promise<Top> {
    return readTop(await this.#connection.call('CountValues', topRequest(query, options), pickSignal(options)));
  }
}

function foundRecord(message: RecordMessage, { before, after }: SearchQuery): FoundRecord {
  return { ...readRecord(message), ...(before > 0 && { before: [] }), ...(after > 0 && { after: [] }) };
}

function pickSignal({ signal }: SearchOptions): CallOptions {
  return signal ? { signal } : {};
}

async function* readChunks(messages: AsyncIterable<{ chunk: Uint8Array } | undefined>): AsyncGenerator<Uint8Array> {
  for await (const message of messages) if (message && message.chunk.length > 0) yield message.chunk;
}

async function closeStream(messages: AsyncGenerator<unknown>): Promise<void> {
  await messages.return(undefined);
}

function readHistory({ periods, isComplete }: NodeHistoryMessage): ConfigHistory {
  const parsed = (json: string | null | undefined) => (typeof json === 'string' ? JSON.parse(json) : null);
  return {
    periods: periods.map(({ version, fromMs, toMs = null, changes, isCompared }) => ({
      ...{ version, fromMs, toMs },
      changes: isCompared
        ? changes.map(({ key, beforeJson, afterJson }) => ({
            key,
            before: parsed(beforeJson),
            after: parsed(afterJson),
          }))
        : null,
    })),
    isComplete,
  };
}
