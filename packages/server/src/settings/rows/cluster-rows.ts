import { clusterName, endpoint, memberAddress, memberId, network, role } from '../kinds/cluster-kinds.ts';
import { list } from '../kinds/list.ts';
import { duration, integer, size } from '../kinds/number-kinds.ts';
import { onOff } from '../kinds/on-off.ts';
import { path, string } from '../kinds/text-kinds.ts';
import { setting } from './setting-row.ts';

/** Read once, and as far as a list was measured: bench/README.md. */
const MAX_STATIC_MEMBERS = 1000;

/** Who the other nodes are, and what asking them may cost. Without members and etcd the node is alone. */
export const CLUSTER_ROWS = {
  name: setting({
    name: 'name',
    kind: clusterName(),
    default: 'porthole',
    about: 'The cluster this node belongs to. Clusters of other names in the same etcd are not seen.',
  }),
  role: setting({
    name: 'role',
    kind: role(),
    default: 'node',
    about: 'What this node does in its cluster, like `broker`. Configurations are compared within a role.',
  }),
  nodeId: setting({
    name: 'node-id',
    kind: memberId(),
    default: '',
    about: 'Names this node within its cluster. Empty: HOSTNAME:HTTPPORT.',
  }),
  members: setting({
    name: 'members',
    kind: list(memberAddress(), { plural: 'members', maxItems: MAX_STATIC_MEMBERS }),
    default: [],
    about:
      'The other nodes, where there is no registry: URLs, or ID=URL. This node may be among them, so that all can have the same list. Not beside `cluster.etcd`.',
  }),
  memberNetworks: setting({
    name: 'member-networks',
    kind: list(network(), { plural: 'networks' }),
    default: [],
    about:
      'Networks (CIDR, like `10.0.0.0/8`) that members may be in, whatever a registry says; names are checked when they are resolved. Empty: any but link-local, unspecified, multicast and cloud metadata addresses.',
  }),
  httpsOnly: setting({
    name: 'https-only',
    kind: onOff(),
    default: false,
    about:
      'Do not contact members whose address is not https. Without it they are contacted, but get no token where `tls.cert-file`, `cluster.ca-file` or `cluster.cert-file` is set.',
  }),
  etcd: setting({
    name: 'etcd',
    kind: list(endpoint(), { plural: 'URLs' }),
    default: [],
    about: 'Endpoints of the etcd in which the nodes of the cluster register. Not beside `cluster.members`.',
  }),
  etcdUser: setting({
    name: 'etcd-user',
    kind: string(),
    default: '',
    about: 'The user at etcd. Empty: none. Needs `cluster.etcd-password-file`.',
  }),
  etcdPasswordFile: setting({
    name: 'etcd-password-file',
    kind: path(),
    default: '',
    about: 'A file with the password of that user.',
  }),
  etcdCaFile: setting({
    name: 'etcd-ca-file',
    kind: path(),
    default: '',
    about: 'The authority (PEM) that signed the certificate of etcd. Empty: those the system knows.',
  }),
  etcdCertFile: setting({
    name: 'etcd-cert-file',
    kind: path(),
    default: '',
    about: 'The certificate (PEM) this node shows to etcd. Needs `cluster.etcd-key-file`.',
  }),
  etcdKeyFile: setting({
    name: 'etcd-key-file',
    kind: path(),
    default: '',
    about: 'The private key (PEM) of that certificate.',
  }),
  lindbNamespace: setting({
    name: 'lindb-namespace',
    kind: string(),
    default: '',
    about:
      "Take the nodes of a LinDB cluster as members, as they registered themselves: LinDB's own namespace, like `/lindb-cluster`, in the etcd of `cluster.etcd`, which is only read. Empty: off.",
  }),
  tokenFile: setting({
    name: 'token-file',
    kind: path(),
    default: '',
    about:
      'A file with the token this node shows to the other members, read again when it changes. LinDB nodes never get it. Empty: none.',
  }),
  caFile: setting({
    name: 'ca-file',
    kind: path(),
    default: '',
    about: 'The authority (PEM) that signed the certificates of members with https. Empty: those the system knows.',
  }),
  certFile: setting({
    name: 'cert-file',
    kind: path(),
    default: '',
    about:
      'The certificate (PEM) this node shows to members with https, read again when it changes. Needs `cluster.key-file`.',
  }),
  keyFile: setting({
    name: 'key-file',
    kind: path(),
    default: '',
    about: 'The private key (PEM) of that certificate.',
  }),
  leaseMs: setting({
    name: 'lease',
    kind: duration({ min: '2s', max: '1h' }),
    default: 10_000,
    about: 'A node that died without a word leaves etcd after so long. Counted in whole seconds.',
  }),
  memberTimeoutMs: setting({
    name: 'member-timeout',
    kind: duration({ min: '10ms', max: '10m' }),
    default: 5000,
    about:
      'How long a member may take to answer; then it is reported, and the others are the answer. A search gives it the time it may look besides.',
  }),
  firstBatchTimeoutMs: setting({
    name: 'first-batch-timeout',
    kind: duration({ min: '10ms', max: '10m' }),
    default: 2000,
    about: 'How long a merged search waits for the first records of a member before it goes on without it.',
  }),
  maxParallel: setting({
    name: 'max-parallel',
    kind: integer({ min: 1, max: 10_000 }),
    default: 64,
    about: 'How many members are asked at the same time.',
  }),
  lastWordsDir: setting({
    name: 'last-words-dir',
    kind: path(),
    default: '',
    about:
      'Where the last known configuration and the end of the log of each member are kept, to be shown when it has died. Empty: `last-words` beside the directory of `logging.dir`.',
  }),
  lastWordsMaxBytes: setting({
    name: 'last-words-max-bytes',
    kind: size({ min: '0B', max: '1TiB' }),
    default: 64 * 1024 ** 2,
    about: 'How much of that is kept; the oldest goes first. 0: nothing is kept.',
  }),
  lastWordsKeepMs: setting({
    name: 'last-words-keep',
    kind: duration({ min: '1s', max: '3650d' }),
    default: 7 * 86_400_000,
    about: 'How long the snapshot of a member that has left or failed is kept, and the member listed.',
  }),
  refreshMs: setting({
    name: 'refresh',
    kind: duration({ min: '100ms', max: '1d' }),
    default: 30_000,
    about:
      'How often members are looked at: their clocks and last words. With hundreds of members, each is looked at less often.',
  }),
} as const;
