import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { errorMessage, type NodeObject } from '@porthole/contract';
import { workerUrl } from '@porthole/logs';
import { ONCE, owned, Shared } from '@porthole/logs/shared';
import type { EmbeddedNode, NodeOptions } from './embedded-node.ts';
import { describeFailure, StartError } from './errors.ts';
import { guardHost } from './guard-host.ts';
import { EmbeddedResponses } from './http/embedded-http.ts';
import { createHttpAdapter, type HttpAdapterDeps } from './http/http-adapter.ts';
import type { RequestHandler } from './http/request/handle-request.ts';
import { type NodeComponents, openNodeComponents } from './node-components.ts';
import type { Logger } from './own-log/own-log.ts';
import { type LoadedSettings, loadSettings } from './settings/load-settings.ts';
import { createRequestPolicy, type RequestPolicy } from './transport/request-policy.ts';
import { ownVersion } from './version.ts';

/** A node whose components are open and that is not reachable yet. */
export interface OpenNode {
  loaded: LoadedSettings;
  /** Completed when it is known where the node is reachable, which is before any request can arrive. */
  node: NodeObject;
  components: NodeComponents;
  policy: RequestPolicy;
  log: Logger;
  onRequest: RequestHandler;
  embedded: EmbeddedResponses;
  /** From now on requests are refused. */
  refuseRequests(): void;
  /** Closes everything but ports. */
  close(): Promise<void>;
}

interface OpenNodeReach extends Pick<HttpAdapterDeps, 'hostNames'> {
  /** Whether the process is that of the node alone, so that there is no program to guard. */
  ownsProcess?: boolean;
  /** Whether the program has to say where the node may write. */
  isEmbedded?: boolean;
}

/** Opens everything that needs no port: settings, own log, logs, configuration, access. */
export async function openNode(
  options: NodeOptions,
  { hostNames = [], ownsProcess = false, isEmbedded = false }: OpenNodeReach = {},
): Promise<OpenNode> {
  assertFiles();
  const {
    settings: given,
    config,
    authenticate,
    logger,
    version = ownVersion(),
    threads,
    demoUrl,
    ...sources
  } = options;
  const hasCredentials = authenticate !== undefined;
  // The function does not exist, and the program believes that it decides who may read.
  if (!hasCredentials && 'authenticate' in options)
    throw new StartError('option authenticate: expected a function, found undefined', { code: 'OPTION_INVALID' });
  const loaded = await loadSettings({ ...sources, hasCredentials, isEmbedded, ...(given && { options: given }) });
  const { settings } = loaded;
  const hostName = settings.node.hostName || hostname();
  // clock: when the node came online
  const node: NodeObject = { hostIp: '', hostName, grpcPort: 0, httpPort: 0, version, onlineTime: Date.now() };
  const phase = { isStopping: false };
  const isStopping = () => phase.isStopping;
  const ofProgram = { config, authenticate, logger, threads };
  const components = await openNodeComponents(loaded, { ...ofProgram, node: () => node, isStopping });
  const policy = createRequestPolicy({ ...components, settings, isStopping });
  const log = components.ownLog.component('node');
  const onConsole = () => {
    if (!phase.isStopping) prepareSearches(components.logs, log);
  };
  const served = { hostNames, policy, settings, version, hostName, demoUrl, onConsole };
  const adapter = createHttpAdapter({ ...components, ...served });
  const onFault = (error: unknown) => {
    policy.metrics.countFault('process');
    log.error('fault', 'an unexpected error that belongs to no request; the process goes on', {
      error: describeFailure(error),
    });
  };
  const release = ownsProcess ? undefined : guardHost(onFault);
  return {
    loaded,
    node,
    components,
    policy,
    log,
    onRequest: adapter.onRequest,
    embedded: new EmbeddedResponses(adapter.onMountedRequest, policy),
    refuseRequests() {
      phase.isStopping = true;
    },
    close: async () => {
      await components.cluster.close();
      policy.metrics.close();
      await components.close();
      release?.();
    },
  };
}

/** A bundler takes only the code: without the files beside it, every search would fail. */
function assertFiles(): void {
  try {
    workerUrl();
  } catch (error) {
    throw new StartError(errorMessage(error), { code: 'FILES_MISSING', cause: error });
  }
}

/** Whoever opens the console will search: the engine is loaded and a thread started while the page is. */
function prepareSearches(logs: NodeComponents['logs'], log: Logger): void {
  void owned(logs.prepare(), (error) => {
    // The first search tries it again, and reports why it fails.
    log.warn('search', 'the search engine cannot be prepared', { error: describeFailure(error) });
  });
}

/** Logs that the node is ready, with all warnings, and then every minute that it is alive. Returns what stops that. */
export function announceNode({ components, node, policy, log }: OpenNode, url: string): () => void {
  const { logs, warnings } = components;
  for (const warning of warnings) log.warn('start', warning);
  const { grpcPort, version } = node;
  log.info('start', 'the node is ready', { url, grpcPort, version, logDir: logs.path });
  return startHeartbeat(log, () => ({ openStreams: policy.slots.taken, openFiles: logs.usage.openFiles }));
}

/** Ends what runs, in reverse order of the start. `stopServing` waits for running responses. */
export async function stopNode(
  open: OpenNode,
  stopServing: (drainMs: number) => Promise<unknown> = async () => {},
): Promise<void> {
  const { loaded, components, policy, log, embedded, close } = open;
  log.info('stop', 'the node is stopping', { openStreams: policy.slots.taken });
  // First leave the list of members, so that no more requests arrive.
  await components.cluster.close();
  policy.endFollows();
  const { stopTimeoutMs } = loaded.settings.node;
  await Promise.all([stopServing(stopTimeoutMs), embedded.close(stopTimeoutMs)]);
  log.info('stop', 'the node has stopped');
  await close();
}

/** The longest time a timer can have. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Threads and timers of an idle node let the process end; while it stops, nothing else may keep it, and work would be lost. */
async function keepAlive(work: () => Promise<void>): Promise<void> {
  const timer = setTimeout(() => {}, MAX_TIMER_MS);
  try {
    await work();
  } finally {
    clearTimeout(timer);
  }
}

/** The node as its program uses it. `stop` is called once. */
export function toEmbeddedNode({ node, components, log, embedded }: OpenNode, stop: () => Promise<void>): EmbeddedNode {
  const stopped = new Shared<void>(ONCE);
  const flushLogSync = () => {
    components.accessLog.flushSync();
    components.ownLog.flushSync();
  };
  return {
    node,
    handler: embedded.handler,
    fetch: embedded.fetch,
    state: components.state,
    warnings: components.warnings,
    logger: (component) => components.ownLog.component(component),
    close: () => stopped.run(() => keepAlive(stop)),
    reload: () => components.reloadedFiles.check({ all: true }),
    flushLogSync,
    logCrash(error) {
      log.error('crash', 'an unexpected error ends the process; stderr has the message', {
        error: describeFailure(error),
      });
      flushLogSync();
    },
  };
}

/** Often enough to see when a node was alive, rare enough not to fill the log. */
const PERIOD_MS = 60_000;

/** Logs the state of the process to the own log once a minute; returns a function that stops it. */
function startHeartbeat(log: Logger, facts: () => Record<string, number>): () => void {
  const timer = setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    const toMiB = (bytes: number) => Math.round(bytes / 1_048_576);
    log.info('heartbeat', 'heartbeat', { rssMiB: toMiB(rss), heapMiB: toMiB(heapUsed), ...facts() });
  }, PERIOD_MS).unref();
  return () => clearInterval(timer);
}

/** Wildcard addresses: a node listens on them, but cannot be reached by them. */
const UNSPECIFIED = new Set(['0.0.0.0', '::', '']);

/** The address others can use: the configured one, else the bound one, else the first non-loopback address. */
export function hostAddress(configured: string, bound: string): string {
  if (configured !== '') return configured;
  if (!UNSPECIFIED.has(bound) && isIP(bound) !== 0) return bound;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = addresses.filter(({ internal }) => !internal);
  return (outside.find(({ family }) => family === 'IPv4') ?? outside[0])?.address ?? '127.0.0.1';
}

/** For a node that no other one can reach: nobody uses it. */
export function unreachableUrl({ hostIp }: NodeObject): string {
  return `http://${urlHost(hostIp)}/`;
}

export function urlHost(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
