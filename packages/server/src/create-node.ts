import { type EmbeddedNode, NODE_OPTION_KINDS, type NodeOptions } from './embedded-node.ts';
import { StartError } from './errors.ts';
import {
  announceNode,
  hostAddress,
  type OpenNode,
  openNode,
  stopNode,
  toEmbeddedNode,
  unreachableUrl,
} from './open-node.ts';
import { checkOptions } from './settings/check-options.ts';

export interface CreateNodeOptions extends NodeOptions {
  /** The URL the node is reachable by, with its path: `https://shop.example.org/ops`. Required in a cluster. */
  url?: string;
}

/**
 * Creates a node that opens no port and, unless a setting says where, writes nothing: its program passes requests to
 * `handler` or `fetch`. Listens to no signals; the program closes it. Unexpected errors of the node's own code do not end the program.
 */
export async function createNode(given: CreateNodeOptions = {}): Promise<EmbeddedNode> {
  checkOptions('createNode()', given, { ...NODE_OPTION_KINDS, url: 'string' });
  const { url, ...options } = given;
  const reachedBy = url === undefined ? undefined : parseUrl(url);
  const open = await openNode(options, { hostNames: reachedBy ? [reachedBy.hostname] : [], isEmbedded: true });
  const { node, components } = open;
  try {
    checkSettings(open, reachedBy);
    node.hostIp = hostAddress(open.loaded.settings.node.hostIp, '');
    node.httpPort = reachedBy ? portOf(reachedBy) : 0;
    const { credentialFiles, cluster, reloadedFiles } = components;
    await reloadedFiles.start([...credentialFiles, ...cluster.files]);
    await cluster.start(node, reachedBy?.href ?? unreachableUrl(node));
  } catch (error) {
    await open.close();
    throw error;
  }
  const stopHeartbeat = announceNode(open, reachedBy?.href ?? '');
  return toEmbeddedNode(open, () => {
    open.refuseRequests();
    stopHeartbeat();
    return stopNode(open);
  });
}

function parseUrl(url: string): URL {
  if (!/^https?:\/\/[^@\\\s?#]+$/i.test(url) || !URL.canParse(url))
    throw new StartError(
      `option url: ${JSON.stringify(url)} is not a URL like "https://shop.example.org/ops", without a query`,
      { code: 'OPTION_INVALID' },
    );
  return new URL(url);
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Settings of what listens. */
const OF_PORTS = /^(?:http\.(?:host|port|socket)$|grpc\.)/;

function checkSettings(
  { loaded: { settings, values }, components: { cluster } }: OpenNode,
  url: URL | undefined,
): void {
  if (settings.tls.certFile !== '')
    throw new StartError(
      'option tls.certFile: createNode opens no port; set up TLS and client certificates on the server it is mounted in',
      { code: 'OPTION_INVALID' },
    );
  const unused = values.find(
    ({ definition: { key }, value, source }) => source !== 'default' && value !== 0 && OF_PORTS.test(key),
  );
  if (unused)
    throw new StartError(`option ${unused.definition.key}: createNode opens no port, so that it has no effect`, {
      code: 'OPTION_INVALID',
    });
  if (cluster.isConfigured && !url)
    throw new StartError('option url: a node in a cluster needs the URL at which the other members reach it', {
      code: 'OPTION_INVALID',
    });
  const isTold = values.some(({ definition: { key }, source }) => key === 'logging.dir' && source !== 'default');
  if (cluster.isConfigured && !isTold && settings.cluster.recordDir === '')
    throw new StartError(
      'option logging.dir: a node in a cluster records the other members; say next to what directory',
      {
        code: 'OPTION_INVALID',
      },
    );
}
