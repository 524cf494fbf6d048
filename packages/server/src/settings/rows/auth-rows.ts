import { algorithm, certificateRule, claimPath, filePattern, keysUrl, roleRule } from '../kinds/auth-kinds.ts';
import { list } from '../kinds/list.ts';
import { duration, integer } from '../kinds/number-kinds.ts';
import { onOff } from '../kinds/on-off.ts';
import { path, string } from '../kinds/text-kinds.ts';
import { setting } from './setting-row.ts';

/** Who may read what. Without credentials everyone who reaches the node may read everything. */
export const AUTH_ROWS = {
  tokenFile: setting({
    name: 'token-file',
    kind: path(),
    default: '',
    about:
      'A file with hashed bearer tokens, read again when it changes. When set, every request needs credentials: one of them, or of another kind that is set up.',
  }),
  allowAnonymous: setting({
    name: 'allow-anonymous',
    kind: onOff(),
    default: false,
    about: 'Serve other machines without asking for credentials.',
  }),
  jwksUrl: setting({
    name: 'jwks-url',
    kind: keysUrl(),
    default: '',
    about:
      'Where the public keys (JWKS) of those who sign JWTs are fetched. When set, JWTs are credentials. Not beside `auth.jwks-file`.',
  }),
  jwksFile: setting({
    name: 'jwks-file',
    kind: path(),
    default: '',
    about: 'The same keys from a file, read again when it changes.',
  }),
  jwtIssuer: setting({
    name: 'jwt-issuer',
    kind: string(),
    default: '',
    about: 'What the claim `iss` of a JWT must be.',
  }),
  jwtAudience: setting({
    name: 'jwt-audience',
    kind: string(),
    default: '',
    about: 'What the claim `aud` of a JWT must be, or hold.',
  }),
  jwtAlgorithms: setting({
    name: 'jwt-algorithms',
    kind: list(algorithm(), { plural: 'algorithms' }),
    default: ['RS256', 'ES256', 'EdDSA'],
    about: 'How a JWT may be signed. Only algorithms with a public key can be named.',
  }),
  jwtClockToleranceMs: setting({
    name: 'jwt-clock-tolerance',
    kind: duration({ min: '0s', max: '10m' }),
    default: 30_000,
    about: 'How far the clock of the one who signs may be off. Counted in whole seconds.',
  }),
  jwtNameClaim: setting({
    name: 'jwt-name-claim',
    kind: claimPath(),
    default: 'sub',
    about: 'The claim that names its owner in logs.',
  }),
  jwtRolesClaim: setting({
    name: 'jwt-roles-claim',
    kind: claimPath(),
    default: 'groups',
    about: 'The claim with the groups or roles of its owner: one text, or a list of them. Dots lead into objects.',
  }),
  jwtRoles: setting({
    name: 'jwt-roles',
    kind: list(roleRule(), { plural: 'role rules' }),
    default: [],
    about: 'Which values of that claim give which roles: `"ops-*=viewer+config"`.',
  }),
  jwksRefetchMs: setting({
    name: 'jwks-refetch',
    kind: duration({ min: '1s', max: '1h' }),
    default: 30_000,
    about: 'A JWT with an unknown key makes the keys be fetched again, at most once in so long.',
  }),
  jwksKeepMs: setting({
    name: 'jwks-keep',
    kind: duration({ min: '1m', max: '30d' }),
    default: 86_400_000,
    about: 'How long keys are used after they were last fetched, while `auth.jwks-url` does not answer.',
  }),
  clientCaFile: setting({
    name: 'client-ca-file',
    kind: path(),
    default: '',
    about:
      'The authorities (PEM) whose client certificates are credentials, read again when it changes. Needs `tls.cert-file` and `auth.client-roles`.',
  }),
  clientCrlFile: setting({
    name: 'client-crl-file',
    kind: path(),
    default: '',
    about:
      'Revocation lists (PEM) of the authorities of `auth.client-ca-file`, one of each, read again when they change. A certificate on one is refused; where a list is missing or has ended, all certificates of its authority are. Empty: nothing is revoked.',
  }),
  clientRoles: setting({
    name: 'client-roles',
    kind: list(certificateRule(), { plural: 'certificate rules' }),
    default: [],
    about:
      'Which names in a client certificate give which roles: `"CN:ops-*=viewer"`, `"DNS:*.db.example.org=admin"`; also `URI:`, `EMAIL:` and `IP:`.',
  }),
  protectMetrics: setting({
    name: 'protect-metrics',
    kind: onOff(),
    default: true,
    about: 'Whether `/metrics` needs credentials, of any role, where they are set up.',
  }),
  deniedFiles: setting({
    name: 'denied-files',
    kind: list(filePattern(), { plural: 'file patterns' }),
    default: [],
    about: 'Logs that the node does not show to anyone, with their rotated and compressed files: `"audit*.log"`.',
  }),
  maxFailuresPerMinute: setting({
    name: 'max-failures-per-minute',
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 60,
    about:
      'Requests without valid credentials per minute and client address (IPv6: its /64); more are refused with 429. 0: no limit.',
  }),
} as const;
