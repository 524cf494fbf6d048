import { clusterName, endpoint, memberAddress, memberId, network, role } from '../kinds/cluster-kinds.ts';
import { duration, integer, size } from '../kinds/number-kinds.ts';
import { list, onOff, setting } from '../kinds/setting-kind.ts';
import { path, string } from '../kinds/text-kinds.ts';

/** The longest list that was measured: bench/README.md. */
const MAX_STATIC_MEMBERS = 1000;

/** The other nodes, and limits of requests to them. Without members and etcd the node is not part of a cluster. */
export const CLUSTER_ROWS = {
  name: setting({
    name: 'name',
    kind: clusterName(),
    default: 'porthole',
    about: 'Name of the cluster this node belongs to. Clusters with other names in the same etcd are ignored.',
  }),
  role: setting({
    name: 'role',
    kind: role(),
    default: 'node',
    about: 'Role of this node in its cluster, like `broker`. Configurations are compared within a role.',
  }),
  nodeId: setting({
    name: 'node-id',
    kind: memberId(),
    default: '',
    about: 'Id of this node within its cluster. Empty: HOSTNAME:HTTPPORT.',
  }),
  members: setting({
    name: 'members',
    kind: list(memberAddress(), { plural: 'members', maxItems: MAX_STATIC_MEMBERS }),
    default: [],
    about:
      'The other nodes, if there is no registry: URLs, or ID=URL. May include this node, so that all nodes can share one list. Cannot be combined with `cluster.etcd`.',
  }),
  memberNetworks: setting({
    name: 'member-networks',
    kind: list(network(), { plural: 'networks' }),
    default: [],
    about:
      'Networks (CIDR, like `10.0.0.0/8`) members must be in, whatever the registry lists; host names are checked when they are resolved. Empty: any except link-local, unspecified, multicast and cloud metadata addresses.',
  }),
  httpsOnly: setting({
    name: 'https-only',
    kind: onOff(),
    default: false,
    about:
      'Do not contact members without https. When off, they are contacted, but are sent no token if `tls.cert-file`, `cluster.ca-file` or `cluster.cert-file` is set.',
  }),
  etcd: setting({
    name: 'etcd',
    kind: list(endpoint(), { plural: 'URLs' }),
    default: [],
    about: 'Endpoints of the etcd the nodes of the cluster register in. Cannot be combined with `cluster.members`.',
  }),
  etcdUser: setting({
    name: 'etcd-user',
    kind: string(),
    default: '',
    about: 'User name for etcd. Empty: no authentication. Needs `cluster.etcd-password-file`.',
  }),
  etcdPasswordFile: setting({
    name: 'etcd-password-file',
    kind: path(),
    default: '',
    about: 'File with the password of that user.',
  }),
  etcdCaFile: setting({
    name: 'etcd-ca-file',
    kind: path(),
    default: '',
    about: "Certificate authority (PEM) of etcd's certificate. Empty: the system's authorities.",
  }),
  etcdCertFile: setting({
    name: 'etcd-cert-file',
    kind: path(),
    default: '',
    about: 'Client certificate (PEM) for etcd. Needs `cluster.etcd-key-file`.',
  }),
  etcdKeyFile: setting({
    name: 'etcd-key-file',
    kind: path(),
    default: '',
    about: 'Private key (PEM) of that certificate.',
  }),
  lindbNamespace: setting({
    name: 'lindb-namespace',
    kind: string(),
    default: '',
    about:
      "Use the nodes registered by a LinDB cluster as members: LinDB's namespace, like `/lindb-cluster`, in the etcd of `cluster.etcd`. It is only read. Empty: off.",
  }),
  tokenFile: setting({
    name: 'token-file',
    kind: path(),
    default: '',
    about:
      'File with the token this node sends to the other members, reloaded when it changes. It is never sent to LinDB nodes. Empty: no token.',
  }),
  caFile: setting({
    name: 'ca-file',
    kind: path(),
    default: '',
    about: "Certificate authority (PEM) of members with https. Empty: the system's authorities.",
  }),
  certFile: setting({
    name: 'cert-file',
    kind: path(),
    default: '',
    about: 'Client certificate (PEM) for members with https, reloaded when it changes. Needs `cluster.key-file`.',
  }),
  keyFile: setting({
    name: 'key-file',
    kind: path(),
    default: '',
    about: 'Private key (PEM) of that certificate.',
  }),
  leaseMs: setting({
    name: 'lease',
    kind: duration({ min: '2s', max: '1h' }),
    default: 10_000,
    about: 'Lease in etcd: a node that crashed is removed after this time. Counted in whole seconds.',
  }),
  memberTimeoutMs: setting({
    name: 'member-timeout',
    kind: duration({ min: '10ms', max: '10m' }),
    default: 5000,
    about:
      'Time limit for the response of a member. A member that exceeds it is reported as failed, and the response contains the others. Searches add their time budget.',
  }),
  firstBatchTimeoutMs: setting({
    name: 'first-batch-timeout',
    kind: duration({ min: '10ms', max: '10m' }),
    default: 2000,
    about: 'How long a merged search waits for the first records of a member before it continues without it.',
  }),
  maxParallel: setting({
    name: 'max-parallel',
    kind: integer({ min: 1, max: 10_000 }),
    default: 64,
    about: 'Maximum number of members contacted at the same time.',
  }),
  lastWordsDir: setting({
    name: 'last-words-dir',
    kind: path(),
    default: '',
    about:
      'Directory for snapshots: the last known configuration and newest records of each member, shown when the member is gone. Empty: `last-words` next to `logging.dir`.',
  }),
  lastWordsMaxBytes: setting({
    name: 'last-words-max-bytes',
    kind: size({ min: '0B', max: '1TiB' }),
    default: 64 * 1024 ** 2,
    about: 'Maximum total size of the snapshots; the oldest are removed first. 0: no snapshots.',
  }),
  lastWordsKeepMs: setting({
    name: 'last-words-keep',
    kind: duration({ min: '1s', max: '3650d' }),
    default: 7 * 86_400_000,
    about: 'How long a member that left or failed stays listed, with its snapshot.',
  }),
  refreshMs: setting({
    name: 'refresh',
    kind: duration({ min: '100ms', max: '1d' }),
    default: 30_000,
    about:
      'How often the clocks and snapshots of members are refreshed. With hundreds of members, each is refreshed less often.',
  }),
} as const;
