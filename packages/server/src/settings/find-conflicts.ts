import { BlockList, isIP } from 'node:net';
import { MAX_LABEL_CHARACTERS, parseLabel } from '@porthole/contract';
import { SETTINGS_BY_KEY, type SettingKey, type Settings } from './settings.ts';
import { quote } from './show-value.ts';

interface Conflict {
  /** The settings involved, the most likely cause first. */
  keys: readonly SettingKey[];
  text: string;
}

interface Rule {
  keys: readonly SettingKey[];
  /** Whether the values are impossible together. */
  broken(settings: Settings): boolean;
  text: string | ((settings: Settings) => string);
}

const JWT_KEYS = ['auth.jwks-url', 'auth.jwks-file'] as const;

const RULES: readonly Rule[] = [
  bothOrNone('tls.cert-file', 'tls.key-file'),
  {
    keys: ['node.labels'],
    broken: ({ node: { labels } }) => new Set(labels.map((label) => parseLabel(label)?.[0])).size < labels.length,
    text: 'node.labels has two values for one name - keep one of them',
  },
  {
    keys: ['node.labels'],
    broken: ({ node: { labels } }) => labels.join('').length > MAX_LABEL_CHARACTERS,
    text: `node.labels has more than ${MAX_LABEL_CHARACTERS} characters - use fewer or shorter labels`,
  },
  {
    keys: ['http.port', 'grpc.port'],
    broken: ({ http, grpc }) => grpc.enabled && http.socket === '' && http.port !== 0 && http.port === grpc.port,
    text: ({ http: { port } }) =>
      `http.port and grpc.port are both ${port} - set them to different ports, or to 0 for any free port`,
  },
  {
    keys: ['http.host', 'auth.token-file', 'auth.allow-anonymous'],
    broken: ({ http, auth }) => !isLoopbackHost(http.host) && !hasCredentials(auth) && !auth.allowAnonymous,
    text: ({ http }) =>
      `http.host ${quote(http.host)} serves other machines, but no credentials are set up - set auth.token-file to ask for tokens, or auth.allow-anonymous to serve everyone`,
  },
  {
    keys: ['http.max-url-bytes', 'http.max-header-bytes'],
    broken: ({ http }) => http.maxUrlBytes > http.maxHeaderBytes,
    text: 'http.max-url-bytes is above http.max-header-bytes, which counts the URL too - raise http.max-header-bytes as well',
  },
  ...(['cluster.members', 'cluster.etcd'] as const).map(
    (members): Rule => ({
      keys: ['http.socket', members],
      broken: (settings) => isSet(settings, 'http.socket') && isSet(settings, members),
      text: `http.socket and ${members} are both set, but other members cannot reach a Unix socket - set one of them`,
    }),
  ),
  notBoth('cluster.members', 'cluster.etcd', 'who the members are'),
  needs('log.journal-units', 'log.journal', 'selects units of the journal, which is not read'),
  needs('cluster.lindb-namespace', 'cluster.etcd', 'is a namespace in etcd, but cluster.etcd is empty'),
  bothOrNone('cluster.etcd-user', 'cluster.etcd-password-file'),
  bothOrNone('cluster.etcd-cert-file', 'cluster.etcd-key-file'),
  // Credentials that cannot work, or would admit more clients than intended.
  notBoth(...JWT_KEYS, 'where the keys are'),
  jwtNeeds('auth.jwt-issuer', 'JWTs of everyone with these keys would count - set it to what their claim "iss" is'),
  jwtNeeds(
    'auth.jwt-audience',
    'JWTs made for other services would count - set it to what their claim "aud" is for this one',
  ),
  jwtNeeds('auth.jwt-roles', 'nobody with a JWT could read anything - set it to rules like "ops=viewer"'),
  jwtNeeds('auth.jwt-algorithms', 'no JWT could be valid - name at least one, like "RS256"'),
  {
    keys: ['auth.jwt-roles', ...JWT_KEYS],
    broken: ({ auth }) => !hasJwtKeys(auth) && auth.jwtRoles.length > 0,
    text: 'auth.jwt-roles is set, but there are no keys to check JWTs with - set auth.jwks-url or auth.jwks-file',
  },
  {
    keys: ['auth.client-ca-file', 'tls.cert-file'],
    broken: ({ auth, tls }) => auth.clientCaFile !== '' && tls.certFile === '',
    text: 'auth.client-ca-file needs TLS, which is off - set tls.cert-file and tls.key-file as well',
  },
  needs('auth.client-crl-file', 'auth.client-ca-file', 'is set, but no authority of client certificates'),
  needs('auth.client-roles', 'auth.client-ca-file', 'is set, but no authority of client certificates'),
  {
    keys: ['auth.client-roles', 'auth.client-ca-file'],
    broken: ({ auth }) => auth.clientCaFile !== '' && auth.clientRoles.length === 0,
    text: 'auth.client-ca-file is set, but no certificate has a role - set auth.client-roles to rules like "CN:ops-*=viewer"',
  },
  bothOrNone('cluster.cert-file', 'cluster.key-file'),
  {
    keys: ['archive.database', 'archive.url'],
    broken: ({ archive }) => archive.url !== '' && archive.database === '',
    text: 'archive.database is empty - set it to the database of the archive',
  },
  bothOrNone('ship.otlp-cert-file', 'ship.otlp-key-file'),
  needs('ship.otlp-headers-file', 'ship.otlp', 'has headers of requests that are not sent, because ship.otlp is empty'),
  needs('archive.reader-password-file', 'archive.reader', 'is the password of archive.reader, which is empty'),
];

/** Values that are fine alone but impossible together. Rules about a value that was already refused are left out. */
export function findConflicts(settings: Settings, refused: ReadonlySet<string>): Conflict[] {
  return RULES.filter(({ keys, broken }) => !keys.some((key) => refused.has(key)) && broken(settings)).map(
    ({ keys, text }) => ({ keys, text: typeof text === 'string' ? text : text(settings) }),
  );
}

function bothOrNone(one: SettingKey, other: SettingKey): Rule {
  return {
    keys: [one, other],
    broken: (settings) => isSet(settings, one) !== isSet(settings, other),
    text: (settings) => {
      const [set, missing] = isSet(settings, one) ? [one, other] : [other, one];
      return `${set} is set but ${missing} is not - set both or none`;
    },
  };
}

function notBoth(one: SettingKey, other: SettingKey, what: string): Rule {
  return {
    keys: [one, other],
    broken: (settings) => isSet(settings, one) && isSet(settings, other),
    text: `${one} and ${other} both say ${what} - set one of them`,
  };
}

function needs(key: SettingKey, needed: SettingKey, why: string): Rule {
  return {
    keys: [key, needed],
    broken: (settings) => isSet(settings, key) && !isSet(settings, needed),
    text: `${key} ${why} - set ${needed} as well`,
  };
}

function jwtNeeds(key: SettingKey, otherwise: string): Rule {
  return {
    keys: [key, ...JWT_KEYS],
    broken: (settings) => hasJwtKeys(settings.auth) && !isSet(settings, key),
    text: `${key} is empty: ${otherwise}`,
  };
}

/** Whether a text or list is not empty, or a switch is on. */
function isSet(settings: Settings, key: SettingKey): boolean {
  const { section = '', property = '' } = SETTINGS_BY_KEY.get(key) ?? {};
  const sections: Readonly<Record<string, Readonly<Record<string, unknown>>>> = settings;
  const value = sections[section]?.[property];
  return Array.isArray(value) ? value.length > 0 : value !== '' && value !== false;
}

/** Whether any kind of credentials is configured. */
export function hasCredentials(auth: Settings['auth']): boolean {
  return auth.tokenFile !== '' || hasJwtKeys(auth) || auth.clientCaFile !== '';
}

export function hasJwtKeys({ jwksUrl, jwksFile }: Settings['auth']): boolean {
  return jwksUrl !== '' || jwksFile !== '';
}

const LOOPBACK = new BlockList();
// Also matches the same addresses written as IPv6 (::ffff:127.0.0.1).
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether only this machine can reach a server on this host. A name other than `localhost` may resolve to anything. */
export function isLoopbackHost(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return /^localhost\.?$/i.test(host);
  return LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
