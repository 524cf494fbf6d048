import type { ReloadedGroup } from './auth/reloaded-files.ts';
import { ARRIVAL_TIMEOUT_MS, type BoundPorts, bindFreePorts, type PortOptions } from './bind-ports.ts';
import { type EmbeddedNode, NODE_OPTION_KINDS, type NodeOptions } from './embedded-node.ts';
import { describeFailure } from './errors.ts';
import { giveMemoryBack } from './give-memory-back.ts';
import type { NodeComponents } from './node-components.ts';
import {
  announceNode,
  hostAddress,
  type OpenNode,
  openNode,
  stopNode,
  toEmbeddedNode,
  unreachableUrl,
  urlHost,
} from './open-node.ts';
import { checkOptions } from './settings/check-options.ts';
import type { PartialSettings, Settings } from './settings/settings.ts';
import { readTlsFiles } from './tls-files.ts';

export interface StartNodeOptions extends NodeOptions {
  /** `false`: no gRPC, the same as the setting `grpc.enabled`. */
  grpc?: boolean;
  /**
   * The process exists for this node, as that of the program `porthole` does: unexpected errors end it. Without it, those
   * of the node's own code are logged and counted, and its program goes on.
   */
  ownsProcess?: boolean;
}

/** A node with a server of its own. It can be mounted in another one, too. */
export interface RunningNode extends EmbeddedNode {
  /** With its base path; `unix:PATH` for a Unix socket. */
  readonly url: string;
  /** Stops accepting, waits up to `node.stop-timeout` for running responses, flushes the log. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a node: settings, own log, gRPC and HTTP bound, ready. Stopping runs in reverse order. */
export async function startNode(given: StartNodeOptions = {}): Promise<RunningNode> {
  checkOptions('startNode()', given, {
    ...NODE_OPTION_KINDS,
    grpc: 'boolean',
    ownsProcess: 'boolean',
  });
  const { grpc, ownsProcess = false, ...options } = given;
  const settings = grpc === undefined ? options.settings : withGrpc(options.settings, grpc);
  const open = await openNode({ ...options, ...(settings && { settings }) }, { ownsProcess });
  const { components, node, loaded } = open;
  const { cluster } = components;
  const ports = await bindPorts(open);
  let url: string;
  try {
    const tlsFiles = tlsGroup(loaded.settings, { ports, components });
    await components.reloadedFiles.start([...components.credentialFiles, ...tlsFiles, ...cluster.files]);
    url = nodeUrl(open);
    await cluster.start(node, loaded.settings.http.socket === '' ? url : unreachableUrl(node));
  } catch (error) {
    await ports.stop(0);
    await open.close();
    throw error;
  }
  const stopHeartbeat = announceNode(open, url);
  const stopCollecting = ownsProcess ? giveMemoryBack() : undefined;
  const embedded = toEmbeddedNode(open, () => {
    open.refuseRequests();
    stopHeartbeat();
    stopCollecting?.();
    return stopNode(open, (drainMs) => ports.stop(drainMs));
  });
  return { ...embedded, url, stop: embedded.close };
}

function withGrpc(settings: PartialSettings = {}, enabled: boolean): PartialSettings {
  return { ...settings, grpc: { ...settings.grpc, enabled } };
}

/** Binds the ports and completes the node object. */
async function bindPorts({ loaded, node, components, policy, log, onRequest, close }: OpenNode): Promise<BoundPorts> {
  const { settings, sources } = loaded;
  const isDefault = (key: string) =>
    loaded.values.some(({ definition, source }) => definition.key === key && source === 'default');
  const portOptions: PortOptions = {
    tls: components.tls,
    hasFlags: sources.flags !== undefined,
    onRequest,
    openGrpcAdapter: async () => {
      const { createGrpcAdapter } = await import('./grpc/grpc-adapter.ts');
      const { maxRequestBytes } = settings.grpc;
      const grpcLog = components.ownLog.component('grpc');
      const arrivalTimeoutMs = ARRIVAL_TIMEOUT_MS;
      return createGrpcAdapter({ ...components, policy, log: grpcLog, arrivalTimeoutMs, maxRequestBytes });
    },
    onFailure: (error) => log.error('listen', 'a connection cannot be accepted', { error: describeFailure(error) }),
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

function nodeUrl({ node: { hostIp, httpPort }, components, loaded }: OpenNode): string {
  const { socket, basePath } = loaded.settings.http;
  if (socket !== '') return `unix:${socket}`;
  return `${components.tls ? 'https' : 'http'}://${urlHost(hostIp)}:${httpPort}${basePath}/`;
}
