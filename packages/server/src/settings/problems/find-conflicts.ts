import { isLoopbackHost } from '../is-loopback-host.ts';
import type { SettingKey, Settings } from '../settings.ts';
import { quote } from '../show-value.ts';

/** Whether any kind of credentials is configured. */
export function hasCredentials(auth: Settings['auth']): boolean {
  return auth.tokenFile !== '' || hasJwtKeys(auth) || auth.clientCaFile !== '';
}

export function hasJwtKeys({ jwksUrl, jwksFile }: Settings['auth']): boolean {
  return jwksUrl !== '' || jwksFile !== '';
}

/** Credentials that cannot work, or would admit more clients than intended. */
const AUTH_RULES: readonly Rule[] = [
  {
    keys: ['auth.jwks-url', 'auth.jwks-file'],
    check: ({ auth }) =>
      auth.jwksUrl !== '' && auth.jwksFile !== ''
        ? 'auth.jwks-url and auth.jwks-file both say where the keys are - set one of them'
        : undefined,
  },
  {
    keys: ['auth.jwt-issuer', 'auth.jwks-url', 'auth.jwks-file'],
    check: ({ auth }) =>
      hasJwtKeys(auth) && auth.jwtIssuer === ''
        ? 'auth.jwt-issuer is empty: JWTs of everyone with these keys would count - set it to what their claim "iss" is'
        : undefined,
  },
  {
    keys: ['auth.jwt-audience', 'auth.jwks-url', 'auth.jwks-file'],
    check: ({ auth }) =>
      hasJwtKeys(auth) && auth.jwtAudience === ''
        ? 'auth.jwt-audience is empty: JWTs made for other services would count - set it to what their claim "aud" is for this one'
        : undefined,
  },
  {
    keys: ['auth.jwt-roles', 'auth.jwks-url', 'auth.jwks-file'],
    check: ({ auth }) =>
      hasJwtKeys(auth) && auth.jwtRoles.length === 0
        ? 'auth.jwt-roles is empty: nobody with a JWT could read anything - set it to rules like "ops=viewer"'
        : undefined,
  },
  {
    keys: ['auth.jwt-algorithms', 'auth.jwks-url', 'auth.jwks-file'],
    check: ({ auth }) =>
      hasJwtKeys(auth) && auth.jwtAlgorithms.length === 0
        ? 'auth.jwt-algorithms is empty: no JWT could be valid - name at least one, like "RS256"'
        : undefined,
  },
  {
    keys: ['auth.jwt-roles', 'auth.jwks-url', 'auth.jwks-file'],
    check: ({ auth }) =>
      !hasJwtKeys(auth) && auth.jwtRoles.length > 0
        ? 'auth.jwt-roles is set, but there are no keys to check JWTs with - set auth.jwks-url or auth.jwks-file'
        : undefined,
  },
  {
    keys: ['auth.client-ca-file', 'tls.cert-file'],
    check: ({ auth, tls }) =>
      auth.clientCaFile !== '' && tls.certFile === ''
        ? 'auth.client-ca-file needs TLS, which is off - set tls.cert-file and tls.key-file as well'
        : undefined,
  },
  {
    keys: ['auth.client-crl-file', 'auth.client-ca-file'],
    check: ({ auth }) =>
      auth.clientCrlFile !== '' && auth.clientCaFile === ''
        ? 'auth.client-crl-file is set, but no authority of client certificates - set auth.client-ca-file as well'
        : undefined,
  },
  {
    keys: ['auth.client-roles', 'auth.client-ca-file'],
    check: ({ auth }) => {
      if ((auth.clientCaFile === '') === (auth.clientRoles.length === 0)) return undefined;
      return auth.clientCaFile === ''
        ? 'auth.client-roles is set, but no authority of client certificates - set auth.client-ca-file as well'
        : 'auth.client-ca-file is set, but no certificate has a role - set auth.client-roles to rules like "CN:ops-*=viewer"';
    },
  },
  {
    keys: ['cluster.cert-file', 'cluster.key-file'],
    check: ({ cluster }) => {
      if ((cluster.certFile === '') === (cluster.keyFile === '')) return undefined;
      const [set, missing] = cluster.keyFile === '' ? ['cert', 'key'] : ['key', 'cert'];
      return `cluster.${set}-file is set but cluster.${missing}-file is not - set both or none`;
    },
  },
];

interface Conflict {
  /** The settings involved, the most likely cause first. */
  keys: readonly SettingKey[];
  text: string;
}

export interface Rule {
  keys: readonly SettingKey[];
  /** The message if the values are impossible together. */
  check(settings: Settings): string | undefined;
}

const RULES: readonly Rule[] = [
  {
    keys: ['tls.cert-file', 'tls.key-file'],
    check: ({ tls }) => {
      if ((tls.certFile === '') === (tls.keyFile === '')) return undefined;
      const [set, missing] = tls.keyFile === '' ? ['cert', 'key'] : ['key', 'cert'];
      return `tls.${set}-file is set but tls.${missing}-file is not - set both or none`;
    },
  },
  {
    keys: ['http.port', 'grpc.port'],
    check: ({ http, grpc }) =>
      http.port !== 0 && http.port === grpc.port
        ? `http.port and grpc.port are both ${http.port} - set them to different ports, or to 0 for any free port`
        : undefined,
  },
  {
    keys: ['http.host', 'auth.token-file', 'auth.allow-anonymous'],
    check: ({ http, auth }) =>
      isLoopbackHost(http.host) || hasCredentials(auth) || auth.allowAnonymous
        ? undefined
        : `http.host ${quote(http.host)} serves other machines, but no credentials are set up - set auth.token-file to ask for tokens, or auth.allow-anonymous to serve everyone`,
  },
  {
    keys: ['http.max-url-bytes', 'http.max-header-bytes'],
    check: ({ http }) =>
      http.maxUrlBytes > http.maxHeaderBytes
        ? 'http.max-url-bytes is above http.max-header-bytes, which counts the URL too - raise http.max-header-bytes as well'
        : undefined,
  },
  {
    keys: ['cluster.members', 'cluster.etcd'],
    check: ({ cluster }) =>
      cluster.members.length > 0 && cluster.etcd.length > 0
        ? 'cluster.members and cluster.etcd both say who the members are - set one of them'
        : undefined,
  },
  {
    keys: ['cluster.lindb-namespace', 'cluster.etcd'],
    check: ({ cluster }) =>
      cluster.lindbNamespace !== '' && cluster.etcd.length === 0
        ? 'cluster.lindb-namespace is a place in an etcd, but cluster.etcd names none - set both or none'
        : undefined,
  },
  {
    keys: ['cluster.etcd-user', 'cluster.etcd-password-file'],
    check: ({ cluster }) => {
      if ((cluster.etcdUser === '') === (cluster.etcdPasswordFile === '')) return undefined;
      const [set, missing] = cluster.etcdUser === '' ? ['password-file', 'user'] : ['user', 'password-file'];
      return `cluster.etcd-${set} is set but cluster.etcd-${missing} is not - set both or none`;
    },
  },
  {
    keys: ['cluster.etcd-cert-file', 'cluster.etcd-key-file'],
    check: ({ cluster }) => {
      if ((cluster.etcdCertFile === '') === (cluster.etcdKeyFile === '')) return undefined;
      const [set, missing] = cluster.etcdKeyFile === '' ? ['cert', 'key'] : ['key', 'cert'];
      return `cluster.etcd-${set}-file is set but cluster.etcd-${missing}-file is not - set both or none`;
    },
  },
  ...AUTH_RULES,
];

/** Values that are fine alone but impossible together. Rules about a value that was already refused are left out. */
export function findConflicts(settings: Settings, refused: ReadonlySet<string>): Conflict[] {
  return RULES.flatMap(({ keys, check }) => {
    if (keys.some((key) => refused.has(key))) return [];
    const text = check(settings);
    return text === undefined ? [] : [{ keys, text }];
  });
}
