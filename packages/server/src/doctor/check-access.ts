import { isLoopbackHost } from '../settings/is-loopback-host.ts';
import { hasCredentials, hasJwtKeys } from '../settings/problems/auth-conflicts.ts';
import type { Settings } from '../settings/settings.ts';
import type { CheckContext } from './check-context.ts';
import { type CheckOutcome, ok, warning } from './check-result.ts';

/** Who could read what the node shows. An outside address without credentials is refused with the settings already. */
export async function checkAccess({ settings: { http, auth, tls } }: CheckContext): Promise<CheckOutcome[]> {
  if (isLoopbackHost(http.host)) {
    const who = hasCredentials(auth) ? `who has ${describeCredentials(auth)}` : 'everyone on it';
    return [ok(`${http.host} serves this machine only, ${who}`)];
  }
  if (!hasCredentials(auth))
    return [
      warning(
        `${http.host} serves everyone who can reach this machine (auth.allow-anonymous)`,
        'set auth.token-file to a file made with "porthole token NAME >> FILE", or http.host to 127.0.0.1',
      ),
    ];
  if (tls.certFile === '')
    return [
      warning(
        `${http.host} asks other machines for ${describeCredentials(auth)}, but without TLS: tokens and logs can be read on the way`,
        'set tls.cert-file and tls.key-file, or put a proxy with TLS in front of it',
      ),
    ];
  return [ok(`${http.host} asks other machines for ${describeCredentials(auth)}, over TLS`)];
}

function describeCredentials(auth: Settings['auth']): string {
  const kinds = [
    ...(auth.tokenFile === '' ? [] : ['a token']),
    ...(hasJwtKeys(auth) ? ['a JWT'] : []),
    ...(auth.clientCaFile === '' ? [] : ['a certificate']),
  ];
  return kinds.join(' or ');
}
