import type { Settings } from '../settings.ts';
import type { Rule } from './find-conflicts.ts';

/** Whether clients are asked who they are, by any kind of credentials. */
export function hasCredentials(auth: Settings['auth']): boolean {
  return auth.tokenFile !== '' || hasJwtKeys(auth) || auth.clientCaFile !== '';
}

export function hasJwtKeys({ jwksUrl, jwksFile }: Settings['auth']): boolean {
  return jwksUrl !== '' || jwksFile !== '';
}

/** Credentials that could not work, or would let in more than anyone means. */
export const AUTH_RULES: readonly Rule[] = [
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
