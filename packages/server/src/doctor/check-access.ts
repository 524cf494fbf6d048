import { hasCredentials, hasJwtKeys, isLoopbackHost } from '../settings/find-conflicts.ts';
import type { Settings } from '../settings/settings.ts';
import { type CheckContext, type CheckOutcome, ok, warning } from './check-result.ts';

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
