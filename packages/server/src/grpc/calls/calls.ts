import {
  type CallOptions,
  type ClusterCountResponses,
  type ClusterCounts,
  type ClusterEnd,
  type ClusterFollowItem,
  type ClusterRecord,
  type CountId,
  clusterItems,
  explainQuery,
  formatQuery,
  isSameFile,
  type NodeState,
  ofAskedKinds,
  PortholeError,
  parseBudget,
  parseConfigRequest,
  parseCount,
  parseExplainRequest,
  parseFileRequest,
  parseFollowRequest,
  parseHistoryRequest,
  parseIncidentRequest,
  parseLogFilesRequest,
  parseMemberSelection,
  parseSearchRequest,
  parseViewRequest,
  SizedBytes,
} from '@porthole/contract';
import type { OpenLog } from '@porthole/logs';
import { toItems } from '@porthole/records';
import type { Scope } from '../../http/routes/scope.ts';
import type { RequestPolicy } from '../../transport/request-policy.ts';
import type { NodeStateServiceMethods, ReadLogRequestMessage, RecordMessage } from '../generated/messages.ts';
import {
  configMessage,
  countsMessage,
  descriptionMessage,
  digestMessage,
  fieldsMessage,
  followItemMessage,
  historyMessage,
  logsMessage,
  searchItemMessages,
  settingsMessage,
  statMessage,
  topMessage,
  versionMessage,
  wellFormed,
} from '../messages.ts';
import { type MethodName, toQuery } from '../service-definition.ts';

type MethodRequest<Name extends MethodName> = NodeStateServiceMethods[Name]['request'];
type MethodResponse<Name extends MethodName> = NodeStateServiceMethods[Name]['response'];

/** Returns one message. */
export type UnaryCall<Request, Response> = (request: Request, options: CallOptions) => Promise<Response>;

/**
 * Yields messages. Errors of the request are thrown before the first item. `undefined`: the request is valid, but there is
 * nothing to send yet. Buffers in a message may be reused: they are valid until the next item is requested.
 */
export type StreamCall<Request, Response> = (
  request: Request,
  options: CallOptions,
) => AsyncIterable<Response | undefined>;

/** All methods of the service. */
export type Calls = {
  [Name in MethodName]: NodeStateServiceMethods[Name]['stream'] extends true
    ? StreamCall<MethodRequest<Name>, MethodResponse<Name>>
    : UnaryCall<MethodRequest<Name>, MethodResponse<Name>>;
};

type NodeMethod = 'Describe' | 'GetConfig' | 'GetSettings' | 'GetConfigHistory' | 'GetConfigVersion' | 'GetIncident';

export function createNodeCalls(
  node: NodeState,
  scope: Scope,
  { clock, countBudgetMs }: Pick<RequestPolicy, 'clock' | 'countBudgetMs'>,
): Pick<Calls, NodeMethod> {
  return {
    Describe: async (_request, options) => descriptionMessage(await node.describe(options)),
    GetConfig: async (request, options) =>
      configMessage(await node.config({ ...options, ...parseConfigRequest(toQuery(request)) })),
    GetSettings: async (request, options) => {
      const { state, asked } = await scope.records(NO_HEADERS, parseMemberSelection(toQuery(request)));
      return settingsMessage(await state.config(asked, options));
    },
    GetConfigHistory: async (request, options) => {
      const { state, asked } = await scope.records(NO_HEADERS, parseHistoryRequest(toQuery(request), clock()));
      return historyMessage(await state.configHistory(asked, options));
    },
    GetConfigVersion: async ({ version }, options) => versionMessage(await node.configVersion(version, options)),
    GetIncident: async (message, options) => {
      const query = toQuery(message);
      const { state, asked } = await scope.cluster(NO_HEADERS, parseIncidentRequest(query, clock()).request);
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      const { findIncident } = await import('@porthole/cluster');
      const incident = await findIncident(state, asked, { ...options, budgetMs, withValues: false });
      const { headline, isUnusual } = incident;
      return { headline: wellFormed(headline), isUnusual, incidentJson: wellFormed(JSON.stringify(incident)) };
    },
  };
}

/** Members use HTTP. */
const NO_HEADERS = { headers: {} };

type LogMethod = 'ListLogs' | 'DescribeLogs' | 'StatLog' | 'ViewLog' | 'ReadLog';

export function createLogCalls(node: NodeState, scope: Scope): Pick<Calls, LogMethod> {
  return {
    ListLogs: async (_request, options) => ({ logs: await node.listLogs(options) }),
    DescribeLogs: async (request, options) => {
      const { state, asked } = await scope.records(NO_HEADERS, parseLogFilesRequest(toQuery(request)));
      return logsMessage(await state.logFiles(asked, options));
    },
    StatLog: async (request, options) => {
      const log = await node.openLog(parseFileRequest(toQuery(request)), options);
      await log.close();
      return statMessage(log);
    },
    async *ViewLog(request, options) {
      const { sizeBytes, chunks, close } = await node.viewLog(parseViewRequest(toQuery(request)), options);
      try {
        yield { sizeBytes, chunk: NOTHING };
        const sized = sizeBytes === undefined ? chunks : new SizedBytes(sizeBytes, chunks);
        for await (const chunk of inMessageParts(sized)) yield { chunk };
      } finally {
        await close();
      }
    },
    async *ReadLog(request, options) {
      const log = await node.openLog(parseFileRequest(toQuery(request)), options);
      try {
        const { start, end } = checkRange(log, request);
        yield { stat: statMessage(log), chunk: NOTHING };
        const bytes = new SizedBytes(end - start, log.read(start, end, options));
        for await (const chunk of inMessageParts(bytes)) yield { chunk };
      } finally {
        await log.close();
      }
    },
  };
}

const NOTHING = new Uint8Array();

function checkRange(log: OpenLog, request: ReadLogRequestMessage): { start: number; end: number } {
  const { start, etag } = request;
  const end = request.end ?? log.sizeBytes;
  const name = JSON.stringify(log.name);
  if (etag !== '' && !isSameFile(etag, log.etag))
    throw new PortholeError('PRECONDITION_FAILED', `${name} has changed: its entity tag is no longer ${etag}`);
  if (start < 0 || start > end || end > log.sizeBytes)
    throw new PortholeError('RANGE_NOT_SATISFIABLE', `${name} has ${log.sizeBytes} bytes`);
  return { start, end };
}

/** Initial size: small enough for any client. */
const FIRST_BYTES = 16 * 1024;

/** At this size the cost per message is negligible, and it is well below the 4 MiB that clients accept. */
const MOST_BYTES = 1024 * 1024;

/** A client that needs longer for a message gets smaller ones: one that reads nothing for the stall timeout is cut. */
const SLOW_MS = 1_000;

/**
 * Splits chunks into parts of a size that suits the client: larger while it is fast, which halves the work, and smaller
 * when it is slow. A part is valid until the next one is requested.
 */
export async function* inMessageParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = FIRST_BYTES;
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; ) {
      const part = chunk.subarray(start, start + bytes);
      start += part.length;
      const givenMs = performance.now();
      yield part;
      const isSlow = performance.now() - givenMs > SLOW_MS;
      bytes = isSlow ? Math.max(FIRST_BYTES, bytes / 2) : Math.min(MOST_BYTES, bytes * 2);
    }
  }
}

export function createQueryCalls(): Pick<Calls, 'ExplainQuery'> {
  return {
    ExplainQuery: async (message) => {
      const node = parseExplainRequest(toQuery(message));
      return { query: node ? wellFormed(formatQuery(node)) : '', words: wellFormed(explainQuery(node)) };
    },
  };
}

type RecordMethod = 'SearchLogs' | 'FollowLogs' | 'CountLogs' | 'DigestLogs' | 'ListFields' | 'CountValues';

/** About events, or about logs. */
interface RecordsMessage {
  events?: object | null | undefined;
}

type RecordCallPolicy = Pick<RequestPolicy, 'clock' | 'maxRecords' | 'searchBudgetMs' | 'countBudgetMs' | 'stopping'>;

export function createRecordCalls(
  scope: Scope,
  { clock, maxRecords, searchBudgetMs, countBudgetMs, stopping }: RecordCallPolicy,
): Pick<Calls, RecordMethod> {
  const countCall =
    <Id extends CountId, Message extends object, Response>(
      id: Id,
      toMessage: (count: ClusterCountResponses[Id]) => Response,
    ): UnaryCall<Message, Response> =>
    async (message, options) => {
      const query = toQuery(message);
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      const { state, asked } = await scope.records(NO_HEADERS, parseCount(id, query, clock()));
      const counts: ClusterCounts = state;
      return toMessage(await counts[id](asked, { ...options, budgetMs }));
    };
  return {
    async *SearchLogs(message: RecordsMessage, options) {
      const query = toQuery(message);
      const request = parseSearchRequest(query, clock(), { maxRecords });
      const limits = { ...options, budgetMs: parseBudget(query, { mostMs: searchBudgetMs }) };
      const { state, asked } = await scope.records(NO_HEADERS, request);
      const found = message.events
        ? toItems<ClusterRecord, ClusterEnd>(state.events(ofAskedKinds(asked, query), limits))
        : clusterItems(state, asked, limits);
      for await (const batch of found) {
        if (batch.length === 0) yield undefined;
        for (const items of inBoundedMessages(batch.flatMap(searchItemMessages))) yield { items };
      }
    },
    async *FollowLogs(message: RecordsMessage, options) {
      const { signal } = options;
      const query = toQuery(message);
      const request = parseFollowRequest(query, clock());
      const ending = anySignal([stopping, ...(signal ? [signal] : [])]);
      try {
        const how = { ...options, signal: ending.signal };
        const { state, asked } = await scope.records(NO_HEADERS, request);
        const batches = message.events
          ? state.followEvents(ofAskedKinds(asked, query), how)
          : state.followLogs(asked, how);
        for await (const batch of batches) {
          if (batch.length === 0) yield undefined;
          const emitted = stopping.aborted ? batch.map(withStopReason) : batch;
          for (const items of inBoundedMessages(emitted.map(followItemMessage))) yield { items };
        }
      } finally {
        ending.release();
      }
    },
    CountLogs: countCall('logHistogram', countsMessage),
    DigestLogs: countCall('logDigest', digestMessage),
    ListFields: countCall('logFields', fieldsMessage),
    CountValues: countCall('logTop', topMessage),
  };
}

/** The source only knows that it was aborted. */
function withStopReason(item: ClusterFollowItem): ClusterFollowItem {
  return item.type === 'end' ? { type: 'end', reason: 'stopping' } : item;
}

/** Fires with the first of the signals. Unlike `AbortSignal.any` it leaves no listener on a long-lived signal. */
function anySignal(signals: readonly AbortSignal[]): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const fire = () => controller.abort();
  if (signals.some(({ aborted }) => aborted)) fire();
  for (const signal of signals) signal.addEventListener('abort', fire);
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) signal.removeEventListener('abort', fire);
    },
  };
}

/**
 * Approximate size limit of a message in UTF-16 units, which are at most three bytes each. Clients accept 4 MiB by default,
 * and the longest single record is below 2 MiB.
 */
const MESSAGE_UNITS = 256 * 1024;

/** Size of a record besides its texts. */
const RECORD_UNITS = 64;

interface ItemWithRecord {
  record?: RecordMessage | null | undefined;
  before?: RecordMessage | null | undefined;
  after?: RecordMessage | null | undefined;
}

/** Splits items into runs that each fit into one message. */
export function* inBoundedMessages<Item extends object>(items: readonly Item[]): Generator<Item[]> {
  let run: Item[] = [];
  let units = 0;
  for (const item of items) {
    const itemUnits = countUnits(item);
    if (run.length > 0 && units + itemUnits > MESSAGE_UNITS) {
      yield run;
      run = [];
      units = 0;
    }
    run.push(item);
    units += itemUnits;
  }
  if (run.length > 0) yield run;
}

function countUnits({ record, before, after }: ItemWithRecord): number {
  const found = record ?? before ?? after;
  if (!found) return RECORD_UNITS;
  const { message, raw, contextJson, fieldsJson, cursor } = found;
  const texts = [message, cursor, raw, contextJson, fieldsJson];
  return texts.reduce((units, text) => units + (text?.length ?? 0), RECORD_UNITS);
}
