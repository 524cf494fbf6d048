import { PATTERN_NAMES } from '@porthole/logs';
import { duration, integer, port, size } from '../kinds/number-kinds.ts';
import { list, onOff, setting } from '../kinds/setting-kind.ts';
import { choice, host, ip, keyPattern, origin, path, string, zone } from '../kinds/text-kinds.ts';
import { AUTH_ROWS } from './auth-rows.ts';
import { CLUSTER_ROWS } from './cluster-rows.ts';
import { FOLLOW_ROWS, SEARCH_ROWS } from './search-rows.ts';

/** Limits of a support bundle. Archives below 4 GiB can be read by every program. */
const BUNDLE_ROWS = {
  maxBytes: setting({
    name: 'max-bytes',
    kind: size({ min: '1MiB', max: '3GiB' }),
    default: 256 * 1024 ** 2,
    about:
      'Maximum total size of the files in a support bundle, before compression. Configurations come first; of logs that do not fit, the newest part is included.',
  }),
  timeoutMs: setting({
    name: 'timeout',
    kind: duration({ min: '1s', max: '1d' }),
    default: 600_000,
    about:
      'Time limit for creating a support bundle. When it is reached, the bundle ends with what was collected and lists what is missing.',
  }),
} as const;

/** Masking of log text. */
const LOGS_ROWS = {
  scrub: setting({
    name: 'scrub',
    kind: onOff(),
    default: true,
    about: "Mask the secrets of the configurations this node knows (its own and its service's) in log text.",
  }),
  scrubPatterns: setting({
    name: 'scrub-patterns',
    kind: list(choice(PATTERN_NAMES), { plural: 'pattern names' }),
    default: [],
    about: `Mask also what looks like a secret: ${PATTERN_NAMES.map((name) => `\`"${name}"\``).join(', ')}. Only while \`logs.scrub\` is on.`,
  }),
} as const;

export type { SettingRow } from '../kinds/setting-kind.ts';

/**
 * Every setting of a node, once: `Settings`, parsing, environment names, flags, the rendered configuration and the
 * documentation are made from this table. The outer name is the table of the file, the inner one the property of
 * `Settings`, with its unit.
 */
export const SETTING_ROWS = {
  node: {
    hostIp: setting({
      name: 'host-ip',
      kind: ip(),
      default: '',
      about:
        'Address at which others reach this node. Empty: the address it listens on, or the first non-loopback address of the machine.',
    }),
    hostName: setting({
      name: 'host-name',
      kind: string(),
      default: '',
      about: "Host name reported by the node. Empty: the system's host name.",
    }),
    timeZone: setting({
      name: 'time-zone',
      kind: zone(),
      default: '',
      about: "Time zone of log timestamps that have none. Empty: the system's zone.",
    }),
    stopTimeoutMs: setting({
      name: 'stop-timeout',
      kind: duration({ min: '0s', max: '1h' }),
      default: 10_000,
      about: 'How long a stopping node waits for running responses before it closes them.',
    }),
  },
  http: {
    host: setting({
      name: 'host',
      kind: host(),
      default: '127.0.0.1',
      about:
        'Address HTTP and gRPC listen on. Any address other than loopback requires credentials (`auth.token-file`, JWTs, client certificates) or `auth.allow-anonymous`.',
    }),
    port: setting({ name: 'port', kind: port(), default: 7300, about: 'HTTP port. 0: any free port.' }),
    allowedHosts: setting({
      name: 'allowed-hosts',
      kind: list(host(), { plural: 'hosts' }),
      default: [],
      about:
        "Additional names accepted in the `Host` header when no credentials are required. Loopback names, the host name and the node's address are always accepted.",
    }),
    corsOrigins: setting({
      name: 'cors-origins',
      kind: list(origin(), { plural: 'origins' }),
      default: [],
      about:
        'Origins of web pages that may read responses in a browser. `"*"`: all; empty: only the node\'s own pages.',
    }),
    maxHeaderBytes: setting({
      name: 'max-header-bytes',
      kind: size({ min: '1KiB', max: '1MiB' }),
      default: 16 * 1024,
      about: 'Maximum size of the request headers, including the URL.',
    }),
    maxUrlBytes: setting({
      name: 'max-url-bytes',
      kind: size({ min: '256B', max: '1MiB' }),
      default: 8 * 1024,
      about: 'Maximum length of the request URL. At most `http.max-header-bytes`.',
    }),
    maxStreams: setting({
      name: 'max-streams',
      kind: integer({ min: 1, max: 100_000 }),
      default: 128,
      about:
        'Maximum number of concurrent responses that read logs. A quarter is reserved for responses that end by themselves and, with `cluster.token-file`, a quarter for other nodes.',
    }),
    maxStreamsPerClient: setting({
      name: 'max-streams-per-client',
      kind: integer({ min: 0, max: 100_000 }),
      default: 0,
      about:
        'Maximum of these per client: an identity or, if anonymous, an address (IPv6: a /64). 0: a quarter of `http.max-streams`. Raise it if all clients come through one proxy without their own credentials.',
    }),
    maxRequestsPerSecond: setting({
      name: 'max-requests-per-second',
      kind: integer({ min: 0, max: 1_000_000 }),
      default: 0,
      about: 'Maximum requests per second and client address (IPv6: /64). 0: no limit.',
    }),
    stallTimeoutMs: setting({
      name: 'stall-timeout',
      kind: duration({ min: '10ms', max: '1d' }),
      default: 30_000,
      about: 'A client that reads nothing for this long is disconnected.',
    }),
    answerTimeoutMs: setting({
      name: 'answer-timeout',
      kind: duration({ min: '10ms', max: '1d' }),
      default: 60_000,
      about: 'Time limit for the first byte of a response.',
    }),
  },
  grpc: {
    port: setting({
      name: 'port',
      kind: port(),
      default: 7301,
      about: 'gRPC port, on the address of `http.host`. 0: any free port.',
    }),
    maxRequestBytes: setting({
      name: 'max-request-bytes',
      kind: size({ min: '1KiB', max: '1MiB' }),
      default: 64 * 1024,
      about: 'Maximum size of a gRPC request message.',
    }),
  },
  auth: AUTH_ROWS,
  tls: {
    certFile: setting({
      name: 'cert-file',
      kind: path(),
      default: '',
      about: 'Certificate chain (PEM), reloaded when it changes. Empty: no TLS. Needs `tls.key-file`.',
    }),
    keyFile: setting({
      name: 'key-file',
      kind: path(),
      default: '',
      about: 'Private key (PEM) of the certificate. Needs `tls.cert-file`.',
    }),
  },
  service: {
    configFile: setting({
      name: 'config-file',
      kind: path(),
      default: '',
      about: 'Configuration file of the service this node runs next to. Empty: the node shows its own settings.',
      flag: 'service-config',
    }),
    logDir: setting({
      name: 'log-dir',
      kind: path(),
      default: '',
      about: 'Log directory of the service this node runs next to. Empty: the node shows its own logs.',
      flag: 'log-dir',
    }),
  },
  logging: {
    dir: setting({
      name: 'dir',
      kind: path(),
      default: 'data/log',
      about: "Directory of the node's own log files.",
    }),
    level: setting({
      name: 'level',
      kind: choice(['debug', 'info', 'warn', 'error']),
      default: 'info',
      about: "Lowest level written to the node's own log.",
      flag: 'log-level',
    }),
    maxFileBytes: setting({
      name: 'max-file-size',
      kind: size({ min: '1KiB', max: '1TiB' }),
      default: 64 * 1024 ** 2,
      about: "The node's own log is rotated at this size.",
    }),
    maxFileAgeMs: setting({
      name: 'max-file-age',
      kind: duration({ min: '1s', max: '3650d' }),
      default: 86_400_000,
      about: "The node's own log is rotated at this age.",
    }),
    keepFiles: setting({
      name: 'keep-files',
      kind: integer({ min: 1, max: 10_000 }),
      default: 8,
      about: 'Number of rotated files to keep.',
    }),
    keepAgeMs: setting({
      name: 'keep-age',
      kind: duration({ min: '1s', max: '3650d' }),
      default: 30 * 86_400_000,
      about: 'Rotated files older than this are removed.',
    }),
    access: setting({
      name: 'access',
      kind: choice(['off', 'security', 'all']),
      default: 'security',
      about:
        "Which requests are logged in `access.log`, next to the node's own log. `security`: refused requests and, when credentials are configured, configuration reads and downloads. The node never serves this file.",
      flag: 'access-log',
    }),
    gzip: setting({ name: 'gzip', kind: onOff(), default: false, about: 'Compress rotated files.' }),
  },
  logs: LOGS_ROWS,
  search: SEARCH_ROWS,
  follow: FOLLOW_ROWS,
  cluster: CLUSTER_ROWS,
  bundle: BUNDLE_ROWS,
  config: {
    secretKeys: setting({
      name: 'secret-keys',
      kind: list(keyPattern(), { plural: 'key patterns' }),
      default: [],
      about:
        'Additional keys whose values are masked in configurations, besides the well-known ones. `*` matches any characters.',
    }),
    maxBytes: setting({
      name: 'max-bytes',
      kind: size({ min: '1KiB', max: '256MiB' }),
      default: 1024 ** 2,
      about: 'Maximum size of a configuration, from a file or from another member.',
    }),
  },
} as const;
