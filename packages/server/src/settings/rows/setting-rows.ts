import { list } from '../kinds/list.ts';
import { duration, integer, port, size } from '../kinds/number-kinds.ts';
import { onOff } from '../kinds/on-off.ts';
import { choice, host, ip, keyPattern, origin, path, string, zone } from '../kinds/text-kinds.ts';
import { AUTH_ROWS } from './auth-rows.ts';
import { BUNDLE_ROWS } from './bundle-rows.ts';
import { CLUSTER_ROWS } from './cluster-rows.ts';
import { LOGS_ROWS } from './logs-rows.ts';
import { FOLLOW_ROWS, SEARCH_ROWS } from './search-rows.ts';
import { setting } from './setting-row.ts';

export type { SettingRow } from './setting-row.ts';

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
        'The address others reach this node at. Empty: the address it listens on, or the first one of the machine that is not loopback.',
    }),
    hostName: setting({
      name: 'host-name',
      kind: string(),
      default: '',
      about: "The name the node reports. Empty: the system's host name.",
    }),
    timeZone: setting({
      name: 'time-zone',
      kind: zone(),
      default: '',
      about: "The zone in which the timestamps of the logs are written. Empty: the system's zone.",
    }),
    stopTimeoutMs: setting({
      name: 'stop-timeout',
      kind: duration({ min: '0s', max: '1h' }),
      default: 10_000,
      about: 'How long a stopping node lets running answers finish before it cuts them.',
    }),
  },
  http: {
    host: setting({
      name: 'host',
      kind: host(),
      default: '127.0.0.1',
      about:
        'The address HTTP and gRPC listen on. Any address but a loopback one needs credentials (`auth.token-file`, JWTs, client certificates) or `auth.allow-anonymous`.',
    }),
    port: setting({ name: 'port', kind: port(), default: 7300, about: 'The HTTP port. 0: any free one.' }),
    allowedHosts: setting({
      name: 'allowed-hosts',
      kind: list(host(), { plural: 'hosts' }),
      default: [],
      about:
        'More names accepted in the `Host` header while no credentials are asked for, beside loopback, the host name and the address of the node.',
    }),
    corsOrigins: setting({
      name: 'cors-origins',
      kind: list(origin(), { plural: 'origins' }),
      default: [],
      about: 'Web pages that may read the answers from a browser. `"*"` is every page; empty is none but its own.',
    }),
    maxHeaderBytes: setting({
      name: 'max-header-bytes',
      kind: size({ min: '1KiB', max: '1MiB' }),
      default: 16 * 1024,
      about: 'The largest header of a request, its URL included.',
    }),
    maxUrlBytes: setting({
      name: 'max-url-bytes',
      kind: size({ min: '256B', max: '1MiB' }),
      default: 8 * 1024,
      about: 'The longest URL of a request. Not above `http.max-header-bytes`.',
    }),
    maxStreams: setting({
      name: 'max-streams',
      kind: integer({ min: 1, max: 100_000 }),
      default: 128,
      about:
        'How many responses that read logs may run at the same time. A quarter is kept for those that end by themselves, and, with `cluster.token-file`, a quarter for other nodes.',
    }),
    maxStreamsPerClient: setting({
      name: 'max-streams-per-client',
      kind: integer({ min: 0, max: 100_000 }),
      default: 0,
      about:
        'How many of them one client may have: an identity, or where none is known an address (IPv6: a /64). 0: a quarter of `http.max-streams`. Raise it where all clients come through one proxy without credentials of their own.',
    }),
    maxRequestsPerSecond: setting({
      name: 'max-requests-per-second',
      kind: integer({ min: 0, max: 1_000_000 }),
      default: 0,
      about: 'Requests per second and client address (IPv6: /64). 0: no limit.',
    }),
    stallTimeoutMs: setting({
      name: 'stall-timeout',
      kind: duration({ min: '10ms', max: '1d' }),
      default: 30_000,
      about: 'A reader that takes no byte for so long is cut.',
    }),
    answerTimeoutMs: setting({
      name: 'answer-timeout',
      kind: duration({ min: '10ms', max: '1d' }),
      default: 60_000,
      about: 'The time until the first byte of an answer.',
    }),
  },
  grpc: {
    port: setting({
      name: 'port',
      kind: port(),
      default: 7301,
      about: 'The gRPC port, on the address of `http.host`. 0: any free one.',
    }),
    maxRequestBytes: setting({
      name: 'max-request-bytes',
      kind: size({ min: '1KiB', max: '1MiB' }),
      default: 64 * 1024,
      about: 'The largest message a gRPC request may consist of.',
    }),
  },
  auth: AUTH_ROWS,
  tls: {
    certFile: setting({
      name: 'cert-file',
      kind: path(),
      default: '',
      about: 'The certificate chain (PEM), read again when it changes. Empty: no encryption. Needs `tls.key-file`.',
    }),
    keyFile: setting({
      name: 'key-file',
      kind: path(),
      default: '',
      about: 'The private key (PEM) of the certificate. Needs `tls.cert-file`.',
    }),
  },
  service: {
    configFile: setting({
      name: 'config-file',
      kind: path(),
      default: '',
      about: 'The configuration file of the service beside this node. Empty: the node shows its own settings.',
      flag: 'service-config',
    }),
    logDir: setting({
      name: 'log-dir',
      kind: path(),
      default: '',
      about: 'The log directory of the service beside this node. Empty: the node shows its own logs.',
      flag: 'log-dir',
    }),
  },
  logging: {
    dir: setting({
      name: 'dir',
      kind: path(),
      default: 'data/log',
      about: "The directory of the node's own log files.",
    }),
    level: setting({
      name: 'level',
      kind: choice(['debug', 'info', 'warn', 'error']),
      default: 'info',
      about: 'The lowest level that is written.',
      flag: 'log-level',
    }),
    maxFileBytes: setting({
      name: 'max-file-size',
      kind: size({ min: '1KiB', max: '1TiB' }),
      default: 64 * 1024 ** 2,
      about: 'A log file of this size is rotated.',
    }),
    maxFileAgeMs: setting({
      name: 'max-file-age',
      kind: duration({ min: '1s', max: '3650d' }),
      default: 86_400_000,
      about: 'A log file of this age is rotated.',
    }),
    keepFiles: setting({
      name: 'keep-files',
      kind: integer({ min: 1, max: 10_000 }),
      default: 8,
      about: 'How many rotated files are kept.',
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
        'Which requests are told in `access.log` beside the own log. `security`: refused ones and, where credentials are set up, configurations and downloads. It is never shown by the node itself.',
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
        'More keys whose values are masked in shown configurations, beside the well-known ones. `*` stands for any characters.',
    }),
    maxBytes: setting({
      name: 'max-bytes',
      kind: size({ min: '1KiB', max: '256MiB' }),
      default: 1024 ** 2,
      about: 'The largest configuration that is read: of the file, and of another member.',
    }),
  },
} as const;
