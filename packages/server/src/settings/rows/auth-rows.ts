import { algorithm, certificateRule, claimPath, filePattern, keysUrl, roleRule } from '../kinds/auth-kinds.ts';
import { duration, integer } from '../kinds/number-kinds.ts';
import { list, onOff, setting } from '../kinds/setting-kind.ts';
import { path, string } from '../kinds/text-kinds.ts';

/** Authentication and authorization. Without credentials everyone who reaches the node may read everything. */
export const AUTH_ROWS = {
  tokenFile: setting({
    name: 'token-file',
    kind: path(),
    default: '',
    about:
      'File with hashed bearer tokens, reloaded when it changes. When set, every request needs credentials: one of these tokens, or another configured kind.',
  }),
  allowAnonymous: setting({
    name: 'allow-anonymous',
    kind: onOff(),
    default: false,
    about: 'Serve other machines without requiring credentials.',
  }),
  jwksUrl: setting({
    name: 'jwks-url',
    kind: keysUrl(),
    default: '',
    about:
      'URL of the public keys (JWKS) that JWTs are signed with. When set, JWTs are accepted as credentials. Cannot be combined with `auth.jwks-file`.',
  }),
  jwksFile: setting({
    name: 'jwks-file',
    kind: path(),
    default: '',
    about: 'File with the same keys, reloaded when it changes.',
  }),
  jwtIssuer: setting({
    name: 'jwt-issuer',
    kind: string(),
    default: '',
    about: 'Required value of the `iss` claim of a JWT.',
  }),
  jwtAudience: setting({
    name: 'jwt-audience',
    kind: string(),
    default: '',
    about: 'Required value of the `aud` claim of a JWT; if the claim is a list, it must contain this value.',
  }),
  jwtAlgorithms: setting({
    name: 'jwt-algorithms',
    kind: list(algorithm(), { plural: 'algorithms' }),
    default: ['RS256', 'ES256', 'EdDSA'],
    about: 'Accepted signature algorithms of JWTs. Only algorithms with a public key are allowed.',
  }),
  jwtClockToleranceMs: setting({
    name: 'jwt-clock-tolerance',
    kind: duration({ min: '0s', max: '10m' }),
    default: 30_000,
    about: 'Accepted clock difference to the issuer. Counted in whole seconds.',
  }),
  jwtNameClaim: setting({
    name: 'jwt-name-claim',
    kind: claimPath(),
    default: 'sub',
    about: "The claim used as the client's name in logs.",
  }),
  jwtRolesClaim: setting({
    name: 'jwt-roles-claim',
    kind: claimPath(),
    default: 'groups',
    about: "The claim with the client's groups or roles: a string or a list of strings. Dots select nested claims.",
  }),
  jwtRoles: setting({
    name: 'jwt-roles',
    kind: list(roleRule(), { plural: 'role rules' }),
    default: [],
    about: 'Maps values of that claim to roles: `"ops-*=viewer+config"`.',
  }),
  jwksRefetchMs: setting({
    name: 'jwks-refetch',
    kind: duration({ min: '1s', max: '1h' }),
    default: 30_000,
    about: 'Minimum time between two fetches of the keys. A JWT with an unknown key triggers a fetch.',
  }),
  jwksKeepMs: setting({
    name: 'jwks-keep',
    kind: duration({ min: '1m', max: '30d' }),
    default: 86_400_000,
    about: 'How long fetched keys stay valid while `auth.jwks-url` does not respond.',
  }),
  clientCaFile: setting({
    name: 'client-ca-file',
    kind: path(),
    default: '',
    about:
      'Certificate authorities (PEM) whose client certificates are accepted as credentials, reloaded when the file changes. Needs `tls.cert-file` and `auth.client-roles`.',
  }),
  clientCrlFile: setting({
    name: 'client-crl-file',
    kind: path(),
    default: '',
    about:
      'Revocation lists (PEM), one per authority in `auth.client-ca-file`, reloaded when the file changes. Revoked certificates are refused; if a list is missing or expired, all certificates of its authority are refused. Empty: no revocation check.',
  }),
  clientRoles: setting({
    name: 'client-roles',
    kind: list(certificateRule(), { plural: 'certificate rules' }),
    default: [],
    about:
      'Maps names in client certificates to roles: `"CN:ops-*=viewer"`, `"DNS:*.db.example.org=admin"`; also `URI:`, `EMAIL:` and `IP:`.',
  }),
  protectMetrics: setting({
    name: 'protect-metrics',
    kind: onOff(),
    default: true,
    about: 'Whether `/metrics` needs credentials (of any role) when credentials are configured.',
  }),
  deniedFiles: setting({
    name: 'denied-files',
    kind: list(filePattern(), { plural: 'file patterns' }),
    default: [],
    about: 'Logs that are never shown to anyone, including their rotated and compressed files: `"audit*.log"`.',
  }),
  maxFailuresPerMinute: setting({
    name: 'max-failures-per-minute',
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 60,
    about:
      'Requests without valid credentials allowed per minute and client address (IPv6: its /64); more are refused with 429. 0: no limit.',
  }),
} as const;
