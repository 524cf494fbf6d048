import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { NodeObject, NodeState } from '@porthole/contract';
import type { WorkerPool } from '@porthole/logs';
import type { ReloadedGroup } from './auth/reloaded-files.ts';
import { ARRIVAL_TIMEOUT_MS, type BoundPorts, bindFreePorts, type PortOptions } from './bind-ports.ts';
import { createHttpAdapter } from './http/http-adapter.ts';
import { type NodeComponents, openNodeComponents } from './node-components.ts';
import type { Logger } from './own-log/logger.ts';
import { type LoadedSettings, loadSettings, type SettingsSources } from './settings/load-settings.ts';
import type { PartialSettings, Settings } from './settings/settings.ts';
import { readTlsFiles } from './tls-files.ts';
import { describeFailure } from './transport/request-log.ts';
import { createRequestPolicy, type RequestPolicy } from './transport/request-policy.ts';
import { ownVersion } from './version.ts';

export interface StartNodeOptions extends Omit<SettingsSources, 'options'> {
  /** Settings given by the program itself; they win over file, environment and flags. */
  settings?: PartialSettings;
  /** Returns the embedding service's configuration as TOML text; without it, the node shows its own settings. */
  config?: () => string | Promise<string>;
  /** The version reported in the node object; Porthole's own by default. */
  version?: string;
  /** URL of a demo cluster, which the console offers while nothing is configured. */
  demoUrl?: string;
  /** Worker pool shared with other nodes of this process, instead of `search.workers` of its own. The caller closes it. */
  threads?: WorkerPool;
}

export interface RunningNode {
  readonly url: string;
  readonly node: NodeObject;
  /** The same responses as over HTTP, without the network. */
  readonly state: NodeState;
  /** Warnings for the operator; the node has started anyway. */
  readonly warnings: readonly string[];
  /** For records of the embedding service in the node's log. */
  logger(component: string): Logger;
  /** Stops accepting, waits up to `node.stop-timeout` for running responses, flushes the log. Idempotent. */
  stop(): Promise<void>;
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

/** A node on its way from its settings to its first request. */
interface StartingNode {
  loaded: LoadedSettings;
  /** Completed when the ports are bound, which is before any request can arrive. */
  node: NodeObject;
  components: NodeComponents;
  policy: RequestPolicy;
  log: Logger;
  demoUrl: string | undefined;
  /** Closes everything but the ports. */
  close(): Promise<void>;
}

/** Starts a node: settings, own log, gRPC and HTTP bound, ready. Stopping runs in reverse order. */
export async function startNode(options: StartNodeOptions = {}): Promise<RunningNode> {
  const { settings: given, config: configText, version = ownVersion(), threads, demoUrl, ...sources } = options;
  const loaded = await loadSettings({ ...sources, ...(given && { options: given }) });
  const { settings } = loaded;
  const hostName = settings.node.hostName || hostname();
  const node: NodeObject = { hostIp: '', hostName, grpcPort: 0, httpPort: 0, version, onlineTime: Date.now() };
  const phase = { isStopping: false };
  const isStopping = () => phase.isStopping;
  const components = await openNodeComponents(loaded, { configText, node: () => node, isStopping, threads });
  const { cluster, logs } = components;
  const log = components.ownLog.component('node');
  const policy = createRequestPolicy({ ...components, settings, isStopping });
  const close = async () => {
    await cluster.close();
    policy.metrics.close();
    await components.close();
  };

  const starting: StartingNode = { loaded, node, components, policy, log, demoUrl, close };
  const ports = await bindPorts(starting);
  const tlsFiles = tlsGroup(settings, { ports, components });
  await components.reloadedFiles.start([...components.credentialFiles, ...tlsFiles, ...cluster.files]);
  const url = nodeUrl(node, components.tls ? 'https' : 'http');
  await cluster.start(node, url).catch(async (error) => {
    await ports.stop(0);
    await close();
    throw error;
  });
  for (const warning of components.warnings) log.warn('start', warning);
  log.info('start', 'the node is ready', { url, grpcPort: node.grpcPort, version, logDir: logs.path });
  const stopHeartbeat = startHeartbeat(log, () => ({
    openStreams: policy.slots.taken,
    openFiles: logs.usage.openFiles,
  }));
  const stop = () => {
    phase.isStopping = true;
    stopHeartbeat();
    return stopNode(starting, ports);
  };
  return createRunningNode(starting, { url, stop });
}

/** Binds the ports and completes the node object. */
async function bindPorts({ loaded, node, components, policy, log, demoUrl, close }: StartingNode): Promise<BoundPorts> {
  const { settings } = loaded;
  const { version, hostName } = node;
  const isDefault = (key: string) =>
    loaded.values.some(({ definition, source }) => definition.key === key && source === 'default');
  const portOptions: PortOptions = {
    tls: components.tls,
    onRequest: createHttpAdapter({ ...components, policy, settings, version, hostName, demoUrl }),
    openGrpcAdapter: async () => {
      const { createGrpcAdapter } = await import('./grpc/grpc-adapter.ts');
      const { maxRequestBytes } = settings.grpc;
      const grpcLog = components.ownLog.component('grpc');
      const arrivalTimeoutMs = ARRIVAL_TIMEOUT_MS;
      return createGrpcAdapter({ ...components, policy, log: grpcLog, arrivalTimeoutMs, maxRequestBytes });
    },
    onGrpcFailure: (error) => log.error('grpc', 'the gRPC service cannot be opened', { error: describeFailure(error) }),
  };
  const defaults = { http: isDefault('http.port'), grpc: isDefault('grpc.port') };
  const ports = await bindFreePorts(settings, portOptions, defaults).catch(async (error) => {
    log.error('start', 'the node cannot start', { error });
    await close();
    throw error;
  });
  if (ports.warning) components.warnings.push(ports.warning);
  node.hostIp = hostAddress(settings.node.hostIp, ports.host);
  node.httpPort = ports.httpPort;
  node.grpcPort = ports.grpcPort;
  return ports;
}

async function stopNode({ loaded, components, policy, log, close }: StartingNode, ports: BoundPorts): Promise<void> {
  log.info('stop', 'the node is stopping', { openStreams: policy.slots.taken });
  // First leave the list of members, so that no more requests arrive.
  await components.cluster.close();
  policy.endFollows();
  await ports.stop(loaded.settings.node.stopTimeoutMs);
  log.info('stop', 'the node has stopped');
  await close();
}

function createRunningNode(
  { node, components, log }: StartingNode,
  { url, stop }: { url: string; stop(): Promise<void> },
): RunningNode {
  let stopped: Promise<void> | undefined;
  const flushLogSync = () => {
    components.accessLog.flushSync();
    components.ownLog.flushSync();
  };
  return {
    url,
    node,
    state: components.state,
    warnings: components.warnings,
    logger: (component) => components.ownLog.component(component),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
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

/** Certificates and keys are reloaded together: a new certificate does not match the old key. */
function tlsGroup(
  settings: Settings,
  { ports, components }: { ports: BoundPorts; components: Pick<NodeComponents, 'tls' | 'access'> },
): ReloadedGroup[] {
  const { certFile, keyFile } = settings.tls;
  if (certFile === '') return [];
  const { clientCaFile, clientCrlFile } = settings.auth;
  const paths = [certFile, keyFile, clientCaFile, clientCrlFile].filter((path) => path !== '');
  let lists = components.tls?.clientCrl;
  const reload = async () => {
    const files = await readTlsFiles(settings);
    if (!files) return;
    ports.renewTls(files);
    if (!files.clientCrl || (lists && files.clientCrl.equals(lists))) return;
    lists = files.clientCrl;
    components.access.renewRevocations();
    ports.retireConnections();
  };
  return [{ setting: 'tls.cert-file', paths, reload }];
}

function nodeUrl({ hostIp, httpPort }: NodeObject, scheme: string): string {
  return `${scheme}://${hostIp.includes(':') ? `[${hostIp}]` : hostIp}:${httpPort}/`;
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
function hostAddress(configured: string, bound: string): string {
  if (configured !== '') return configured;
  if (!UNSPECIFIED.has(bound) && isIP(bound) !== 0) return bound;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = addresses.filter(({ internal }) => !internal);
  return (outside.find(({ family }) => family === 'IPv4') ?? outside[0])?.address ?? '127.0.0.1';
}
