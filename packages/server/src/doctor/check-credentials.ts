import { stat } from 'node:fs/promises';
import { errorMessage } from '@porthole/contract';
import type { Identity } from '../auth/identity.ts';
import { fetchKeySet, readKeyFile } from '../auth/key-set.ts';
import { readTokenFile } from '../auth/tokens.ts';
import { hasCredentials, hasJwtKeys, isLoopbackHost } from '../settings/find-conflicts.ts';
import type { Settings } from '../settings/settings.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

/** Who can read from the node. A public address without credentials is already refused when settings are loaded. */
export async function checkAccess({ settings: { http, auth, tls } }: CheckContext): Promise<CheckOutcome[]> {
  if (isLoopbackHost(http.host)) {
    const who = hasCredentials(auth) ? `with ${describeCredentials(auth)}` : 'without credentials';
    return [ok(`${http.host} serves this machine only, ${who}`)];
  }
  if (!hasCredentials(auth))
    return [
      warning(
        `${http.host} serves everyone who can reach this machine, without credentials (auth.allow-anonymous)`,
        'set auth.token-file to a file made with "porthole token NAME >> FILE", or http.host to 127.0.0.1',
      ),
    ];
  if (tls.certFile === '')
    return [
      warning(
        `${http.host} requires ${describeCredentials(auth)}, but not TLS: tokens and logs can be read in transit`,
        'set tls.cert-file and tls.key-file, or put a TLS proxy in front of the node',
      ),
    ];
  return [ok(`${http.host} requires ${describeCredentials(auth)}, over TLS`)];
}

function describeCredentials(auth: Settings['auth']): string {
  const kinds = [
    ...(auth.tokenFile === '' ? [] : ['a token']),
    ...(hasJwtKeys(auth) ? ['a JWT'] : []),
    ...(auth.clientCaFile === '' ? [] : ['a certificate']),
  ];
  return kinds.join(' or ');
}

const OTHERS_WRITE = 0o002;
const OTHERS_READ = 0o004;

/** Empty in the usual case, where all tokens have all roles. */
function rolesText(owners: readonly Identity[]): string {
  const limited = owners.filter(({ roles }) => !roles.includes('admin')).length;
  return limited === 0 ? '' : `, ${limited} of them with limited roles`;
}

/** Whether the token file is valid, and who can read or change it. */
export async function checkTokens({ settings: { auth } }: CheckContext): Promise<CheckOutcome[]> {
  const file = auth.tokenFile;
  if (file === '') return [];
  try {
    const { owners } = await readTokenFile(file);
    const { mode } = await stat(file);
    const counted = `${file} contains ${owners.length} ${owners.length === 1 ? 'token' : 'tokens'}${rolesText(owners)}`;
    if (mode & OTHERS_WRITE)
      return [problem(`${counted}, and everyone on this machine can add one`, `chmod o-rw ${file}`)];
    if (mode & OTHERS_READ)
      return [warning(`${counted}, and everyone on this machine can read it`, `chmod o-r ${file}`)];
    return [ok(counted)];
  } catch (error) {
    const reason = errorMessage(error);
    return [
      problem(reason, `add a token with "porthole token NAME >> ${file}", or set auth.token-file to another file`),
    ];
  }
}

/** Whether the keys that JWTs are verified with can be loaded. */
export async function checkJwtKeys({ settings: { auth } }: CheckContext): Promise<CheckOutcome[]> {
  const { jwksUrl, jwksFile } = auth;
  if (jwksUrl === '' && jwksFile === '') return [];
  try {
    let unusable: readonly string[] = [];
    const onUnusable = (found: readonly string[]) => {
      unusable = found;
    };
    const { keys } = await (jwksFile === '' ? fetchKeySet(jwksUrl, onUnusable) : readKeyFile(jwksFile, onUnusable));
    const counted = `${jwksFile || jwksUrl} has ${keys.length} public ${keys.length === 1 ? 'key' : 'keys'}`;
    if (jwksFile === '' && isInClear(jwksUrl))
      return [
        warning(
          `${counted}, but over plain HTTP: they can be replaced in transit`,
          'set auth.jwks-url to an https URL',
        ),
      ];
    if (unusable.length > 0)
      return [
        warning(
          `${counted}, and others that cannot be used: ${unusable.join('; ')}`,
          'remove or replace them at your identity provider',
        ),
      ];
    return [ok(counted)];
  } catch (error) {
    const reason = errorMessage(error);
    const setting = jwksFile === '' ? 'auth.jwks-url' : 'auth.jwks-file';
    return [problem(`${setting}: ${reason}`, `set ${setting} to the JWKS of your identity provider`)];
  }
}

function isInClear(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopbackHost(hostname.replace(/^\[|\]$/g, ''));
}
