import {
  type CallOptions,
  type ConfigHistory,
  type ConfigHistoryRequest,
  type ConfigVersion,
  type CountId,
  type CountQueries,
  type CountResponses,
  encodeEventFollow,
  encodeFollow,
  encodeSearch,
  type FollowOptions,
  type ForgottenMember,
  type LogFilesOptions,
  type NodeDescription,
  type NodeSettings,
  type NodeState,
  ONLY_RAW,
  PATHS,
  RECORDS_HEADER,
  RECORDS_TYPE,
  type RecordingHead,
  type SearchOptions,
  searchItems,
} from '@porthole/contract';
import type {
  Digest,
  Fields,
  FollowItem,
  FollowQuery,
  Histogram,
  LogFileDetails,
  SearchEnd,
  SearchQuery,
  Top,
} from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import { type ClientOptions, strictOptions } from './client-options.ts';
import {
  decodeConfigVersion,
  decodeCount,
  decodeOwnFiles,
  decodeOwnHistory,
  decodeOwnSettings,
  decodeRecordingHead,
} from './decode-response.ts';
import { forgetMember, memberPath, requestDocument } from './documents.ts';
import type { ClientDeps } from './exchange.ts';
import { follow, withoutGaps } from './follow/follow.ts';
import { FollowPosition } from './follow/follow-position.ts';
import { HttpContract } from './http-contract.ts';
import { SYSTEM_CLOCK } from './retry.ts';
import { searchBatches } from './search-batches.ts';
import { openSearch } from './search-stream.ts';
import { requestJson } from './send-request.ts';

/* How nodes of a cluster ask each other. Users of the SDK have no need of it. */

/** Records as the node itself has them; other implementations send the lines they have. */
const OWN_RECORDS = `${RECORDS_TYPE}, application/x-ndjson`;

/** A node description has some hundred bytes and is requested in the background. */
const MAX_DESCRIPTION_BYTES = 256 * 1024;

/** The route of each count; ten thousand buckets and the problems; a thousand fields with their examples. */
const COUNTS = {
  logHistogram: { document: 'histogram', maxBytes: 4 * 1024 ** 2 },
  logDigest: { document: 'digest', maxBytes: undefined },
  logFields: { document: 'fields', maxBytes: 8 * 1024 ** 2 },
  logTop: { document: 'top', maxBytes: undefined },
} as const;

/** Another node: its results of its own, and what it has recorded of others. */
export interface MemberClient extends NodeState {
  forget(id: string, options?: CallOptions): Promise<ForgottenMember>;
  /** What it has recorded of a member. Throws MEMBER_NOT_FOUND. */
  recordingHead(id: string, options?: CallOptions): Promise<RecordingHead>;
  /** A member by what it has recorded of it; one without a recording fails on the first request. */
  recordedMember(id: string): NodeState;
}

/** Another node over HTTP, for its cluster: records as batches, and everything as the node itself has it. */
export class HttpMember extends HttpContract implements MemberClient {
  readonly #deps: ClientDeps;

  constructor(deps: ClientDeps) {
    super(deps);
    this.#deps = deps;
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    return requestDocument('describe', { options, maxBytes: MAX_DESCRIPTION_BYTES }, this.#deps);
  }

  async settings(options: CallOptions = {}): Promise<NodeSettings> {
    return requestDocument('settings', { options, read: decodeOwnSettings }, this.#deps);
  }

  async logFiles({ src, ...options }: LogFilesOptions = {}): Promise<LogFileDetails[]> {
    return requestDocument('logFiles', { request: { src }, options, read: decodeOwnFiles }, this.#deps);
  }

  async configHistory(request: ConfigHistoryRequest, options: CallOptions = {}): Promise<ConfigHistory> {
    return requestDocument('configHistory', { request, options, read: decodeOwnHistory }, this.#deps);
  }

  async configVersion(version: string, options: CallOptions = {}): Promise<ConfigVersion> {
    const path = `${PATHS.configHistory}/${encodeURIComponent(version)}`;
    return requestJson({ path, ...options }, this.#deps, decodeConfigVersion);
  }

  async *search(
    request: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    const headers = { accept: OWN_RECORDS, ...(options.onlyRaw && { [RECORDS_HEADER]: ONLY_RAW }) };
    const route = { path: PATHS.logSearch, query: encodeSearch(request, options), headers };
    yield* searchBatches(await openSearch(route, options, this.#deps), request);
  }

  async *events(
    request: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    const route = { path: PATHS.events, query: encodeSearch(request, options), headers: { accept: OWN_RECORDS } };
    yield* searchBatches(await openSearch(route, options, this.#deps), request);
  }

  followLogs(request: FollowQuery, options: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    const { gaps = 'load', signal, heartbeatMs, texts, positions } = options;
    const { clock } = this.#deps;
    const limits = signal ? { signal } : {};
    const position = new FollowPosition<FollowItem>(request, { clock, encode: encodeFollow });
    const target = { path: PATHS.logFollow, position, heartbeatMs, texts, positions, isOwn: true };
    const followed = follow<FollowItem>(target, this.#deps, limits);
    if (gaps === 'report') return followed;
    return withoutGaps<FollowItem>(followed, request, {
      wait: clock.wait,
      ...limits,
      search: (_, page) => searchItems(this, page, limits),
      onLoaded: (records) => position.loaded(records),
    });
  }

  followEvents(request: FollowQuery, options: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    const { signal, heartbeatMs, positions } = options;
    const position = new FollowPosition<FollowItem>(request, { clock: this.#deps.clock, encode: encodeEventFollow });
    const target = { path: PATHS.events, position, heartbeatMs, positions, isOwn: true };
    return follow<FollowItem>(target, this.#deps, signal ? { signal } : {});
  }

  logHistogram(request: CountQueries['logHistogram'], options: SearchOptions = {}): Promise<Histogram> {
    return this.#count('logHistogram', request, options);
  }

  logDigest(request: CountQueries['logDigest'], options: SearchOptions = {}): Promise<Digest> {
    return this.#count('logDigest', request, options);
  }

  logFields(request: CountQueries['logFields'], options: SearchOptions = {}): Promise<Fields> {
    return this.#count('logFields', request, options);
  }

  logTop(request: CountQueries['logTop'], options: SearchOptions = {}): Promise<Top> {
    return this.#count('logTop', request, options);
  }

  async forget(id: string, options: CallOptions = {}): Promise<ForgottenMember> {
    return forgetMember(id, options, this.#deps);
  }

  async recordingHead(id: string, options: CallOptions = {}): Promise<RecordingHead> {
    return requestJson({ path: recordingPath(id), ...options }, this.#deps, decodeRecordingHead);
  }

  recordedMember(id: string): NodeState {
    return new HttpMember({ ...this.#deps, pathPrefix: recordingPath(id) });
  }

  async #count<Id extends CountId>(
    id: Id,
    request: CountQueries[Id],
    options: SearchOptions,
  ): Promise<CountResponses[Id]> {
    const { document, maxBytes } = COUNTS[id];
    const read = (value: unknown) => decodeCount(id, value, request as { limit?: number });
    return requestDocument(document, { request, options, read, maxBytes }, this.#deps);
  }
}

function recordingPath(id: string): string {
  return memberPath(id).replace(PATHS.nodes, PATHS.recording.slice(0, -'/{id}'.length));
}

/** Creates a client for a member. It keeps nothing open between requests, so there is nothing to close. */
export function createMemberClient(options: ClientOptions): MemberClient {
  return new HttpMember({ options: strictOptions(options), clock: SYSTEM_CLOCK });
}
