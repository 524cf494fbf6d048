import { MAX_LABELS } from '@porthole/contract';
import { PATTERN_NAMES } from '@porthole/logs';
import { formatList } from './format-kind.ts';
import { indexLimit } from './index-limit.ts';
import { duration, integer, list, onOff, port, type SettingKind, type SettingScalar, size } from './setting-kinds.ts';
import { choice, text } from './text-kinds.ts';

const KIB = 1024;
const MIB = 1024 ** 2;
const DAY_MS = 86_400_000;

/** The longest list that was measured: bench/README.md. */
const MAX_STATIC_MEMBERS = 1000;

/** Each is read by a process of its own. */
const MAX_UNITS = 16;

export interface SettingRow {
  kind: SettingKind;
  /** As in memory: milliseconds, bytes; a relative path counts from the working directory. */
  default: SettingScalar | readonly string[];
  /** What it does and what its special values mean. One or more sentences, Markdown without links. */
  about: string;
  /** The key within its table of the file, if it is not the property without its unit `Ms`, with dashes. */
  name?: string;
  /** Instead of `--section-name`. */
  flag?: string;
}

/**
 * Every setting of a node, once: `Settings`, parsing, environment names, flags, the rendered configuration and the
 * documentation are made from this table. The outer name is the table of the file, the inner one the property of
 * `Settings`, with its unit. Settings are shown to clients, so none is a secret: it names the file that holds one.
 */
// biome-ignore format: a table, one or two lines per row
export const SETTING_ROWS = {
  node: {
    hostIp: { kind: text.ip, default: '',
      about: 'Address at which others reach this node. Empty: the address it listens on, or the first non-loopback address of the machine.' },
    hostName: { kind: text.string, default: '', about: "Host name reported by the node. Empty: the system's host name." },
    labels: { kind: list(text.label, 'labels', MAX_LABELS), default: [],
      about: 'What operators call this node, like `zone=a` and `rack=7`: shown with it, and cluster requests can select members by it.' },
    timeZone: { kind: text.timeZone, default: '',
      about: "Time zone of log timestamps that have none. Empty: the system's zone." },
    stopTimeoutMs: { kind: duration('0s', '1h'), default: 10_000,
      about: 'How long a stopping node waits for running responses before it closes them.' },
  },
  http: {
    host: { kind: text.host, default: '127.0.0.1',
      about: 'Address HTTP and gRPC listen on. Any address other than loopback requires credentials (`auth.token-file`, JWTs, client certificates) or `auth.allow-anonymous`.' },
    port: { kind: port, default: 7300, about: 'HTTP port. 0: any free port.' },
    socket: { kind: text.path, default: '',
      about: 'Path of a Unix socket HTTP listens on instead of `http.host` and `http.port`. A socket that no process uses any more is replaced.' },
    basePath: { kind: text.basePath, default: '',
      about: 'Path that everything is served below, the console included: `"/ops"`. A reverse proxy must pass it on.' },
    allowedHosts: { kind: list(text.host, 'hosts'), default: [],
      about: "Additional names accepted in the `Host` header when no credentials are required. Loopback names, the host name and the node's address are always accepted." },
    corsOrigins: { kind: list(text.origin, 'origins'), default: [],
      about: 'Origins of web pages that may read responses in a browser. `"*"`: all; empty: only the node\'s own pages.' },
    maxHeaderBytes: { kind: size('1KiB', '1MiB'), default: 16 * KIB,
      about: 'Maximum size of the request headers, including the URL.' },
    maxUrlBytes: { kind: size('256B', '1MiB'), default: 8 * KIB,
      about: 'Maximum length of the request URL. At most `http.max-header-bytes`.' },
    maxStreams: { kind: integer(1, 100_000), default: 128,
      about: 'Maximum number of concurrent responses that read logs. A quarter is reserved for responses that end by themselves and, with `cluster.token-file`, a quarter for other nodes.' },
    maxStreamsPerClient: { kind: integer(0, 100_000), default: 0,
      about: 'Maximum of these per client: an identity or, if anonymous, an address (IPv6: a /64). 0: a quarter of `http.max-streams`. Raise it if all clients come through one proxy without their own credentials.' },
    maxRequestsPerSecond: { kind: integer(0, 1_000_000), default: 0,
      about: 'Maximum requests per second and client address (IPv6: /64). 0: no limit.' },
    stallTimeoutMs: { kind: duration('10ms', '1d'), default: 30_000,
      about: 'A client that reads nothing for this long is disconnected.' },
    answerTimeoutMs: { kind: duration('10ms', '1d'), default: 60_000,
      about: 'Time limit for the first byte of a response.' },
  },
  grpc: {
    enabled: { kind: onOff, default: true, about: 'Whether gRPC is served.' },
    port: { kind: port, default: 7301, about: 'gRPC port, on the address of `http.host`. 0: any free port.' },
    maxRequestBytes: { kind: size('1KiB', '1MiB'), default: 64 * KIB,
      about: 'Maximum size of a gRPC request message.' },
  },
  mcp: {
    enabled: { kind: onOff, default: false,
      about: 'Whether assistants are served at `/mcp` (Model Context Protocol). Each tool needs the role of what it reads.' },
  },
  auth: {
    tokenFile: { kind: text.path, default: '',
      about: 'File with hashed bearer tokens, reloaded when it changes. When set, every request needs credentials: one of these tokens, or another configured kind.' },
    allowAnonymous: { kind: onOff, default: false, about: 'Serve other machines without requiring credentials.' },
    jwksUrl: { kind: text.keysUrl, default: '',
      about: 'URL of the public keys (JWKS) that JWTs are signed with. When set, JWTs are accepted as credentials. Cannot be combined with `auth.jwks-file`.' },
    jwksFile: { kind: text.path, default: '', about: 'File with the same keys, reloaded when it changes.' },
    jwtIssuer: { kind: text.string, default: '', about: 'Required value of the `iss` claim of a JWT.' },
    jwtAudience: { kind: text.string, default: '',
      about: 'Required value of the `aud` claim of a JWT; if the claim is a list, it must contain this value.' },
    jwtAlgorithms: { kind: list(text.algorithm, 'algorithms'), default: ['RS256', 'ES256', 'EdDSA'],
      about: 'Accepted signature algorithms of JWTs. Only algorithms with a public key are allowed.' },
    jwtClockToleranceMs: { kind: duration('0s', '10m'), default: 30_000,
      about: 'Accepted clock difference to the issuer. Counted in whole seconds.' },
    jwtNameClaim: { kind: text.claimPath, default: 'sub', about: "The claim used as the client's name in logs." },
    jwtRolesClaim: { kind: text.claimPath, default: 'groups',
      about: "The claim with the client's groups or roles: a string or a list of strings. Dots select nested claims." },
    jwtRoles: { kind: list(text.roleRule, 'role rules'), default: [],
      about: 'Maps values of that claim to roles: `"ops-*=viewer+config"`.' },
    jwksRefetchMs: { kind: duration('1s', '1h'), default: 30_000,
      about: 'Minimum time between two fetches of the keys. A JWT with an unknown key triggers a fetch.' },
    jwksKeepMs: { kind: duration('1m', '30d'), default: DAY_MS,
      about: 'How long fetched keys stay valid while `auth.jwks-url` does not respond.' },
    clientCaFile: { kind: text.path, default: '',
      about: 'Certificate authorities (PEM) whose client certificates are accepted as credentials, reloaded when the file changes. Needs `tls.cert-file` and `auth.client-roles`.' },
    clientCrlFile: { kind: text.path, default: '',
      about: 'Revocation lists (PEM), one per authority in `auth.client-ca-file`, reloaded when the file changes. Revoked certificates are refused; if a list is missing or expired, all certificates of its authority are refused. Empty: no revocation check.' },
    clientRoles: { kind: list(text.certificateRule, 'certificate rules'), default: [],
      about: 'Maps names in client certificates to roles: `"CN:ops-*=viewer"`, `"DNS:*.db.example.org=admin"`; also `URI:`, `EMAIL:` and `IP:`.' },
    protectMetrics: { kind: onOff, default: true,
      about: 'Whether `/metrics` needs credentials (of any role) when credentials are configured.' },
    deniedFiles: { kind: list(text.filePattern, 'file patterns'), default: [],
      about: 'Logs that are never shown to anyone, including their rotated and compressed files: `"audit*.log"`.' },
    maxFailuresPerMinute: { kind: integer(0, 1_000_000), default: 60,
      about: 'Requests without valid credentials allowed per minute and client address (IPv6: its /64); more are refused with 429. 0: no limit.' },
  },
  tls: {
    certFile: { kind: text.path, default: '',
      about: 'Certificate chain (PEM), reloaded when it changes. Empty: no TLS. Needs `tls.key-file`.' },
    keyFile: { kind: text.path, default: '', about: 'Private key (PEM) of the certificate. Needs `tls.cert-file`.' },
  },
  service: {
    configFile: { kind: text.path, default: '', flag: 'service-config',
      about: 'Configuration file of the service this node runs next to. Empty: the node shows its own settings.' },
    logDir: { kind: text.path, default: '', flag: 'log-dir',
      about: 'Log directory of the service this node runs next to. Empty: the node shows its own logs.' },
  },
  logging: {
    dir: { kind: text.path, default: 'data/log', about: "Directory of the node's own log files." },
    level: { kind: choice(['debug', 'info', 'warn', 'error']), default: 'info', flag: 'log-level',
      about: "Lowest level written to the node's own log." },
    maxFileBytes: { name: 'max-file-size', kind: size('1KiB', '1TiB'), default: 64 * MIB,
      about: "The node's own log is rotated at this size." },
    maxFileAgeMs: { kind: duration('1s', '3650d'), default: DAY_MS,
      about: "The node's own log is rotated at this age." },
    keepFiles: { kind: integer(1, 10_000), default: 8, about: 'Number of rotated files to keep.' },
    keepAgeMs: { kind: duration('1s', '3650d'), default: 30 * DAY_MS,
      about: 'Rotated files older than this are removed.' },
    access: { kind: choice(['off', 'security', 'all']), default: 'security', flag: 'access-log',
      about: "Which requests are logged in `access.log`, next to the node's own log. `security`: refused requests and, when credentials are configured, configuration reads and downloads. The node never serves this file." },
    gzip: { kind: onOff, default: false, about: 'Compress rotated files.' },
  },
  log: {
    recursive: { kind: onOff, default: false,
      about: 'Serve the files in the directories below the log directory, too, named by their path (`nginx/access.log`). The three basic operations list and view only the files directly in it.' },
    recursiveDepth: { kind: integer(1, 16), default: 4, about: 'Levels of directories read with `log.recursive`.' },
    recursiveFiles: { kind: integer(1, 1_000_000), default: 10_000,
      about: 'Maximum number of entries of those directories. More are not listed, and responses about all logs report it.' },
    roots: { kind: list(text.path, 'directories'), default: [],
      about: 'Directories outside the log directory that links in it may lead to. Other links that leave it are not followed.' },
    journal: { kind: onOff, default: false, flag: 'journal',
      about: 'Serve the systemd journal of this machine as a log, too (`journal/all.log`), read with `journalctl`. The user of the node must be in the group systemd-journal.' },
    journalUnits: { kind: list(text.unitName, 'systemd units', MAX_UNITS), default: [], flag: 'journal-unit',
      about: 'Only these units of the journal, each as a log of its own: `["nginx", "sshd.service"]`. Empty: all units in one log.' },
    journalDir: { kind: text.path, default: '', flag: 'journal-dir',
      about: "Directory of the journal files, as of a mounted host. Empty: this machine's." },
    journalMaxBytes: { name: 'journal-max-size', kind: size('8MiB', '1TiB'), default: 256 * MIB,
      about: 'Maximum size of what is kept of the journal, in `journal` next to `logging.dir`; the oldest entries are removed first.' },
    formats: { kind: formatList, default: [],
      about: 'Log formats of your own, tried before the built-in ones: tables with `name`, `lines`, `times` and optionally `levels` and `samples`, see docs/formats.md. In a variable or flag: the same as JSON.' },
  },
  logs: {
    scrub: { kind: onOff, default: true,
      about: "Mask the secrets of the configurations this node knows (its own and its service's) in log text." },
    scrubPatterns: { kind: list(choice(PATTERN_NAMES), 'pattern names'), default: [],
      about: `Mask also what looks like a secret: ${PATTERN_NAMES.map((name) => `\`"${name}"\``).join(', ')}. Only while \`logs.scrub\` is on.` },
  },
  search: {
    workers: { kind: integer(1, 64), default: 2,
      about: 'Worker threads that scan logs, shared by searches and counts.' },
    maxQueued: { kind: integer(1, 100_000), default: 64,
      about: 'Maximum number of running and queued searches and counts (histogram, digest, top, fields); more are refused.' },
    budgetMs: { kind: duration('10ms', '1d'), default: 30_000,
      about: 'Time budget of one query. When it is used up, the response contains what was found, with a cursor to continue. A histogram or digest always ends before `http.answer-timeout`.' },
    maxRecords: { kind: integer(1, 1_000_000), default: 10_000, about: 'Maximum number of records per search.' },
    maxIndexBytes: { name: 'max-index-memory', kind: size('0B', '16GiB'), default: 16 * MIB,
      about: 'Memory for the block index, which lets later scans skip parts of files. 0: no index.' },
    maxIndexDisk: { kind: indexLimit, default: '2%',
      about: "Disk space for indexes, in the directory `index` next to `logging.dir`, which make searches fast after a restart: a size, or a share of the size of the logs. 0: nothing is kept." },
  },
  follow: {
    bufferBytes: { name: 'buffer', kind: size('64KiB', '1GiB'), default: 4 * MIB,
      about: 'Buffer per followed log for slow clients. A client that falls further behind gets a gap event and continues at the end.' },
    maxLogs: { kind: integer(1, 100_000), default: 2000,
      about: 'Maximum number of logs followed at the same time by all clients together; each holds a file open. A follow of all logs reports the ones it leaves out. Lowered automatically if the process may not open that many files.' },
    heartbeatMs: { kind: duration('100ms', '1h'), default: 15_000,
      about: 'Interval of heartbeats sent to followers of quiet logs, so that proxies keep the connection open.' },
    pollMs: { kind: duration('10ms', '1m'), default: 250,
      about: 'How often a followed log is checked for changes where the system does not report them (network file systems).' },
  },
  cluster: {
    name: { kind: text.clusterName, default: 'porthole',
      about: 'Name of the cluster this node belongs to. Clusters with other names in the same etcd are ignored.' },
    role: { kind: text.role, default: 'node',
      about: 'Role of this node in its cluster, like `broker`. Configurations are compared within a role.' },
    nodeId: { kind: text.memberId, default: '', about: 'Id of this node within its cluster. Empty: HOSTNAME:HTTPPORT.' },
    members: { kind: list(text.memberAddress, 'members', MAX_STATIC_MEMBERS), default: [],
      about: 'The other nodes, if there is no registry: URLs, or ID=URL. May include this node, so that all nodes can share one list. Cannot be combined with `cluster.etcd`.' },
    memberNetworks: { kind: list(text.network, 'networks'), default: [],
      about: 'Networks (CIDR, like `10.0.0.0/8`) members must be in, whatever the registry lists; host names are checked when they are resolved. Empty: any except link-local, unspecified, multicast and cloud metadata addresses.' },
    httpsOnly: { kind: onOff, default: false,
      about: 'Do not contact members without https. When off, they are contacted, but are sent no token if `tls.cert-file`, `cluster.ca-file` or `cluster.cert-file` is set.' },
    etcd: { kind: list(text.endpoint, 'URLs'), default: [],
      about: 'Endpoints of the etcd the nodes of the cluster register in. Cannot be combined with `cluster.members`.' },
    etcdUser: { kind: text.string, default: '',
      about: 'User name for etcd. Empty: no authentication. Needs `cluster.etcd-password-file`.' },
    etcdPasswordFile: { kind: text.path, default: '', about: 'File with the password of that user.' },
    etcdCaFile: { kind: text.path, default: '',
      about: "Certificate authority (PEM) of etcd's certificate. Empty: the system's authorities." },
    etcdCertFile: { kind: text.path, default: '',
      about: 'Client certificate (PEM) for etcd. Needs `cluster.etcd-key-file`.' },
    etcdKeyFile: { kind: text.path, default: '', about: 'Private key (PEM) of that certificate.' },
    lindbNamespace: { kind: text.string, default: '',
      about: "Use the nodes registered by a LinDB cluster as members: LinDB's namespace, like `/lindb-cluster`, in the etcd of `cluster.etcd`. It is only read. Empty: off." },
    tokenFile: { kind: text.path, default: '',
      about: 'File with the token this node sends to the other members, reloaded when it changes. It is never sent to LinDB nodes. Empty: no token.' },
    caFile: { kind: text.path, default: '',
      about: "Certificate authority (PEM) of members with https. Empty: the system's authorities." },
    certFile: { kind: text.path, default: '',
      about: 'Client certificate (PEM) for members with https, reloaded when it changes. Needs `cluster.key-file`.' },
    keyFile: { kind: text.path, default: '', about: 'Private key (PEM) of that certificate.' },
    leaseMs: { kind: duration('2s', '1h'), default: 10_000,
      about: 'Lease in etcd: a node that crashed is removed after this time. Counted in whole seconds.' },
    memberTimeoutMs: { kind: duration('10ms', '10m'), default: 5000,
      about: 'Time limit for the response of a member. A member that exceeds it is reported as failed, and the response contains the others. Searches add their time budget.' },
    firstBatchTimeoutMs: { kind: duration('10ms', '10m'), default: 2000,
      about: 'How long a merged search waits for the first records of a member before it continues without it.' },
    maxParallel: { kind: integer(1, 10_000), default: 64,
      about: 'Maximum number of members contacted at the same time.' },
    treeFrom: { kind: integer(0, 10_000), default: 65,
      about: 'Number of members from which on requests to all of them go through helpers: some of the members, each of which asks a group. 0: never.' },
    groupSize: { kind: integer(0, 256), default: 0,
      about: 'Number of members that a helper asks. 0: the square root of the number of members.' },
    lastWordsDir: { kind: text.path, default: '',
      about: 'Directory for snapshots: the last known configuration and newest records of each member, shown when the member is gone. Empty: `last-words` next to `logging.dir`.' },
    lastWordsMaxBytes: { kind: size('0B', '1TiB'), default: 64 * MIB,
      about: 'Maximum total size of the snapshots; the oldest are removed first. 0: no snapshots.' },
    lastWordsKeepMs: { kind: duration('1s', '3650d'), default: 7 * DAY_MS,
      about: 'How long a member that left or failed stays listed, with its snapshot.' },
    refreshMs: { kind: duration('100ms', '1d'), default: 30_000,
      about: 'How often the clocks and snapshots of members are refreshed. With hundreds of members, each is refreshed less often.' },
  },
  bundle: {
    maxBytes: { kind: size('1MiB', '3GiB'), default: 256 * MIB,
      about: 'Maximum total size of the files in a support bundle, before compression. Configurations come first; of logs that do not fit, the newest part is included.' },
    timeoutMs: { kind: duration('1s', '1d'), default: 600_000,
      about: 'Time limit for creating a support bundle. When it is reached, the bundle ends with what was collected and lists what is missing.' },
  },
  config: {
    secretKeys: { kind: list(text.keyPattern, 'key patterns'), default: [],
      about: 'Additional keys whose values are masked in configurations, besides the well-known ones. `*` matches any characters, `?` one.' },
    maxBytes: { kind: size('1KiB', '256MiB'), default: MIB,
      about: 'Maximum size of a configuration, from a file or from another member.' },
  },
} as const satisfies Record<string, Record<string, SettingRow>>;
