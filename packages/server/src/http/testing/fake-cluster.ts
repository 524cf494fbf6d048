import type { ClusterEnd, ClusterRecord } from '@porthole/contract';
import {
  type ClusterFollowItem,
  type ClusterItem,
  type ClusterState,
  type NodeState,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import { toBatches } from '@porthole/records';
import { BatchSource } from './batch-source.ts';
import { CLUSTER_RESPONSES } from './cluster-responses.ts';

type Verb = Exclude<keyof ClusterState, 'member'>;

interface RecordedCall {
  verb: Verb;
  request: unknown;
  options: SearchOptions;
}

/** Returns the same responses to everyone, and records the requests. */
export class FakeCluster implements ClusterState {
  readonly calls: RecordedCall[] = [];
  /** Ids that were looked up. */
  readonly lookedUp: string[] = [];
  readonly found = new BatchSource<ClusterItem>();
  readonly followed = new BatchSource<ClusterFollowItem>();
  readonly members: Readonly<Record<string, Partial<NodeState>>>;
  /** Thrown instead of an response. */
  failure: Error | undefined;

  constructor(members: Readonly<Record<string, Partial<NodeState>>> = {}) {
    this.members = members;
  }

  get last(): RecordedCall | undefined {
    return this.calls.at(-1);
  }

  forget = (id: string, options?: SearchOptions) => this.#respond('forget', id, options);
  recordingHead = (id: string, options?: SearchOptions) => this.#respond('recordingHead', id, options);
  nodes = (options?: SearchOptions) => this.#respond('nodes', undefined, options);
  config = (request: object, options?: SearchOptions) => this.#respond('config', request, options);
  configDiff = (request: object, options?: SearchOptions) => this.#respond('configDiff', request, options);
  logFiles = (request: object, options?: SearchOptions) => this.#respond('logFiles', request, options);
  logHistogram = (request: object, options?: SearchOptions) => this.#respond('logHistogram', request, options);
  logDigest = (request: object, options?: SearchOptions) => this.#respond('logDigest', request, options);
  logFields = (request: object, options?: SearchOptions) => this.#respond('logFields', request, options);
  logTop = (request: object, options?: SearchOptions) => this.#respond('logTop', request, options);
  configHistory = (request: object, options?: SearchOptions) => this.#respond('configHistory', request, options);

  search = (request: object, options?: SearchOptions) =>
    toBatches<ClusterRecord, ClusterEnd>(this.#streamed('search', this.found, request, options));
  events = (request: object, options?: SearchOptions) =>
    toBatches<ClusterRecord, ClusterEnd>(this.#streamed('events', this.found, request, options));
  followEvents = (request: object, options?: SearchOptions) =>
    this.#streamed('followEvents', this.followed, request, options);
  followLogs = (request: object, options?: SearchOptions) =>
    this.#streamed('followLogs', this.followed, request, options);
  around = (request: object, options?: SearchOptions) => this.#streamed('around', this.found, request, options);

  member(id: string): NodeState {
    this.lookedUp.push(id);
    const state = Object.hasOwn(this.members, id) ? this.members[id] : undefined;
    if (!state) throw new PortholeError('MEMBER_NOT_FOUND', `no member ${JSON.stringify(id)}`);
    return state as NodeState;
  }

  async #respond<V extends keyof typeof CLUSTER_RESPONSES>(verb: V, request: unknown, options: SearchOptions = {}) {
    this.calls.push({ verb, request, options });
    if (this.failure) throw this.failure;
    return CLUSTER_RESPONSES[verb];
  }

  #streamed<T>(verb: Verb, source: BatchSource<T>, request: unknown, options: SearchOptions = {}) {
    this.calls.push({ verb, request, options });
    if (this.failure) source.push(this.failure);
    return source.open(options.signal);
  }
}
