import type { NodeObject, NodeState, SearchOptions } from '@porthole/contract';
import type { SearchItem, SearchQuery, WorkerPool } from '@porthole/logs';
import type { Authenticate } from './auth/authenticate-hook.ts';
import type { ConfigOption } from './config/mark.ts';
import type { EmbeddedHttp } from './http/embedded-http.ts';
import type { HostLogger, Logger } from './own-log/own-log.ts';
import type { OptionKinds } from './settings/check-options.ts';
import type { SettingsSources } from './settings/load-settings.ts';
import type { PartialSettings } from './settings/settings.ts';

export interface NodeOptions extends Omit<SettingsSources, 'options' | 'hasCredentials' | 'isEmbedded'> {
  /** Settings given by the program itself; they win over file, environment and flags. */
  settings?: PartialSettings;
  /**
   * The configuration of the program: an object or TOML text, or a function of one, which is called whenever it is needed.
   * Without it, the node shows its own settings.
   */
  config?: ConfigOption;
  /** Identifies clients, so that the sessions of the program decide who may read what. */
  authenticate?: Authenticate;
  /** Receives the node's own log instead of files: a logger of pino, bunyan or Fastify, or one that is called like them. */
  logger?: HostLogger;
  /** The version reported in the node object; Porthole's own by default. */
  version?: string;
  /** URL of a demo cluster, which the console offers while nothing is configured. */
  demoUrl?: string;
  /** Worker pool shared with other nodes of this process, instead of `search.workers` of its own. The caller closes it. */
  threads?: WorkerPool;
}

export const NODE_OPTION_KINDS: OptionKinds<NodeOptions> = {
  settings: 'object',
  config: ['string', 'object', 'function'],
  authenticate: 'function',
  logger: { methods: ['debug', 'info', 'warn', 'error'] },
  version: 'string',
  demoUrl: 'string',
  threads: 'object',
  file: 'string',
  env: 'object',
  flags: 'object',
  workDir: 'string',
};

/** The node without HTTP. */
export interface EmbeddedState extends NodeState {
  /** The records of `search` as objects, in lists; the last item of the last one is the end. */
  searchLogs(request: SearchQuery, options?: SearchOptions): AsyncIterable<SearchItem[]>;
}

/** A node without ports of its own, as a part of a program that has a server. */
export interface EmbeddedNode extends EmbeddedHttp {
  readonly node: NodeObject;
  /** The same responses as over HTTP, without the network. */
  readonly state: EmbeddedState;
  /** Warnings for the operator; the node has started anyway. */
  readonly warnings: readonly string[];
  /** For records of the embedding service in the node's log. */
  logger(component: string): Logger;
  /**
   * Ends follows, waits up to `node.stop-timeout` for running responses, flushes the log. Later requests are refused with
   * `SHUTTING_DOWN`. Idempotent.
   */
  close(): Promise<void>;
  /** Reloads credential and certificate files, changed or not; invalid ones are ignored and the old version stays in use. */
  reload(): Promise<void>;
  /** Flushes the own log synchronously, for a process that is about to exit. */
  flushLogSync(): void;
  /**
   * Logs to the own log that an unexpected error ends the process, and flushes it. Without the error's message, which may
   * contain a secret or what a client has sent: everyone who may read logs can read this one.
   */
  logCrash(error: unknown): void;
}
